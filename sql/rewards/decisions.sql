-- The decisions that rewards are joined with. `number` counts them through the files of
-- their log, and is in its order.
create or replace temp view rewarded_decisions as
select
    file,
    row,
    (list_position(${files}, file)::bigint << 40) + row as number,
    decision_id,
    ${their_slot} as slot,
    action::varchar as action,
    epoch_us(decided_at) as decided_us,
    ${waits} as is_deferred
from ${log}
