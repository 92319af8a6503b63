-- One row a night (UTC) with reviews: how many suggested texts were accepted and
-- rejected, and the share that was accepted.
create table suggestion_reviews as
select
    night,
    accepted,
    rejected,
    accepted / (accepted + rejected) as accepted_share
from read_parquet(${files})
order by night
