-- One row a line of every file, so that `rowid` tells its number; its first row in
-- `slots` is `first_row`.
create or replace table lines as
select
    file,
    rowid as first_row,
    kind,
    slot_count,
    event_id,
    coalesce(event_id, slot_id) as id,
    line_hash,
    is_dated,
    decided_at,
    pdrop,
    is_unactivated
from slots
where place = 0
