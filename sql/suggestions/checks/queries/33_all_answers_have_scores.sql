-- The answers of a query have scores, or none of them has.
-- Do: log the score of every answer.
select
    file,
    row,
    [a.score for a in answers]::varchar as value
from logged_queries
where
    list_bool_or([a.score is null for a in answers])
    and list_bool_or([a.score is not null for a in answers])
    and not list_bool_or([a.unread is not null for a in answers])
