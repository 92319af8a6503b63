-- One row a violation that made a run stop. It stays when the log was repaired, marked;
-- the day is null where the decisions have no time.
create table violations as
select
    try_cast(
        regexp_extract(filename, '(\d{4}-\d{2}-\d{2})-[0-9a-f]+\.parquet$', 1) as date
    ) as day,
    rule,
    file,
    row,
    decision_id,
    value,
    contains(filename, '/repaired/') as is_repaired
from read_parquet(${files}, hive_partitioning = false, filename = true)
order by
    day,
    rule,
    file,
    row,
    value
