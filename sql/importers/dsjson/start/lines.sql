-- What is read of a line; names as the service wrote them. Numbers of observations are
-- read here, whatever else they hold by `valued_of`. `features` are the parts of the
-- context that were asked for.
create or replace macro event_of(line) as from_json(
    line,
    '{
        "EventId": "VARCHAR",
        "Timestamp": "VARCHAR",
        "EnqueuedTimeUtc": "VARCHAR",
        "RewardValue": "JSON",
        "_label_cost": "DOUBLE",
        "_original_label_cost": "DOUBLE",
        "_label_Action": "BIGINT",
        "_labelIndex": "BIGINT",
        "_label_ca": "JSON",
        "_skipLearn": "BOOLEAN",
        "_deferred": "BOOLEAN",
        "DeferredAction": "BOOLEAN",
        "pdrop": "JSON",
        "a": ["BIGINT"],
        "p": ["DOUBLE"],
        "o": [{"v": "DOUBLE"}],
        "c": {"_multi": [{"_tag": "VARCHAR"}]${context}},
        "_ba": ["BIGINT"],
        "VWState": {"m": "VARCHAR"},
        "_outcomes": [{
            "_id": "VARCHAR",
            "_label_cost": "DOUBLE",
            "_original_label_cost": "DOUBLE",
            "_a": ["BIGINT"],
            "_p": ["DOUBLE"],
            "_o": [{"v": "DOUBLE"}]
        }]
    }'
);

-- Every line of every file in its order, a row for each slot, at its place from 0; a
-- line without slots has one row. Of a line that is no event, `kind` alone is known.
-- `available` holds positions of actions from 1 on, in the order of the log, and
-- `probabilities` stands parallel to them; `layout` names them, with their tags.
create or replace table slots (
    file integer,
    line_hash ubigint,
    kind varchar,
    slot_count bigint,
    place integer,
    event_id varchar,
    slot_id varchar,
    is_dated boolean,
    decided_at timestamptz,
    pdrop double,
    model_id varchar,
    is_unactivated boolean,
    least_action bigint,
    tells_observed boolean,
    tags varchar[],
    available bigint[],
    probabilities double[],
    chosen bigint,
    baseline bigint,
    layout ubigint,
    reward double,
    is_differing boolean,
    is_observed boolean,
    fault varchar,
    is_counted boolean,
    features json[]
);
