-- Every known event beside the decision it is about, and every decision without any:
-- the side that is not there is null. Ids are equal; no nearest time is looked for.
create or replace temp table joined_rewards as
with
events as (
    select
        *,
        ${slot_of_event} as slot_key,
        epoch_us(rewarded_at) as rewarded_us
    from reward_events
)

select
    decision.number,
    event.arrival,
    event.rewarded_us - decision.decided_us as delay_us,
    decision.decided_us > ${newest_us} as is_waiting,
    decision.is_deferred,
    ${read}
from events as event
full outer join rewarded_decisions as decision on ${match}
