-- What the columns of candidates mean, and in which unit.
comment on table candidates is
'One row a candidate, the logging policy among them.';
comment on column candidates.candidate is
'Name of the candidate policy; logging is the policy that ran.';
comment on column candidates.is_logging is 'Whether it is the policy that ran.';
comment on column candidates.largest_weight is
'No weight of it on a supported action is larger, by its design.';
comment on column candidates.fixed_at is
'The night since when it was left alone; null where none is declared.';
