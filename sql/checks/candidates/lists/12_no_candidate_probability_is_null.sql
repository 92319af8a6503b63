-- No candidate probability is null.
-- Do: write 0 for an action the candidate never takes.
select
    list_count(${candidate}) = len(${candidate}) as holds,
    ${candidate}::varchar as value
from measured_decisions
