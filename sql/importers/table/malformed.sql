-- Adds what the CSV reader could not read of a file, after its rows.
insert into lines by name
select distinct
    $file as file,
    'malformed' as kind,
    'line ' || line as event_id
from reject_errors
