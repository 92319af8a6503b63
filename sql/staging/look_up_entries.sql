-- A look-up table of a candidate, one row an action it takes.
with
entries as (
    select
        ${keys},
        unnest(map_entries(pairs)) as entry
    from ${table}
)

select
    ${keys},
    entry.key as entry_action,
    entry.value as entry_probability
from entries
where entry.value > 0
