-- No number in a declared context column is NaN.
-- Do: write null where a value is unknown.
select
    not nan_in_context as holds,
    'NaN in a context column' as value
from measured_decisions
