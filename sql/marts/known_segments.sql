-- One row a candidate (or compared pair) and segment: on which days it has decisions.
create table known_segments as
select
    candidate,
    other,
    segment_by,
    segment,
    min(day) as first_day,
    max(day) as last_day,
    sum(decisions)::bigint as decision_count
from evidence
where superseded_at is null
group by
    candidate,
    other,
    segment_by,
    segment
order by
    candidate,
    other,
    segment_by,
    segment
