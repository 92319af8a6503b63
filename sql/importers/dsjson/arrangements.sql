-- What depends on an event's actions alone. `grade` orders what the log lists; a baseline
-- that was no longer available is listed too, with probability 0.
create or replace table arrangements as
with
listed as (
    select
        *,
        names_of(tags) as names,
        case
            when baseline is null or list_contains(available, baseline) then available
            else list_append(available, baseline)
        end as listed
    from layouts
    where fault is null and coalesce(baseline between 1 and len(tags), true)
),

ordered as (
    select
        *,
        len(listed) as listed_count,
        list_grade_up(listed) as grade,
        list_sort(listed) as positions
    from listed
)

select
    layout,
    names,
    listed_count,
    grade,
    list_select(names, positions) as actions,
    if(names = tags, null, list_select(tags, positions)) as action_labels,
    case
        when baseline is not null
            then one_at(list_position(positions, baseline), listed_count)
    end as baseline_alone,
    [
        if(list_contains(available, i), 1.0::double / len(available), 0.0)
        for i in positions
    ] as random
from ordered
