-- Every decision was kept: sample_probability is 1 where it is logged.
-- Do: evaluate a log without dropped decisions; weighting by sample_probability is not part of these methods.
select
    coalesce(sample_probability, 1) = 1 as holds,
    sample_probability::varchar as value
from measured_decisions
