-- In how many decisions the model chose what the baseline did.
select
    count(*) filter (where chosen = baseline) as imitated_count,
    count(*) as decision_count
from slots
where line_id not in (select line_id from set_aside)
