-- Every decision has the probability with which it was kept in the log, above 0 and at most 1.
-- Do: log 1 minus the probability of being dropped, 1 where nothing is; it cannot be estimated afterwards.
select
    sample_probability > 0 and sample_probability <= 1 as holds,
    case
        when sample_probability is null then 'null'
        when sample_probability = 0 then '0 (a drop probability? log 1 minus it)'
        else sample_probability::varchar
    end as value
from measured_decisions
