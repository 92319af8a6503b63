-- What activations a run may know, of those of a span: one row an event, under our
-- names.
create or replace temp view activation_events as
with
arrived as (
    select
        ${columns},
        untaken_file as file,
        file_row_number + 1 as row
    from ${source}
)

select *
from arrived
where
    (known_at <= ${as_of}) is not false
    and ${received}
