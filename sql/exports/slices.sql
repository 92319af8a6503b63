-- The rows of a table by night: how many, and a sum that tells them from others.
select
    ${key} as night,
    count(*) as row_count,
    sum(hash(${listed}))::varchar as row_sum
from ${relation}
group by all
order by all
