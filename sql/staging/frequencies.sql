-- One row an action: how many decisions listed it, how many took it, and the sums of its
-- logging probability p and of p (1 - p) over those that listed it, in units of 2^-20.
-- Whole numbers below 2^53 add exactly as doubles, so no order of rows changes a sum.
with
entries as (
    select
        unnest(${entries}) as entry,
        unnest(logging_probabilities) as probability
    from measured_decisions
),

sums as (
    select
        entry,
        count(*) as listed,
        sum(round(probability * $unit))::bigint as probability_part,
        sum(round(probability * (1 - probability) * $unit))::bigint as variance_part
    from entries
    group by entry
),

expected as (
    select
        ${name} as action,
        listed,
        probability_part,
        variance_part
    from sums
),

taken as (
    select
        action,
        count(*) as logged
    from measured_decisions
    group by action
)

select
    action,
    listed,
    coalesce(logged, 0) as logged,
    probability_part,
    variance_part
from expected
left join taken using (action)
order by action
