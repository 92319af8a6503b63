-- One row a night, window, candidate, segment and estimand, in the unit of the reward.
create table estimates as
select *
from read_parquet(${files}, hive_partitioning = false)
order by
    night,
    "window",
    candidate,
    segment_by,
    segment,
    estimand
