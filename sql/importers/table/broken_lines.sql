-- Sets aside every row whose values are missing or of another type.
create or replace table set_aside as
with
judged as (
    select
        rowid as line_id,
        *,
        case
            when kind = 'malformed' then 'malformed'
            when $has_ids and event_id is null then 'decision_id is missing'
            when $is_dated and told_at is null then 'decided_at is missing'
            when $is_dated and (year(decided_at) between 1000 and 9000) is not true
                then 'decided_at is no time with a zone'
            when action is null then 'action is missing'
            when number_of(propensity) is null then 'the propensity is no number'
            when reward is not null and reward_of(reward) is null
                then 'the reward is no number'
            when $is_sampled and number_of(sample_probability) is null
                then 'sample_probability is no number'
        end as reason
    from lines
)

select
    line_id,
    'rejected' as outcome,
    reason,
    case
        when kind = 'malformed' then event_id
        when reason like 'decided_at%' then told_at
        when reason like 'the propensity%' then propensity
        when reason like 'the reward%' then reward
        when reason like 'sample_probability%' then sample_probability
    end as value
from judged
where reason is not null
