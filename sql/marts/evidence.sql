-- One row a day, candidate, segment, sub-block, kind and cell: counts that add.
create table evidence as
select *
from read_parquet(${files}, hive_partitioning = false)
order by
    candidate,
    segment_by,
    segment,
    day,
    sub_block,
    kind,
    weight_cell,
    reward_cell
