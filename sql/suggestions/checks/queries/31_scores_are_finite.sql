-- No score is NaN or infinite.
-- Do: log the score as the bot's service returned it.
select
    file,
    row,
    [a.score for a in answers]::varchar as value
from logged_queries
where list_bool_or([not isfinite(a.score) for a in answers])
