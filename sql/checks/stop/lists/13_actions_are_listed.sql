-- Every decision lists the actions that could be taken.
-- Do: log every action the logging policy could take.
select
    len(actions) > 0 as holds,
    coalesce(actions::varchar, 'null') as value
from measured_decisions
