-- The columns that a PostgreSQL database has of a table; information_schema.columns joins
-- so many catalogs that a plan from statistics of the wrong moment took it seconds.
select
    attname as column_name,
    format_type(atttypid, atttypmod) as data_type
from pg_attribute
where
    attrelid = to_regclass(${place})
    and attnum > 0
    and not attisdropped
order by attnum
