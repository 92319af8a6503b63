-- The table of violations before any run was stopped.
create table violations (
    day date,
    rule varchar,
    file varchar,
    row bigint,
    decision_id varchar,
    value varchar,
    is_repaired boolean
)
