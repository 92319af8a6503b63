-- Every action that a candidate takes in a column of names.
select distinct ${candidate}::varchar as action
from measured_decisions
order by action
