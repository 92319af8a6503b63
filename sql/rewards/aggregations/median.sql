-- The reward in the middle; the mean of the two there, where their number is even.
create or replace temp macro aggregate(reward, delay_us, arrival) as
median(reward)
