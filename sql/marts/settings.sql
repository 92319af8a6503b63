-- One row: what the job declares by design, and what its evidence is read back with.
-- largest_weight: no weight on a supported action is larger; rounding: how far the grid
-- can move an estimate, rewards scaled to [0, 1]; is_support_known: whether the log tells
-- what a candidate does where it has no support.
create table settings as
select
    job,
    reward_lowest,
    reward_highest,
    propensity_floor,
    largest_weight,
    least_sample_probability,
    rounding,
    is_support_known,
    confidence,
    method,
    logging,
    assumes
from read_parquet(${files})
