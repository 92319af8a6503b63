-- One row an estimate since the start that moved when its night was made again.
create table revisions as
select
    night,
    known_from,
    candidate,
    other,
    estimand,
    estimate_before,
    lower_before,
    upper_before,
    estimate_after,
    lower_after,
    upper_after,
    run_id
from read_parquet(${files}, hive_partitioning = false)
order by
    night,
    run_id,
    candidate,
    other,
    estimand
