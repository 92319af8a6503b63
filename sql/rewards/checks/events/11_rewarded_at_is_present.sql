-- Every reward has the time it was received.
-- Do: log when the collecting service received the reward, in UTC.
select
    isfinite(rewarded_at) as holds,
    coalesce(rewarded_at::varchar, 'null') as value
from reward_events
