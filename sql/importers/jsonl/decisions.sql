-- The cases of one day as a canonical log.
copy (
    with
    decisions as (
        select
            event_id as decision_id,
            decided_at,
            name_of(action) as action,
            names as actions,
            [(p ->> '$')::double for p in probabilities] as logging_probabilities,
            case
                when reward is null then null
                when is_number(reward) then (reward ->> '$')::double
                when (reward ->> '$')::boolean then 1.0
                else 0.0
            end as reward,
            ${context}
        from lines
        where rowid not in (select line_id from set_aside) and ${day}
    )

    select ${columns} from decisions
) to ${file} (format parquet, compression zstd, compression_level 1)
