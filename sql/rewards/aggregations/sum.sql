-- All rewards together.
create or replace temp macro aggregate(reward, delay_us, arrival) as
plainly(sum(exactly(reward)))
