-- What the log holds, of all its decisions.
select
    coalesce(sum(decision_count), 0)::bigint as decision_count,
    coalesce(sum(reward_count), 0)::bigint as reward_count,
    min(first_at)::varchar as first_at,
    max(last_at)::varchar as last_at,
    max(sum_deviation) as sum_deviation,
    count(distinct actions_hash) as action_list_count,
    max(len(actions)) as action_count,
    arg_min(actions, actions_hash) as actions,
    count(*) filter (
        where len(list_distinct(actions)) < list_count(actions)
    ) as repeating_list_count,
    min(least_reward) as least_reward,
    max(largest_reward) as largest_reward,
    coalesce(sum(negative_reward_count), 0)::bigint as negative_reward_count,
    ${warnings}
from checked
