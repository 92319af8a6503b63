-- Every decision has the candidate's probability of the logged action, or the action it takes.
-- Do: give one of them for every decision, 0 where the candidate never takes the logged action.
select
    ${candidate} is not null as holds,
    'null' as value
from measured_decisions
