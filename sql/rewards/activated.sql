-- The decisions that were activated inside their window.
create or replace temp table activated as
select distinct number
from joined_activations
where delay_us >= -${backward_us} and delay_us < ${wait_us}
