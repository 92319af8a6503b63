-- The lowest reward.
create or replace temp macro aggregate(reward, delay_us, arrival) as
min(reward)
