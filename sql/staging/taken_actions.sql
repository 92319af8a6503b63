-- Every action that a candidate takes in a column of names and probabilities.
with
entries as (
    select unnest(${candidate}) as entry
    from measured_decisions
)

select distinct entry.key as action
from entries
where entry.value > 0
order by action
