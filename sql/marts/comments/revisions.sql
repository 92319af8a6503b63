-- What the columns of revisions mean, and in which unit.
comment on table revisions is
'One row an estimate since the start that moved when its night was made again.';
comment on column revisions.night is 'The night whose estimate moved.';
comment on column revisions.known_from is
'The night that is the first to know what moved it.';
comment on column revisions.candidate is
'Name of the candidate policy; logging is the policy that ran.';
comment on column revisions.other is
'Of a compared pair the second candidate, else empty.';
comment on column revisions.estimand is 'value, improvement or difference.';
comment on column revisions.estimate_before is
'The estimate before, in the unit of the reward.';
comment on column revisions.lower_before is
'Lower end of the interval before, in the unit of the reward.';
comment on column revisions.upper_before is
'Upper end of the interval before, in the unit of the reward.';
comment on column revisions.estimate_after is
'The estimate after, in the unit of the reward.';
comment on column revisions.lower_after is
'Lower end of the interval after, in the unit of the reward.';
comment on column revisions.upper_after is
'Upper end of the interval after, in the unit of the reward.';
comment on column revisions.run_id is 'The run that made the night again.';
