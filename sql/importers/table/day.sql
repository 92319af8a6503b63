-- Writes the decisions of one day, in their order.
copy (
    select ${columns} from decisions
    where ${day}
) to ${file} (format parquet, compression zstd, compression_level 1)
