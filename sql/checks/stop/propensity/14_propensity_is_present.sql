-- Every decision has the probability with which its action was taken.
-- Do: log it when the decision is made; it cannot be estimated afterwards.
select
    propensity is not null as holds,
    'null' as value
from measured_decisions
