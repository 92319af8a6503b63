-- The highest reward, which may lie below 0.
create or replace temp macro aggregate(reward, delay_us, arrival) as
max(reward)
