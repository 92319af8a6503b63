-- Every action that some entry of a candidate table takes.
select distinct entry.key as action
from (
    select unnest(map_entries(${table}.pairs)) as entry
    from ${table}
)
where entry.value > 0
order by action
