-- One row a decision, under our names, with what several rules ask of its lists.
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
    list_count(logging_probabilities) as probability_count,
    list_min(logging_probabilities) as probability_min,
    list_max(logging_probabilities) as probability_max,
    list_sum(logging_probabilities) as probability_sum,
    list_position(actions, action) as action_position,
    hash(actions) as actions_hash,
    ${nan_in_context} as nan_in_context
from renamed
where ${window}
