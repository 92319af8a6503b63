-- How many rows of one file of the log are judged.
select count(*) as judged_count
from judgements
where number > ${first} and number <= ${first} + ${rows}
