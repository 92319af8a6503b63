-- What the columns of missing mean, and in which unit.
comment on table missing is
'One row a day, candidate, segment and kind of missing decision.';
comment on column missing.day is 'The day of the decisions.';
comment on column missing.candidate is
'Name of the candidate policy; logging is the policy that ran.';
comment on column missing.segment_by is
'Context columns that cut the segment; empty for all decisions.';
comment on column missing.segment is
'Their values in that order; empty for all decisions.';
comment on column missing.kind is 'What is missing: reward, support or both.';
comment on column missing.decision_count is 'Number of decisions.';
comment on column missing.unsupported_probability is
'Their mean candidate mass without support: probability in [0, 1].';
