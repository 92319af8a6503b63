-- All rewards together, over their number.
create or replace temp macro aggregate(reward, delay_us, arrival) as
plainly(sum(exactly(reward))) / count(reward)
