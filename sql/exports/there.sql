-- The columns that a target has of a table.
select
    column_name,
    lower(data_type) as data_type
from information_schema.columns
where
    table_catalog = ${catalog}
    and table_schema = ${namespace}
    and table_name = ${name}
order by ordinal_position
