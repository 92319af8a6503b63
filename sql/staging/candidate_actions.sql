-- Every action that some entry of a candidate table takes.
with
entries as (
    select unnest(map_entries(${table}.pairs)) as entry
    from ${table}
)

select distinct entry.key as action
from entries
where entry.value > 0
order by action
