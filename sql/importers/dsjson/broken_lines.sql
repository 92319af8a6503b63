-- Sets aside every line that holds no decision, or one that no slot of can be read.
create or replace table set_aside as
with
judged as (
    select
        rowid as line_id,
        case kind
            when 'blank' then 'blank line'
            when 'marker' then 'marker'
            when 'dangling' then 'dangling observation'
        end as skipped,
        case
            when kind = 'malformed' then 'malformed'
            when kind = 'slates' then 'unsupported: slates, one reward for all slots'
            when kind = 'continuous'
                then 'unsupported: a continuous action has a density, no probability'
            when kind = 'unknown' then 'no decision'
            when kind = 'slots' and slot_count = 0 then 'no slot'
            when
                $is_dated
                and (year(decided_at) between 1000 and 9000)
                is not true
                then 'no time (Timestamp)'
            when kind in ('single', 'slots') and not (pdrop >= 0 and pdrop < 1)
                then 'pdrop lies outside [0, 1)'
        end as rejected
    from lines
)

select
    line_id,
    case when skipped is null then 'rejected' else 'skipped' end as outcome,
    coalesce(skipped, rejected) as reason,
    null::varchar as value
from judged
where skipped is not null or rejected is not null
