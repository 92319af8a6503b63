-- The columns of the published tables, in their order, and what they mean.
select
    columns.table_name,
    columns.column_name,
    columns.data_type,
    coalesce(columns.comment, '') as meaning,
    coalesce(tables.comment, '') as table_meaning
from duckdb_columns() as columns
inner join duckdb_tables() as tables
    on
        columns.database_oid = tables.database_oid
        and columns.table_oid = tables.table_oid
where columns.database_name = 'source'
order by
    columns.table_name,
    columns.column_index
