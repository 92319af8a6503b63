-- One row a day, candidate (or compared pair), segment, hash block, kind, sampling
-- probability and cell: counts that add. kind: 0 measured, 1 without a reward, 2 with
-- mass without support, 3 both; plus 4 where the reward is the default one.
create table evidence as
select
    day,
    judged_as_of,
    revision,
    candidate,
    other,
    segment_by,
    segment,
    block,
    kind,
    sample_probability,
    weight_cell,
    reward_cell,
    decisions,
    weight_part,
    reward_part,
    product_part,
    weight_square_part,
    unsupported_part,
    other_unsupported_part,
    largest_weight_part
from read_parquet(${files}, hive_partitioning = false)
order by
    candidate,
    other,
    segment_by,
    segment,
    day,
    block,
    kind,
    sample_probability,
    weight_cell,
    reward_cell
