-- What the columns of violations mean, and in which unit.
comment on table violations is
'One row a violation that made a run stop; marked once its day was repaired.';
comment on column violations.day is
'The day of the log; null where the decisions have no time.';
comment on column violations.rule is 'The rule that the row breaks.';
comment on column violations.file is 'The file of the log.';
comment on column violations.row is 'Row of the file, from 1.';
comment on column violations.decision_id is
'The decision; null where the row has no id.';
comment on column violations.value is 'The value found.';
comment on column violations.is_repaired is
'Whether the day has passed the checks since, or is gone.';
