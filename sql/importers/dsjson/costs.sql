-- The costs of each file's decisions: how many differ, and, of decisions without an
-- observed value, how often each reward was counted.
create or replace table costs as
select
    file,
    if(is_observed, null, reward) as reward,
    count(*) as decision_count,
    count(*) filter (where is_differing) as differing_count
from kept
group by all
