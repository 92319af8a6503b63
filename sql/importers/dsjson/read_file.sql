-- Adds the lines of one file. `_label_cost` counts in any case.
insert into lines
with
raw as (
    select
        line,
        hash(line) as line_hash,
        case
            when starts_with(line, '{') and json_valid(line) then 'event'
            when line is null or trim(line, chr(9) || ' ') = '' then 'blank'
            when not starts_with(ltrim(line, chr(9) || ' '), '{') then 'marker'
            when json_valid(line) then 'event'
            else 'malformed'
        end as looks
    from ${source}
),

told as (
    select
        looks,
        line_hash,
        -- Nothing is copied where a CASE yields text rather than what is read of it.
        case
            when looks <> 'event' then null
            when contains(line, '"_label_cost"') then line
            else regexp_replace(line, '"_label_cost"', '"_label_cost"', 'gi')
        end as line
    from raw
),

parsed as (
    select
        *,
        event_of(line) as event
    from told
),

known as (
    select
        *,
        event['o'] as o,
        event['_outcomes'] as slots,
        case
            when looks <> 'event' then looks
            when event['_label_ca'] is not null then 'continuous'
            when slots is not null and event['_label_cost'] is null then 'slots'
            when slots is not null then 'slates'
            when event['_label_cost'] is not null or event['a'] is not null
                then 'single'
            when coalesce(event['RewardValue'], event['EnqueuedTimeUtc']) is not null
                then 'dangling'
            else 'unknown'
        end as kind,
        coalesce(list_sum([silent_of(s._o) for s in slots]), 0)
        + coalesce(silent_of(o), 0) as silent_count
    from parsed
)

select
    $file as file,
    line_hash,
    kind,
    event['EventId'] as event_id,
    event['Timestamp'] is not null as is_dated,
    try_cast(event['Timestamp'] as timestamptz) as decided_at,
    pdrop_of(event['pdrop']) as pdrop,
    event['VWState']['m'] as model_id,
    [m._tag for m in event['c']['_multi']] as tags,
    event['_label_cost'] as cost,
    event['_original_label_cost'] as original,
    coalesce(event['_labelIndex'] + 1, event['_label_Action']) as labelled,
    event['_label_Action'] <> event['_labelIndex'] + 1 as is_contradicted,
    event['a'] as a,
    event['p'] as p,
    o,
    slots,
    event['_ba'] as baselines,
    valued_of(case when silent_count > 0 then line end) as valued,
    is_unactivated_by(event, line) as is_unactivated
from known
