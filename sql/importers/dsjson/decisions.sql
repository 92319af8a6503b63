-- The decisions as a canonical log, but for what their actions alone tell; that stands in
-- `arrangements`. In a mode that showed the baseline, it is what was taken.
create or replace table decisions as
with
told as (
    select
        kept.*,
        names,
        listed_count,
        grade,
        baseline_alone,
        path,
        lines.rowid - first_line + 1 as line,
        not is_observed and file_facts.tells_observed and reward = default_reward
            as is_default
    from kept
    inner join arrangements using (layout)
    inner join lines using (first_row)
    inner join files on kept.file = files.file
    inner join file_facts on kept.file = file_facts.file
    left join default_rewards on kept.file = default_rewards.file
)

select
    coalesce(event_id, slot_id, path || ':' || line) as decision_id,
    if(kind = 'slots', place, null) as slot,
    decided_at,
    list_extract(names, if($is_baseline_shown, baseline, chosen)) as action,
    case
        when $is_baseline_shown then baseline_alone
        else list_select(list_resize(probabilities, listed_count, 0.0), grade)
    end as logging_probabilities,
    if(is_default, null, reward) as reward,
    case
        when is_observed then 'observed'
        when is_default then 'default'
        else 'unknown'
    end as reward_status,
    1.0::double - pdrop as sample_probability,
    model_id,
    path as source_file,
    line as source_line,
    ${context},
    layout,
    slot_row
from told
