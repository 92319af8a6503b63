-- The last night up to a day on which a candidate (or compared pair) has decisions.
select max(day) as night
from warehouse.evidence
where
    candidate = $candidate
    and other = $other
    and segment_by = ''
    and day <= $until::date
