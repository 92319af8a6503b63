-- The interval of each candidate since the start, night by night, had decisions without a
-- reward any reward in the range instead of the default one.
create view without_default as
select
    night,
    candidate,
    estimand,
    estimate,
    lower,
    upper,
    identified_lower,
    identified_upper,
    confidence,
    method,
    look,
    assumes,
    state,
    decisions,
    missing_reward
from estimates
where
    estimator = 'without default reward'
    and "window" = 'since_start'
    and other = ''
    and segment_by = ''
order by
    candidate,
    estimand,
    night
