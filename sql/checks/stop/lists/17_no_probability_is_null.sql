-- No logging probability is null.
-- Do: log a probability for every action, 0 where it could not be taken.
select
    probability_count = len(logging_probabilities) as holds,
    logging_probabilities::varchar as value
from measured_decisions
