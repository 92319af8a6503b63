-- One row a night, window, candidate (or compared pair), segment and estimand, in the
-- unit of the reward.
create table estimates as
select
    night,
    "window",
    window_start,
    window_end,
    candidate,
    other,
    segment_by,
    segment,
    estimand,
    estimate,
    lower,
    upper,
    identified_lower,
    identified_upper,
    method,
    confidence,
    look,
    assumes,
    state,
    decisions,
    missing_reward,
    missing_support,
    missing_both,
    unsupported_probability,
    mean_weight,
    expected_mean_weight,
    effective_sample_size,
    largest_weight,
    top_share,
    assumptions,
    run_id
from read_parquet(${files}, hive_partitioning = false)
order by
    night,
    "window",
    candidate,
    other,
    segment_by,
    segment,
    estimand
