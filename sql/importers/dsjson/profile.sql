-- What the imported log says of itself.
select
    count(*) as decisions,
    count(*) filter (where reward_status = 'default') as defaults,
    count(*) filter (where reward_status = 'unknown') as unknowns,
    count(*) filter (where baseline is null) as without_baseline,
    coalesce(max(abs(list_sum(logging_probabilities) - 1)), 0) as sum_deviation,
    min(sample_probability) as least_sample_probability
from read_parquet(${files})
