-- Every line that is set aside, with the reason.
copy (
    select
        path as file,
        line_id - first_line + 1 as line,
        outcome,
        reason,
        event_id as decision_id,
        value
    from set_aside
    inner join lines on set_aside.line_id = lines.rowid
    inner join files using (file)
    order by line_id
) to ${file} (format parquet, compression zstd, compression_level 1)
