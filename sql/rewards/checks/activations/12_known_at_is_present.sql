-- Every activation has the time it was loaded.
-- Do: write when the row was loaded, in UTC, or leave the column out.
select
    isfinite(known_at) as holds,
    coalesce(known_at::varchar, 'null') as value
from activation_events
