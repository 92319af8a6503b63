-- How many decisions of each file fall on each day, in the job's time zone. A decision
-- without a usable time has no day.
select
    untaken_file as file,
    case
        when isfinite(${decided_at})
            then (${decided_at} at time zone $timezone)::date::varchar
    end as day,
    count(*) as decision_count
from ${log}
group by all
order by all
