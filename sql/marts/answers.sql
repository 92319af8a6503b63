-- The newest night at a glance: all decisions since the start, one row a candidate and
-- estimand.
create view answers as
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
    and night = (select max(every.night) from estimates as every)
order by
    candidate,
    estimand
