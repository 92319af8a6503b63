-- One row a decision of a log of propensities, under our names; `actions` holds those
-- that are declared, and no other probability is known than that of the logged action.
create or replace temp view measured_decisions as
with
renamed as (
    select
        ${columns},
        untaken_file as file,
        file_row_number + 1 as row
    from ${log}
)

select
    *,
    propensity as probability_max,
    null::double as probability_sum,
    hash(action) as actions_hash,
    ${nan_in_context} as nan_in_context
from renamed
where ${window}
