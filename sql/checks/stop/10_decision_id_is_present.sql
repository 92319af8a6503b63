-- Every decision has an id.
-- Do: give each decision a unique id when it is made.
select
    decision_id <> '' as holds,
    coalesce(decision_id, 'null') as value
from measured_decisions
