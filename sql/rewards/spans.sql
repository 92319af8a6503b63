-- When the events of each file were received, and became known, in microseconds.
select
    file,
    min(epoch_us(${received_at})) as first_us,
    max(epoch_us(${received_at})) as last_us,
    max(epoch_us(greatest(${received_at}, known_at))) as newest_us
from ${events}
where isfinite(${received_at}) and isfinite(known_at)
group by file
order by file
