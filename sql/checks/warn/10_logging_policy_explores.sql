-- The logging policy gave more than one action a chance.
-- Do: a policy that always takes one action says nothing about the others: let it explore, or expect every other action to be bounded at its worst case.
select
    probability_max < 1 as holds,
    'one action has probability 1' as value
from measured_decisions
