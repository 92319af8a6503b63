-- There is one logging probability an action.
-- Do: write the two lists in parallel.
select
    len(logging_probabilities) = len(actions) as holds,
    format(
        '{} probabilities for {} actions',
        len(logging_probabilities), len(actions)
    ) as value
from measured_decisions
