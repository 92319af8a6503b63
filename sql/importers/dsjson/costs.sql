-- The costs of each file's decisions: how many differ, and, of decisions without an
-- observed value, how often each reward was counted.
create or replace table costs as
select
    file,
    if(is_observed or len(others) > 0, null, 0.0 - coalesce(original, cost)) as reward,
    count(*) as decision_count,
    count(*) filter (where cost <> original) as differing_count
from slots
where line_id not in (select line_id from set_aside)
group by all
