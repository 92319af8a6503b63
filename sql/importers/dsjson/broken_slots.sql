-- Sets aside every event of which some slot cannot be read, with the first reason.
insert into set_aside
with
judged as (
    select
        slots.rowid - place as first_row,
        place,
        slots.available,
        probabilities,
        case
            when layouts.fault is not null then layouts.fault
            when slots.fault is not null then slots.fault
            when is_counted is not true then 'no cost'
            when reward is null
                then 'a reward is no number, and none stands at the reward path'
            when slots.baseline not between 1 and len(layouts.tags)
                then '_ba names an action that is not there'
            when $is_baseline_shown and slots.baseline is null
                then 'no baseline action (_ba)'
        end as reason
    from slots
    inner join layouts using (layout)
    where kind in ('single', 'slots')
),

broken as (
    select
        first_row,
        min_by(reason, place) as reason,
        min_by(
            case
                when reason = 'a and p differ in length'
                    then format(
                        'length {}, expected {}', len(probabilities), len(available)
                    )
                when reason like 'p does not sum%'
                    then format('sum {}', list_sum(probabilities))
                when reason like 'p %' then probabilities::varchar
                when reason like 'a %' then available::varchar
            end,
            place
        ) as value
    from judged
    where reason is not null
    group by first_row
)

select
    lines.rowid as line_id,
    'rejected' as outcome,
    reason,
    value
from broken
inner join lines using (first_row)
where lines.rowid not in (select line_id from set_aside)
