-- The slots of the decisions that nothing sets aside.
create or replace view kept as
select
    rowid as slot_row,
    rowid - place as first_row,
    file,
    kind,
    place,
    event_id,
    slot_id,
    decided_at,
    pdrop,
    model_id,
    probabilities,
    chosen,
    baseline,
    layout,
    reward,
    is_differing,
    is_observed,
    features
from slots
where first_row not in (
    select lines.first_row from lines
    inner join set_aside on lines.rowid = set_aside.line_id
)
