-- Adds files that were read.
insert into files
select
    unnest($numbers::integer[]) as file,
    unnest($paths::varchar[]) as path,
    unnest($configured_at::varchar[]) as configured_at,
    unnest($first_lines::bigint[]) as first_line
