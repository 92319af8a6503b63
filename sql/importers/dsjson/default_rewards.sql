-- The reward that each file counted where none was observed. A file has one: a change of
-- the default opens a new folder. Whatever else was counted came from an observation
-- that was not written down.
create or replace table default_rewards as
select
    file,
    arg_max(reward, { 'times': decision_count, 'nearness': -abs(reward) })
        as default_reward
from costs
where reward is not null
group by file
