-- Gives back the memory of what was joined.
drop table if exists joined_rewards;
drop table if exists lost_slots;
drop table if exists several;
drop table if exists several_rewards;
drop table if exists outcomes;
drop table if exists joined_activations;
drop table if exists activated;
drop table if exists judgements
