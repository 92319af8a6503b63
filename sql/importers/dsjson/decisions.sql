-- The decisions of one day as a canonical log, the actions in the order of the event.
-- `baseline` and `random` are candidates, parallel to `actions`. In a mode that showed
-- the baseline, it is what was taken. Tags that do not tell actions apart are labels.
copy (
    with
    kept as (
        select *
        from slots
        where line_id not in (select line_id from set_aside) and ${day}
    ),

    laid_out as (
        select
            kept.*,
            layouts.* exclude (tags, available, baseline),
            path,
            first_line,
            not is_observed and tells_observed
            and 0.0 - coalesce(original, cost) = default_reward as is_default
        from kept
        inner join layouts
            on
                kept.tags = layouts.tags
                and kept.available = layouts.available
                and kept.baseline is not distinct from layouts.baseline
        inner join files using (file)
        inner join file_facts using (file)
        left join default_rewards using (file)
    ),

    decisions as (
        select
            coalesce(event_id, slot_id, path || ':' || (line_id - first_line + 1))
                as decision_id,
            slot,
            decided_at,
            list_extract(names, if($is_baseline_shown, baseline, chosen)) as action,
            actions,
            action_labels,
            case
                when $is_baseline_shown then baseline_alone
                else list_select(list_resize(probabilities, listed_count, 0.0), grade)
            end as logging_probabilities,
            case
                when len(others) > 0 then reward_of(others, $reward_path)
                when not is_default then 0.0 - coalesce(original, cost)
            end as reward,
            case
                when len(others) > 0 or is_observed then 'observed'
                when is_default then 'default'
                else 'unknown'
            end as reward_status,
            1.0::double - pdrop as sample_probability,
            model_id,
            baseline_alone as baseline,
            random,
            path as source_file,
            line_id - first_line + 1 as source_line,
            line_id
        from laid_out
    )

    select ${columns} from decisions
    order by line_id, slot
) to ${file} (format parquet, compression zstd, compression_level 1)
