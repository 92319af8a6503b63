-- One row a day, candidate, segment, sub-block, kind and cell: counts that add.
create table evidence as
select
    day,
    judged_as_of,
    revision,
    candidate,
    segment_by,
    segment,
    sub_block,
    kind,
    weight_cell,
    reward_cell,
    decisions,
    weight_part,
    reward_part,
    product_part,
    weight_square_part,
    unsupported_part,
    largest_weight_part
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
