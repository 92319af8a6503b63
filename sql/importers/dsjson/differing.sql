-- How many decisions have two different costs, which apprentice mode leaves.
select
    sum(differing_count)::bigint as differing_count,
    sum(decision_count)::bigint as decision_count
from costs
