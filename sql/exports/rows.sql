-- The rows of a table, of some nights.
select ${listed}
from ${relation}
where ${condition}
