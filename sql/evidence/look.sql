-- What a night said of a candidate (or compared pair) since the start, in one segment,
-- by importance weighting.
select
    window_start,
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
    assumptions
from warehouse.estimates
where
    night = $night::date
    and "window" = 'since_start'
    and estimator = 'importance weighting'
    and candidate = $candidate
    and other = $other
    and segment_by = $segment_by
    and segment = $segment
order by estimand desc
