-- Candidate probabilities sum to one, those of unlisted actions included.
-- Do: give the whole distribution, not a score.
select
    abs(list_sum(${candidate}) + ${unlisted} - 1) <= $sum_tolerance as holds,
    'sum ' || (list_sum(${candidate}) + ${unlisted})::varchar as value
from measured_decisions
