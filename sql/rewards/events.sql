-- What rewards a run may know, of those received in a span: one row an event, under our
-- names. Rows whose times are absent stay, for the checks to name.
create or replace temp view reward_events as
with
arrived as (
    select
        ${columns},
        untaken_file as file,
        file_row_number + 1 as row
    from ${source}
)

select
    *,
    ${sequence} as arrival
from arrived
where
    (known_at <= ${as_of}) is not false
    and ${received}
