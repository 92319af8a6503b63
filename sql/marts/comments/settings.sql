-- What the columns of settings mean, and in which unit.
comment on table settings is
'One row: what the job declares by design, and how its evidence is read back.';
comment on column settings.job is 'Name of the job, as its job file says.';
comment on column settings.reward_lowest is
'The lowest reward that a decision can have.';
comment on column settings.reward_highest is
'The highest reward that a decision can have.';
comment on column settings.propensity_floor is
'Least logging probability of an action with support, in (0, 1].';
comment on column settings.largest_weight is
'No weight on a supported action is larger.';
comment on column settings.least_sample_probability is
'Least probability that a decision was kept, in (0, 1].';
comment on column settings.rounding is
'How far the grid can move an estimate, of rewards scaled to [0, 1].';
comment on column settings.is_support_known is
'Whether the log tells what a candidate does without support.';
comment on column settings.confidence is 'Of intervals: probability in (0, 1).';
comment on column settings.method is
'How intervals are made: fixed, anytime, mixture or compat.';
comment on column settings.logging is
'Whether the logging policy learns: fixed, adaptive or reacting.';
comment on column settings.assumes is
'Of the mean reward: constant_mean or running_average.';
