-- The newest night by segment, since the start.
create view segments as
select
    night,
    segment_by,
    segment,
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
    and segment_by <> ''
    and night = (select max(every.night) from estimates as every)
order by
    segment_by,
    segment,
    candidate,
    estimand
