-- How often several rewards of one factor, of different values, were received first.
with
firsts as (
    select
        number,
        min(reward) <> max(reward) as is_tie
    from several_rewards
    where fate = 'timely' and not is_duplicate
    group by number, factor, delay_us
    qualify delay_us = min(delay_us) over (partition by number, factor)
)

select count(*) as tie_count
from firsts
where is_tie
