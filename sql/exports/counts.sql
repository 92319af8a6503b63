-- How many rows a target has of a job, by night.
select
    ${key} as night,
    count(*) as row_count
from ${place}
where job = ${job}
group by 1
