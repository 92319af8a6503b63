-- The newest night's differences since the start: candidate minus other.
create view differences as
select
    night,
    candidate,
    other,
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
    and other <> ''
    and segment_by = ''
    and night = (select max(every.night) from estimates as every)
order by
    candidate,
    other
