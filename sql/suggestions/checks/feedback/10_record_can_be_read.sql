-- A feedback record is an object with userQuestion and the qnaId of a pair, or none.
-- Do: write userQuestion as text, qnaId as a whole number or null, askedAt with zone.
select
    file,
    row,
    unread as value
from feedback_records
where unread is not null
