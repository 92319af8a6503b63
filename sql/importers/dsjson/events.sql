-- The lines of files as events. What is used twice stands in a step of its own: a CASE
-- is evaluated wherever its name is put in.
create or replace temporary view events as
with
raw as (
    select
        *,
        looks_of(line) as looks
    from ${source}
),

told as (
    select
        * exclude (line),
        hash(line) as line_hash,
        case when looks = 'event' then line end as line
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
        costs_of(case when lacks_cost(event) then line end) as costs,
        coalesce(event['_label_cost'], costs['_label_cost']) as cost,
        kind_of(looks, event, cost) as kind,
        event['o'] as o,
        event['_outcomes'] as outcomes
    from parsed
)

select
    file,
    line_hash,
    kind,
    kind = 'single' as is_single,
    len(outcomes) as slot_count,
    event['EventId'] as event_id,
    event['Timestamp'] is not null as is_dated,
    try_cast(event['Timestamp'] as timestamptz) as decided_at,
    pdrop_of(event['pdrop']) as pdrop,
    event['VWState']['m'] as model_id,
    is_unactivated_by(event, line) as is_unactivated,
    [m._tag for m in event['c']['_multi']] as tags,
    cost,
    costs['_outcomes'] as slot_costs,
    event['_original_label_cost'] as original,
    coalesce(event['_labelIndex'] + 1, event['_label_Action']) as labelled,
    is_single and event['_label_Action'] <> event['_labelIndex'] + 1 as is_contradicted,
    event['a'] as a,
    event['p'] as p,
    o,
    event['_ba'] as baselines,
    case when kind = 'slots' and slot_count > 0 then outcomes else [null] end as slots,
    valued_of(case when is_silent(o, outcomes) then line end) as valued,
    ${namespaces} as features
from known
