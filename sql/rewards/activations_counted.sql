-- How many activations are known, without a decision, and too late.
select
    count(distinct place) as activations,
    count(*) filter (where number is null) as dangling_activations,
    count(distinct place) filter (
        where not is_waiting and delay_us >= ${wait_us}
    ) as late_activations
from joined_activations
