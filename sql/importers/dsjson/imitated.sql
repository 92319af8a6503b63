-- In how many decisions the model chose what the baseline did.
select
    count(*) filter (where chosen = baseline) as imitated_count,
    count(*) as decision_count
from kept
