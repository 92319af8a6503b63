-- Writes what is judged of each row of one file of the log, in its order
-- (`flows.decisions.judged`). Rows that are not among the decisions are not judged; where
-- there are none, `judged` is as long as the file, and in its order already.
copy (
    with
    judged as (
        select
            number - ${first} as row,
            reward,
            status_of(is_immature, is_unactivated, is_rewarded) as status
        from judgements
        where number > ${first} and number <= ${first} + ${rows}
    )

    select
        case status
            when 'observed' then reward
            when 'default' then ${default_reward}
        end as untaken_reward,
        coalesce(status = 'default' and ${default_reward} is not null, false)
            as untaken_is_default,
        coalesce(status in ('observed', 'default', 'missing'), false)
            as untaken_is_judged
    from ${judged}
) to ${file} (
    format parquet, parquet_version 'v2', compression zstd, compression_level 1
)
