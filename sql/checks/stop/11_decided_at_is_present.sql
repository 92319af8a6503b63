-- Every decision has the time it was made.
-- Do: log the time of the decision, in UTC.
select
    isfinite(decided_at) as holds,
    coalesce(decided_at::varchar, 'null') as value
from measured_decisions
