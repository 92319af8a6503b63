-- The decisions with more than one event; most have one at most, and need no more.
create or replace temp table several as
select number
from joined_rewards
where delay_us is not null
group by number
having count(*) > 1;

-- Their events. Of those with one reward_id the one received first is its first copy;
-- one received before the window is so only where no other is: whether it is looked at
-- at all depends on where the border of the day lies.
create or replace temp table several_rewards as
with
copied as (
    select
        fated_rewards.*,
        row_number() over same_id as copy,
        row(reward, factor, met) <> first_value(row(reward, factor, met)) over same_id
            as is_contradicting
    from fated_rewards
    semi join several using (number)
    window
        same_id as (
            partition by number, identity
            order by fate = 'too_early', delay_us, arrival
        )
)

select
    number,
    arrival,
    delay_us,
    reward,
    factor,
    met,
    is_wrong_item,
    is_waiting,
    is_deferred,
    is_contradicting,
    fate,
    identity is not null and copy > 1 as is_duplicate
from copied;

-- Every event, duplicates once.
create or replace temp view distinct_rewards as
select
    delay_us,
    fate,
    is_wrong_item
from fated_rewards
anti join several using (number)
where fate <> 'none'
union all
select
    delay_us,
    fate,
    is_wrong_item
from several_rewards
where not is_duplicate
