-- How many events repeat a reward_id of their decision, and how many of those differ.
select
    count(*) filter (where is_duplicate) as duplicates,
    count(*) filter (where is_duplicate and is_contradicting) as contradicting
from several_rewards
