-- One row an entry of a candidate table: its keys and the distribution it stands for.
create or replace temp table ${table} as
select
    ${keys},
    map(${actions}::varchar[], ${probabilities}::double[]) as pairs
from ${source}
where ${chosen}
