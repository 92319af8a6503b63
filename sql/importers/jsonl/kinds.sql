-- Of which types the values at one path of the inputs are.
select distinct json_type(json_extract(input, $path)) as kind
from lines
where
    rowid not in (select line_id from set_aside)
    and json_extract(input, $path) is not null
order by kind
