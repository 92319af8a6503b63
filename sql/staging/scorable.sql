-- One row a decision, with lists of one length: padded with an action of logging
-- probability 1 and candidate probability 0.
copy (
    select
        ${columns},
        measured_decisions.reward,
        (measured_decisions.action_position - 1)::uinteger as action_position,
        len(measured_decisions.actions)::double as action_count,
        list_resize(
            measured_decisions.logging_probabilities, ${width}, 1.0
        ) as logging_probabilities,
        ${candidates}
    from measured_decisions
    ${joins}
) to ${file} (
    format parquet, compression zstd, compression_level 1, row_group_size ${rows}
)
