-- The ids of events whose decision exists, though not the slot they name.
create or replace temp table lost_slots as
select distinct lost_id
from joined_rewards
where lost_id in (select decision_id from rewarded_decisions)
