-- Events that became known after the night of their decision may have closed: from and
-- to which day that decision may be, and the first night that closes no earlier.
with
moments as (
    select
        file,
        epoch_us(${received_at}) as received_us,
        epoch_us(known_at) as known_us
    from ${events}
    where isfinite(${received_at}) and isfinite(known_at)
),

placed as (
    select
        file,
        timezone($timezone, make_timestamptz(received_us - ${wait_us}))::date
            as first_day,
        timezone($timezone, make_timestamptz(received_us + ${backward_us}))::date
            as last_day,
        timezone($timezone, make_timestamptz(known_us - ${held_us} - 1))::date
            as night
    from moments
)

select distinct
    file,
    first_day,
    last_day,
    night
from placed
where night > first_day
order by all
