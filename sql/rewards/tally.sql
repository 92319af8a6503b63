-- How many decisions have each status, and what their rewards are.
with
counted as (
    select
        is_immature,
        is_unactivated,
        is_rewarded,
        count(*) as decision_count,
        count(*) filter (where is_outside) as outside_count,
        count(*) filter (where reward = 0) as zero_count,
        count(*) filter (where reward = 1) as one_count
    from judgements
    group by all
)

select
    status_of(is_immature, is_unactivated, is_rewarded) as status,
    sum(decision_count)::bigint as decision_count,
    coalesce(sum(decision_count) filter (where is_rewarded), 0)::bigint
        as rewarded_count,
    sum(outside_count)::bigint as outside_count,
    sum(zero_count)::bigint as zero_count,
    sum(one_count)::bigint as one_count
from counted
group by all
