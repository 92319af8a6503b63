-- Sets aside every event of which some slot cannot be read, with the first reason.
insert into set_aside
with
judged as (
    select
        line_id,
        slot,
        available,
        probabilities,
        len(available) as a_count,
        len(probabilities) as p_count,
        case
            when action_count is null then 'c._multi is missing'
            when available is null then 'a is missing'
            when probabilities is null then 'p is missing'
            when a_count <> p_count
                then 'a and p differ in length'
            when list_count(available) < a_count
                then 'a holds something other than whole numbers'
            when list_count(probabilities) < p_count
                then 'p holds something other than numbers'
            when
                list_min(available) < 1
                or list_max(available) > action_count
                or list_unique(available) < a_count
                then 'a names an action twice or one that is not in c._multi'
            when isnan(list_sum(probabilities)) then 'p holds NaN'
            when list_min(probabilities) < 0 then 'p holds a negative number'
            when abs(list_sum(probabilities) - 1) > $sum_tolerance
                then 'p does not sum to 1'
            when is_contradicted then '_label_Action is not _labelIndex + 1'
            when is_chosen_first and chosen <> available[1]
                then 'a does not start with the labelled action'
            when
                (probabilities[list_position(available, chosen)] > 0) is not true
                then 'the chosen action has probability 0'
            when isfinite(coalesce(original, cost)) is not true then 'no cost'
            when len(others) > 0 and reward_of(others, $reward_path) is null
                then 'a reward is no number, and none stands at the reward path'
            when baseline not between 1 and action_count
                then '_ba names an action that is not there'
            when $is_baseline_shown and baseline is null
                then 'no baseline action (_ba)'
        end as reason
    from slots
)

select
    line_id,
    'rejected' as outcome,
    min_by(reason, coalesce(slot, 0)) as reason,
    min_by(
        case
            when reason = 'a and p differ in length'
                then format('length {}, expected {}', p_count, a_count)
            when reason like 'p does not sum%'
                then format('sum {}', list_sum(probabilities))
            when reason like 'p %' then probabilities::varchar
            when reason like 'a %' then available::varchar
        end,
        coalesce(slot, 0)
    ) as value
from judged
where reason is not null
group by line_id
