-- The names of the inputs' fields.
select distinct unnest(json_keys(input)) as name
from lines
where json_type(input) = 'OBJECT'
order by name
