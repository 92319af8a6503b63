-- Every feedback record has the user's question.
-- Do: send the exact text of the query as userQuestion.
select
    file,
    row,
    'null' as value
from feedback_records
where question is null and unread is null
