-- Every decision names the action that was taken.
-- Do: log the action that was taken.
select
    action <> '' as holds,
    coalesce(action, 'null') as value
from measured_decisions
