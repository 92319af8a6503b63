-- What is judged of each decision, in the order of the log. The reward is settled when
-- it lies in its range but for rounding, or is to be clipped.
create or replace temp table judgements as
with
together as (
    select distinct
        number,
        is_waiting,
        is_deferred
    from several_rewards
),

heard as (
    select
        number,
        is_waiting,
        is_deferred,
        coalesce(is_timely(delay_us, is_waiting), false) as is_rewarded,
        case when is_timely(delay_us, is_waiting) then ${of_one} end as reward
    from fated_rewards
    anti join several using (number)
    where number is not null
    union all
    select
        together.number,
        together.is_waiting,
        together.is_deferred,
        outcomes.number is not null as is_rewarded,
        outcomes.reward
    from together
    left join outcomes on together.number = outcomes.number
),

joined as (
    select
        number,
        is_rewarded,
        is_waiting as is_immature,
        is_deferred and not (${was_activated}) as is_unactivated,
        reward as joined_reward
    from heard
    ${joins}
)

select
    number,
    is_rewarded,
    is_immature,
    is_unactivated,
    case
        when ${is_outside} and not ${clip} then joined_reward
        else greatest(least(joined_reward, ${highest}), ${lowest})
    end as reward,
    coalesce(${is_outside}, false) as is_outside
from joined
order by number
