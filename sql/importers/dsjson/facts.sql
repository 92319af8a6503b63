-- What a file says as a whole: whether `a` counts from 0 or from 1, and whether it tells
-- observed rewards from the default one, which the oldest logs do not.
create or replace table file_facts as
select
    file,
    count(*) filter (where list_min(a) = 0) as from_zero_count,
    count(*) filter (where list_min(a) > 0) as from_one_count,
    bool_or(
        o is not null
        or original is not null
        or slots[1]['_o'] is not null
        or slots[1]['_original_label_cost'] is not null
    ) as tells_observed,
    bool_or(is_dated) as is_dated
from lines
where kind in ('single', 'slots')
group by file
