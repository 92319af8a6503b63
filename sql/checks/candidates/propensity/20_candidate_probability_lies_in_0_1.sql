-- The candidate's probability of the logged action lies between 0 and 1.
-- Do: give the probability the candidate draws it with, not a weight, a score or a logarithm.
select
    ${candidate} >= 0 and ${candidate} <= 1 as holds,
    (${candidate})::varchar as value
from measured_decisions
