-- The highest score of the log; null when it has none.
select max(list_max([a.score for a in answers if isfinite(a.score)])) as highest
from logged_queries
