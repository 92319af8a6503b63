-- Every row of every file in its order, so that `rowid` tells its number.
create or replace table lines (
    file integer,
    kind varchar,
    event_id varchar,
    is_dated boolean,
    decided_at timestamptz,
    told_at varchar,
    action varchar,
    propensity varchar,
    reward varchar,
    slot varchar,
    sample_probability varchar,
    model_id varchar,
    context ${context}
)
