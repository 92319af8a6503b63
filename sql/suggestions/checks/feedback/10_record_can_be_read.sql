-- A feedback record holds a question and the whole number of a pair, or none.
-- Do: send userQuestion as text, and qnaId as the number of a pair or null.
select
    file,
    row,
    unread as value
from feedback_records
where unread is not null
