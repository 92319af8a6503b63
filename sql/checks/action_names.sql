-- Every action name the log lists.
select distinct unnest(actions) as action
from checked
where actions is not null
order by action
