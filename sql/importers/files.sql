-- The files that are read: `first_line` is the row of their first line among all lines.
create or replace table files (
    file integer,
    path varchar,
    configured_at varchar,
    first_line bigint
)
