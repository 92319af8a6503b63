-- Logging probabilities sum to one.
-- Do: log every action the policy could take; declare sum_tolerance for rounded or 32-bit sources.
select
    abs(probability_sum - 1) <= $sum_tolerance as holds,
    'sum ' || probability_sum::varchar as value
from measured_decisions
