-- One row a candidate, the logging policy among them. largest_weight: by its own design;
-- fixed_at: since when it was left alone, where that is declared.
create table candidates as
select
    candidate,
    is_logging,
    largest_weight,
    fixed_at
from read_parquet(${files})
order by candidate
