-- Writes the decisions of one day in the order of their lines, the actions in the order
-- of the event. `baseline` and `random` are candidates, parallel to `actions`. Tags that
-- do not tell actions apart are labels.
copy (
    with
    laid_out as (
        select
            decision_id,
            slot,
            decided_at,
            action,
            actions,
            action_labels,
            decisions.* exclude (
                decision_id, slot, decided_at, action, layout
            ),
            baseline_alone as baseline,
            random
        from decisions
        inner join arrangements using (layout)
        where ${day}
    )

    select ${columns} from laid_out
    order by slot_row
) to ${file} (format parquet, compression zstd, compression_level 1)
