-- A row holds a question, its time and the bot's answers.
-- Do: write the values in the types of the question log, times with their zone.
select
    file,
    row,
    unread as value
from logged_queries
where unread is not null
