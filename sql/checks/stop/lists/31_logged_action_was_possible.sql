-- The action taken had a probability above 0.
-- Do: an action of probability 0 cannot have been drawn: log the probabilities that were used.
select
    logging_probabilities[action_position] > 0 as holds,
    action || ' has probability 0' as value
from measured_decisions
