-- How many sampling probabilities the log holds, and the least of them.
select
    count(distinct sample_probability) as sample_probability_count,
    min(sample_probability)::double as least_sample_probability
from measured_decisions
