-- The cases that nothing sets aside.
create or replace view kept as
select
    event_id,
    decided_at,
    input,
    action,
    names,
    probabilities,
    reward
from lines
where rowid not in (select line_id from set_aside)
