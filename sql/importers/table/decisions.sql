-- The rows as a canonical log of propensities.
create or replace table decisions as
select
    event_id as decision_id,
    slot,
    decided_at,
    action,
    number_of(propensity) as propensity,
    reward_of(reward) as reward,
    number_of(sample_probability) as sample_probability,
    model_id,
    ${context}
from lines
where rowid not in (select line_id from set_aside)
