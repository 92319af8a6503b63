-- Adds the rows of one file; all but the context as text.
insert into lines
select
    $file as file,
    'row' as kind,
    ${event_id}::varchar as event_id,
    ${decided_at}::varchar is not null as is_dated,
    instant_of(${decided_at}::varchar, $is_utc) as decided_at,
    ${decided_at}::varchar as told_at,
    ${action}::varchar as action,
    ${propensity}::varchar as propensity,
    ${reward}::varchar as reward,
    ${slot}::varchar as slot,
    ${sample_probability}::varchar as sample_probability,
    ${model_id}::varchar as model_id,
    ${packed} as context
from ${source}
