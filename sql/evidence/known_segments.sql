-- The segments of a candidate (or compared pair), and when each was first and last seen;
-- all decisions together among them.
select
    segment_by,
    segment,
    first_day,
    last_day
from warehouse.known_segments
where
    candidate = $candidate
    and other = $other
order by
    segment_by,
    segment
