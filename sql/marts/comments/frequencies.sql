-- What the columns of frequencies mean, and in which unit.
comment on table frequencies is
'One row an action and day: how often it was logged.';
comment on column frequencies.day is 'The day; null for all days together.';
comment on column frequencies.action is 'Name of the action.';
comment on column frequencies.listed is 'Number of decisions that could take it.';
comment on column frequencies.logged is 'Number of decisions that took it.';
comment on column frequencies.expected is
'Number of decisions that would, by their logged probabilities.';
comment on column frequencies.standard_error is
'Of logged minus expected, in decisions.';
comment on column frequencies.z is
'Logged minus expected, in standard errors; null without any.';
comment on column frequencies.allowed is
'Largest difference that is no finding, in decisions.';
comment on column frequencies.is_deviating is
'Whether the difference is larger than chance allows.';
