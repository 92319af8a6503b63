-- Of which types the values of a field are, among the decisions that are kept.
select distinct json_type(${value}) as kind
from kept
where ${value} is not null
order by kind
