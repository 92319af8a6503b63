-- Every decision has the candidate's probabilities.
-- Do: give the candidate's probability of every action, for every decision.
select
    len(${candidate}) > 0 as holds,
    coalesce(${candidate}::varchar, 'null') as value
from measured_decisions
