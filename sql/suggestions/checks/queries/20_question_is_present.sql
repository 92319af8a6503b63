-- Every query has a text, which may be empty.
-- Do: leave out rows that are no query.
select
    file,
    row,
    'null' as value
from logged_queries
where question is null and unread is null
