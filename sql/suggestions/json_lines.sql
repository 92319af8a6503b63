-- The bodies of a file of JSON Lines, one a line that is not blank.
create or replace temp view bodies as
select
    row_number() over () as row,
    json
from read_ndjson_objects(${files}, ignore_errors = true)
