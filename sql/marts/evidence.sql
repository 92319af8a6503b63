-- One row a day, candidate (or compared pair), segment, hash block, kind, sampling
-- probability and cell: counts that add. kind: 0 measured, 1 without a reward, 2 with
-- mass without support, 3 both; plus 4 where the reward is the default one.
-- A day whose rewards became known over several nights has a version for each of them,
-- which holds until the next one supersedes it.
create table evidence as
with
counted as (
    select *
    from read_parquet(${files}, hive_partitioning = false)
),

versions as (
    select distinct
        day,
        judged_as_of
    from counted
),

superseded as (
    select
        day,
        judged_as_of,
        lead(judged_as_of) over (
            partition by day
            order by judged_as_of
        ) as superseded_at
    from versions
)

select
    day,
    judged_as_of,
    superseded_at,
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
from counted
inner join superseded using (day, judged_as_of)
order by
    candidate,
    other,
    segment_by,
    segment,
    day,
    judged_as_of,
    block,
    kind,
    sample_probability,
    weight_cell,
    reward_cell
