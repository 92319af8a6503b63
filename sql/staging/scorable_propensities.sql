-- One row a decision of a log of propensities, with what each candidate gives the
-- logged action.
copy (
    select
        ${columns},
        measured_decisions.reward,
        measured_decisions.action,
        measured_decisions.propensity,
        ${candidates}
    from measured_decisions
    ${joins}
) to ${file} (format parquet, compression zstd, compression_level 1)
