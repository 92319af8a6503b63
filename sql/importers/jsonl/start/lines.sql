-- Every line of every file in its order, so that `rowid` tells its number.
create or replace table lines (
    file integer,
    kind varchar,
    event_id varchar,
    is_dated boolean,
    decided_at timestamptz,
    input json,
    action json,
    names varchar[],
    probabilities json[],
    reward json
)
