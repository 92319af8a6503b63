-- Logging probabilities lie between 0 and 1.
-- Do: log the probabilities the action was drawn from, not logarithms, scores or densities.
select
    probability_min >= 0 and probability_max <= 1 as holds,
    logging_probabilities::varchar || case
        when
            probability_max <= 0
            and abs(list_sum(list_transform(
                logging_probabilities, lambda p: exp(p)
            )) - 1) < 0.01
            then ' (these look like log-probabilities: exp() sums to 1)'
        when isnan(probability_max)
            then ' (NaN is not a probability)'
        when probability_min >= 0 and abs(probability_sum - 100) < 1
            then ' (these sum to 100: percent? divide by 100)'
        when probability_min >= 0
            then ' (a density? continuous actions need binning)'
        else ''
    end as value
from measured_decisions
