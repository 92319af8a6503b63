-- How many decisions of each file fall on each day, in the job's time zone. A decision
-- without a time, or with one that calendars do not reach, has no day.
select
    untaken_file as file,
    case
        when year(${decided_at}) between 1000 and 9000
            then (${decided_at} at time zone $timezone)::date::varchar
    end as day,
    count(*) as decision_count
from ${log}
group by all
order by all
