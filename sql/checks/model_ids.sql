-- The models that made decisions, those that made most first.
with
models as (
    select
        model_id::varchar as model_id,
        count(*) as decision_count
    from measured_decisions
    where model_id is not null
    group by model_id::varchar
)

select
    model_id,
    count(*) over () as model_id_count
from models
order by
    decision_count desc,
    model_id asc
limit $most
