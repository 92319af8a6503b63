-- One row an entry of a candidate table written one action a row.
create or replace temp table ${table} as
select
    ${keys},
    map(
        list(${actions}::varchar order by ${actions}::varchar),
        list(${probabilities}::double order by ${actions}::varchar)
    ) as pairs
from ${source}
where ${chosen}
group by all
