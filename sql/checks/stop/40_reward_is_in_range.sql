-- The reward is null or lies in reward_range.
-- Do: declare the range the reward has by design; write null, not NaN, where none arrived.
select
    reward is null or reward between $reward_lowest and $reward_highest as holds,
    reward::varchar as value
from measured_decisions
