-- Every query has a time with its zone.
-- Do: log when the question was asked, in UTC or with the zone.
select
    file,
    row,
    'null' as value
from logged_queries
where asked_at is null and unread is null
