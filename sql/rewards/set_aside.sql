-- Writes the events that entered no reward, with why, in the order of their arrival.
copy (
    with
    repeated as (
        select
            arrival,
            case when is_duplicate then 'duplicate' else fate end as reason,
            delay_us
        from several_rewards
    ),

    fates as (
        select
            arrival,
            fate as reason,
            delay_us
        from fated_rewards
        anti join several using (number)
        where fate not in ('none', 'timely', 'waiting', 'elsewhere')
        union all
        select *
        from repeated
        where reason not in ('timely', 'waiting', 'elsewhere')
    )

    select
        reason,
        decision_id,
        slot,
        reward,
        rewarded_at,
        delay_us / 1e6 as delay_seconds,
        file,
        row
    from reward_events
    inner join fates using (arrival)
    order by arrival
) to ${file} (format parquet, compression zstd, compression_level 1)
