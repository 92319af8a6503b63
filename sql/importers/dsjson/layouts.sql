-- What depends on an event's actions alone, once for each that differ: most events of a
-- log share their actions. `grade` orders what the log lists; a baseline that was no
-- longer available is listed too, with probability 0.
create or replace table layouts as
with
different as (
    select
        tags,
        available,
        baseline,
        names_of(tags) as names,
        case
            when baseline is null or list_contains(available, baseline) then available
            else list_append(available, baseline)
        end as listed
    from slots
    where line_id not in (select line_id from set_aside)
    group by all
),

ordered as (
    select
        *,
        len(listed) as listed_count,
        list_grade_up(listed) as grade,
        list_sort(listed) as positions
    from different
)

select
    *,
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
