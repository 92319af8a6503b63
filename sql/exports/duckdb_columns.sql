-- The columns that an attached DuckDB file has of a table.
select
    column_name,
    lower(data_type) as data_type
from duckdb_columns()
where
    database_name = 'target'
    and schema_name = ${namespace}
    and table_name = ${relation}
order by column_index
