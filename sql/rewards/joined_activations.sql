-- Every known activation, beside the decision it is about, one row a slot of it.
create or replace temp table joined_activations as
select
    decision.number,
    event.place,
    decision.decided_us > ${newest_us} as is_waiting,
    epoch_us(event.activated_at) - decision.decided_us as delay_us,
    (${own}) as is_own
from activation_events as event
left join rewarded_decisions as decision on event.decision_id = decision.decision_id
