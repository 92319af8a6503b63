-- One row an action and day (null: all days together): how often it was logged, and how
-- often its logged probabilities expected it.
create table frequencies as
select
    day,
    action,
    listed,
    logged,
    expected,
    standard_error,
    z,
    allowed,
    is_deviating
from read_parquet(${files}, hive_partitioning = false)
order by
    day,
    action
