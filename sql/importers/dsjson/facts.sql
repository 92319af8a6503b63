-- What a file says as a whole: whether `a` counts from 0 or from 1, and whether it tells
-- observed rewards from the default one, which the oldest logs do not.
create or replace table file_facts as
select
    file,
    count(*) filter (where least_action = 0) as from_zero_count,
    count(*) filter (where least_action > 0) as from_one_count,
    bool_or(tells_observed) as tells_observed
from slots
where kind in ('single', 'slots')
group by file
