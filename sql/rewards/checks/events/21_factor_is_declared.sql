-- Every reward names one of the declared factors.
-- Do: declare the factor with its weight, or leave its events out.
select
    list_contains($factors, factor) as holds,
    coalesce(factor, 'null') as value
from reward_events
