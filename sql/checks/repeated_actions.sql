-- No action is listed twice.
-- Do: list each action once, with its whole probability.
select
    file,
    row,
    decision_id,
    actions::varchar as value
from measured_decisions
where actions_hash in (
    select checked.actions_hash
    from checked
    where len(list_distinct(checked.actions)) < list_count(checked.actions)
)
