-- Every activation has the time it was received.
-- Do: log when the collecting service received the activation, in UTC.
select
    isfinite(activated_at) as holds,
    coalesce(activated_at::varchar, 'null') as value
from activation_events
