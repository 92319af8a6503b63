-- How many events break each rule, or none, and what those hold.
with
judged as (
    select
        *,
        ${rules}
    from ${events}
)

select
    broken_rule,
    ${named_factor} as factor,
    count(*) as event_count,
    count(*) filter (where ${is_outside}) as outside_count
from judged
group by all
