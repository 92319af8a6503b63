-- How many activations are known, without a decision, and too late.
select
    count(distinct place) filter (
        where number is not null or is_own
    ) as activations,
    count(*) filter (where number is null and is_own) as dangling_activations,
    count(distinct place) filter (
        where not is_waiting and delay_us >= ${wait_us}
    ) as late_activations
from joined_activations
