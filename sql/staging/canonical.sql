-- The log in canonical form, for readers that know lists only.
copy (
    select ${columns}
    from measured_decisions
) to ${file} (format parquet, compression zstd, compression_level 1)
