-- Candidate probabilities lie between 0 and 1.
-- Do: give the probabilities the candidate draws from.
select
    list_min(${candidate}) >= 0 and list_max(${candidate}) <= 1 as holds,
    ${candidate}::varchar as value
from measured_decisions
