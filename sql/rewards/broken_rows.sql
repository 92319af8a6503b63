-- The events that break one rule.
with
judged as (
    select
        *,
        ${rules}
    from ${events}
)

select
    file,
    row,
    decision_id,
    (${value})::varchar as value
from judged
where broken_rule = $number
order by
    file,
    row
