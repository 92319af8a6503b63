-- Every reward is a number of the size of its range.
-- Do: leave out events without a reward; a decision without any has the default.
select
    isfinite(reward) and abs(reward) <= $largest_reward as holds,
    coalesce(reward::varchar, 'null') as value
from reward_events
