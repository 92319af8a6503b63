-- Sets aside events that were deferred and never activated: nothing was shown.
insert into set_aside
select
    lines.rowid as line_id,
    'skipped' as outcome,
    'never activated' as reason,
    null as value
from lines
where is_unactivated and lines.rowid not in (select line_id from set_aside)
