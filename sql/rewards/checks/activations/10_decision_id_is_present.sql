-- Every activation names its decision.
-- Do: send the id of the decision with each activation.
select
    decision_id <> '' as holds,
    coalesce(decision_id, 'null') as value
from activation_events
