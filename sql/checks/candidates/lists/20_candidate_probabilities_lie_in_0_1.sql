-- Candidate probabilities lie between 0 and 1.
-- Do: give the probabilities the candidate draws from.
select
    list_min(${candidate}) >= 0
    and list_max(${candidate}) <= 1
    and ${unlisted} >= 0 as holds,
    ${candidate}::varchar || if(
        ${unlisted} < 0, ' and ' || (${unlisted})::varchar || ' unlisted', ''
    ) as value
from measured_decisions
