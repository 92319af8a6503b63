-- What is read of a line; names as the service wrote them. Numbers of observations are
-- read here, whatever else they hold by `valued_of`.
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
        "c": {"_multi": [{"_tag": "VARCHAR"}]},
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

-- Every line of every file in its order, so that `rowid` tells its number. A line that
-- is no event has `kind` alone; `valued` is null where all observations say numbers.
create or replace table lines (
    file integer,
    line_hash ubigint,
    kind varchar,
    event_id varchar,
    is_dated boolean,
    decided_at timestamptz,
    pdrop double,
    model_id varchar,
    tags varchar[],
    cost double,
    original double,
    labelled bigint,
    is_contradicted boolean,
    a bigint[],
    p double[],
    o struct(v double)[],
    slots struct(
        _id varchar,
        _label_cost double,
        _original_label_cost double,
        _a bigint[],
        _p double[],
        _o struct(v double)[]
    )[],
    baselines bigint[],
    valued struct(o struct(v json)[], _outcomes struct(_o struct(v json)[])[]),
    is_unactivated boolean
);
