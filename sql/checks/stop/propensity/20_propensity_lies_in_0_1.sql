-- The propensity lies between 0 and 1.
-- Do: log the probability the action was drawn with, not a logarithm, a score or a density.
select
    propensity >= 0 and propensity <= 1 as holds,
    propensity::varchar || case
        when isnan(propensity)
            then ' (NaN is not a probability)'
        when propensity < 0
            then format(
                ' (a log-probability? its exp() is {:.6g})', exp(propensity)
            )
        when propensity <= 100
            then ' (percent? divide by 100; a density? continuous actions need binning)'
        else ' (a density? continuous actions need binning)'
    end as value
from measured_decisions
