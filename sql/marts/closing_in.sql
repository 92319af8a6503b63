-- The interval of each candidate since the start, night by night.
create view closing_in as
select
    night,
    candidate,
    estimand,
    estimate,
    lower,
    upper,
    confidence,
    method,
    look,
    assumes,
    state,
    decisions
from estimates
where
    "window" = 'since_start'
    and estimator = 'importance weighting'
    and other = ''
    and segment_by = ''
order by
    candidate,
    estimand,
    night
