-- How many lines were set aside, by reason.
select
    outcome,
    reason,
    count(*) as line_count
from set_aside
group by all
order by all
