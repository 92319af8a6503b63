-- The cases as a canonical log.
create or replace table decisions as
select
    event_id as decision_id,
    decided_at,
    name_of(action) as action,
    names as actions,
    [(p ->> '$')::double for p in probabilities] as logging_probabilities,
    case
        when reward is null then null
        when is_number(reward) then (reward ->> '$')::double
        when (reward ->> '$')::boolean then 1.0
        else 0.0
    end as reward,
    ${context}
from kept
