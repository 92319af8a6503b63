-- No listed action is null.
-- Do: name every action.
select
    list_count(actions) = len(actions) as holds,
    actions::varchar as value
from measured_decisions
