-- No column that a condition reads holds NaN.
-- Do: write null where a value is unknown.
select
    not nan_in_condition as holds,
    'NaN in a column that a condition reads' as value
from reward_events
