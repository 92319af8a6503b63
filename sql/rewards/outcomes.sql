-- The reward of each decision that has several events, if one is inside its window.
create or replace temp table outcomes as
select
    number,
    ${of_several} as reward
from several_rewards
where fate = 'timely' and not is_duplicate
group by number
