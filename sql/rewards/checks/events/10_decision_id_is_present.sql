-- Every reward names its decision.
-- Do: send the id of the decision with each reward.
select
    decision_id <> '' as holds,
    coalesce(decision_id, 'null') as value
from reward_events
