-- What the columns of runs mean, and in which unit.
comment on table runs is
'One row a run of the command; the only table that holds times of runs.';
comment on column runs.run_id is 'Names the run; in the order of their starts.';
comment on column runs.night is
'The newest night the run was asked for; null where it was refused.';
comment on column runs.started_at is 'When the run started, UTC.';
comment on column runs.finished_at is 'When the run ended, UTC.';
comment on column runs.untaken_version is 'The version that ran.';
comment on column runs.job_digest is
'Of the job file''s settings: equal digests, equal settings.';
comment on column runs.days_read is 'Number of days of the log that were read.';
comment on column runs.nights_estimated is
'Number of nights whose estimates were made.';
comment on column runs.decision_count is
'Number of decisions of all days up to the night.';
comment on column runs.exit_code is
'0 done, 1 a gate failed, 2 refused, 3 not enough evidence.';
comment on column runs.message is 'Why the run was refused; null where it was not.';
