-- Writes what is judged, in the order of the log: a row there is a row here.
-- Version 2 writes ids that do not repeat in two thirds of the time.
copy (
    with
    placed as (
        select
            decision_id,
            slot,
            reward,
            case
                when decision.number = judgement.number
                    then status_of(is_immature, is_unactivated, is_rewarded)
                else error('the log is not read in the order of its files')
            end as status
        from rewarded_decisions as decision
        positional join judgements as judgement
    )

    select
        ${names},
        case when status = 'observed' then reward end as reward,
        status
    from placed
) to ${file} (
    format parquet, parquet_version 'v2', compression zstd, compression_level 1
)
