-- The same with what became of each event, and with what its table does not hold.
create or replace temp view fated_rewards as
with
complete as (
    select
        *,
        ${not_read}
    from joined_rewards
)

select
    number,
    arrival,
    delay_us,
    reward,
    factor,
    met,
    identity,
    is_wrong_item,
    is_waiting,
    is_deferred,
    fate_of(number, delay_us, is_waiting, is_elsewhere, ${lost_slot}) as fate
from complete
