-- There is one candidate probability an action.
-- Do: write them in parallel to actions.
select
    actions is null or len(${candidate}) = len(actions) as holds,
    format('length {}, expected {}', len(${candidate}), len(actions)) as value
from measured_decisions
