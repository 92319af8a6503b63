-- Scores lie between 0 and score_unit.
-- Do: declare the unit that the scores have, 1 or 100, and one for all files.
select
    file,
    row,
    [a.score for a in answers]::varchar as value
from logged_queries
where
    list_bool_or(
        [
            isfinite(a.score) and not a.score between 0 and $score_unit
            for a in answers
        ]
    )
