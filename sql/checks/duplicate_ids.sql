-- No decision is logged twice.
-- Do: keep one row a decision (and slot); a retried upload repeats its file.
with
repeated as (
    select ${key}
    from measured_decisions
    where decision_id is not null
    group by ${key}
    having count(*) > 1
)

-- Rows, unlike columns joined by using, are equal where both hold a null slot.
select
    file,
    row,
    decision_id,
    'the id stands more than once' as value
from measured_decisions
where row(true, ${key}) in (select row(true, ${key}) from repeated)
