-- The newest night at a glance: all decisions since the start, one row a candidate.
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
    state,
    decisions
from estimates
where
    "window" = 'since_start'
    and segment_by = ''
    and night = (select max(every.night) from estimates as every)
order by
    candidate,
    estimand;

-- The interval of each candidate, night by night.
create view closing_in as
select
    night,
    candidate,
    estimand,
    estimate,
    lower,
    upper,
    decisions
from estimates
where
    "window" = 'since_start'
    and segment_by = ''
order by
    candidate,
    estimand,
    night;

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
    decisions
from estimates
where
    "window" = 'since_start'
    and segment_by <> ''
    and night = (select max(every.night) from estimates as every)
order by
    segment_by,
    segment,
    candidate,
    estimand
