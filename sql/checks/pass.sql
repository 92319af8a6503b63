-- One pass over the log: for each list of actions (of a log of propensities, for each
-- action) and each first broken rule, how many decisions there are and what the reports
-- say of them. `broken_*` is 0 where all rules of that chain hold.
create or replace temp table checked as
with
judged as (
    select
        *,
        ${chains}
    from measured_decisions
)

select
    actions_hash,
    ${broken},
    any_value(${names}) as actions,
    count(*) as decision_count,
    count(reward) as reward_count,
    min(decided_at) as first_at,
    max(decided_at) as last_at,
    max(abs(probability_sum - 1)) as sum_deviation,
    min(reward) as least_reward,
    max(reward) as largest_reward,
    count(*) filter (where reward < 0) as negative_reward_count,
    ${warnings}
from judged
group by
    actions_hash,
    ${broken}
