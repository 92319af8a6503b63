-- The doubly robust interval of each candidate since the start, night by night.
create view doubly_robust as
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
    decisions
from estimates
where
    estimator = 'doubly robust'
    and "window" = 'since_start'
    and other = ''
    and segment_by = ''
order by
    candidate,
    estimand,
    night
