-- Every decision has the probabilities of the logging policy.
-- Do: log them when the decision is made; they cannot be estimated afterwards.
select
    len(logging_probabilities) > 0 as holds,
    coalesce(logging_probabilities::varchar, 'null') as value
from measured_decisions
