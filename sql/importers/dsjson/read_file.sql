-- Adds the decisions of `events`. `a` counts from 0 where it holds a 0, and in slots
-- always.
insert into slots
with
each_slot as (
    select
        *,
        unnest(slots) as slot_,
        generate_subscripts(slots, 1) as number
    from events
),

told as (
    select
        * exclude (a, p, o, cost, original),
        if(is_single, a, slot_['_a']) as a,
        if(is_single, p, slot_['_p']) as p,
        if(is_single, o, slot_['_o']) as o,
        if(
            is_single,
            cost,
            coalesce(slot_['_label_cost'], slot_costs[number]['_label_cost'])
        ) as cost,
        if(is_single, original, slot_['_original_label_cost']) as original
    from each_slot
),

placed as (
    select
        *,
        case when is_single then list_min(a) end as least_action,
        if(least_action > 0, a, [i + 1 for i in a]) as available,
        case when valued is not null then others_of(valued, is_single, number) end
            as others,
        coalesce(original, cost) as counted
    from told
),

judged as (
    select
        *,
        coalesce(if(is_single, labelled, null), available[1]) as chosen,
        if(is_single, list_min(available), baselines[number] + 1) as baseline,
        distribution_fault(available, p, $sum_tolerance) as fault
    from placed
)

select
    file,
    line_hash,
    kind,
    slot_count,
    number - 1 as place,
    event_id,
    slot_['_id'] as slot_id,
    is_dated,
    decided_at,
    pdrop,
    model_id,
    is_unactivated,
    least_action,
    o is not null or original is not null as tells_observed,
    tags,
    available,
    p as probabilities,
    chosen,
    baseline,
    hash(tags, available, baseline) as layout,
    if(len(others) > 0, reward_of(others, $reward_path), 0.0 - counted) as reward,
    cost <> original as is_differing,
    coalesce(len(others) > 0 or value_count(o) > 0, false) as is_observed,
    coalesce(
        fault,
        choice_fault(
            available, p, chosen, not is_single or least_action > 0, is_contradicted
        )
    ) as fault,
    isfinite(counted) as is_counted,
    features
from judged
