-- Every answer has the id of its pair, a whole number; its score is a number or absent.
-- Do: log id and score as the bot's service returned them.
select
    file,
    row,
    coalesce(
        list_filter(answers, lambda a: a.unread is not null)[1].unread, 'no answer'
    ) as value
from logged_queries
where list_bool_or([a is null or a.unread is not null for a in answers])
