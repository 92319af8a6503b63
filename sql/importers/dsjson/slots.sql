-- One row a decision of one slot. `available` holds positions of its actions from 1 on,
-- in the order of the log, `probabilities` stands parallel to them.
create or replace table slots as
with
single as (
    select
        lines.rowid as line_id,
        file,
        decided_at,
        event_id,
        pdrop,
        model_id,
        tags,
        null::integer as slot,
        null::varchar as slot_id,
        cost,
        original,
        if(from_zero_count > 0, [i + 1 for i in a], a) as available,
        p as probabilities,
        labelled,
        is_contradicted,
        from_zero_count = 0 as is_chosen_first,
        list_min(available) as baseline,
        o as observations,
        valued['o'] as valued
    from lines
    inner join file_facts using (file)
    where kind = 'single'
),

unnested as (
    select
        *,
        rowid as line_id,
        unnest(slots) as told,
        generate_subscripts(slots, 1) as number
    from lines
    where kind = 'slots'
),

each_slot as (
    select
        line_id,
        file,
        decided_at,
        event_id,
        pdrop,
        model_id,
        tags,
        number::integer - 1 as slot,
        told['_id'] as slot_id,
        told['_label_cost'] as cost,
        told['_original_label_cost'] as original,
        [i + 1 for i in told['_a']] as available,
        told['_p'] as probabilities,
        told['_a'][1] + 1 as labelled,
        false as is_contradicted,
        true as is_chosen_first,
        baselines[number] + 1 as baseline,
        told['_o'] as observations,
        valued['_outcomes'][number]['_o'] as valued
    from unnested
),

together as (
    select * from single
    union all
    select * from each_slot
)

select
    * exclude (observations, valued, labelled),
    len(tags) as action_count,
    coalesce(labelled, available[1]) as chosen,
    others_of(valued) as others,
    coalesce(len(observations) > silent_of(observations), false) as is_observed
from together
