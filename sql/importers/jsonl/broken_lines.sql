-- Sets aside every line that holds no case, or one whose values are of another type.
-- Nothing is cast before: "0.5" is no probability, and true is the reward 1.
create or replace table set_aside as
with
typed as (
    select
        rowid as line_id,
        *,
        [p for p in probabilities if not is_number(p)] as untyped,
        json_type(reward) as reward_type
    from lines
),

judged as (
    select
        *,
        case
            when kind = 'blank' then 'blank line'
            when kind = 'malformed' then 'malformed'
            when $has_ids and event_id is null then 'id is missing or no name'
            when $is_dated and (year(decided_at) between 1000 and 9000) is not true
                then 'decided_at is no time with a zone'
            when name_of(action) is null then 'expected.action is missing or no name'
            when names is null then 'expected.logging_probabilities is no object'
            when len(untyped) > 0 or len(probabilities) < len(names)
                then 'a probability is no number'
            when not is_number(reward) and reward_type not in ('BOOLEAN', 'NULL')
                then 'the reward is no number'
        end as reason
    from typed
)

select
    line_id,
    if(kind = 'blank', 'skipped', 'rejected') as outcome,
    reason,
    case
        when reason like 'a probability%' then untyped[1]::varchar
        when reason like 'the reward%' then reward::varchar
    end as value
from judged
where reason is not null
