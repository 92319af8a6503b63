-- The reward received first; of several at one instant, the one that arrived first.
create or replace temp macro aggregate(reward, delay_us, arrival) as
arg_min(reward, order_of(delay_us, arrival))
