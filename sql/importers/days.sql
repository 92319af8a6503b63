-- The days that hold a decision, in UTC; null where the log has no times.
select distinct if($is_dated, decided_at::date, null) as day
from lines
where rowid not in (select line_id from set_aside)
order by day
