-- Observed values of any kind, where some are no numbers.
create or replace macro valued_of(line) as from_json(
    line,
    '{"o": [{"v": "JSON"}], "_outcomes": [{"_o": [{"v": "JSON"}]}]}'
);

-- How many observations say no number: an activation, or a value of another kind.
create or replace macro silent_of(observations) as list_count(
    list_filter(observations, lambda o: o.v is null)
);

-- An event that was deferred and that no observation activated, by the mark of today or
-- by the older ones.
create or replace macro is_unactivated_by(event, line) as case
    when event['_skipLearn'] then true
    when event['_deferred'] or event['DeferredAction']
        then not (
            list_contains(json_extract_string(line, '$.o[*].ActionTaken'), 'true')
            or list_contains(
                json_extract_string(line, '$.o[*].DeferredAction'), 'false'
            )
        )
    else false
end;

-- NaN for what is no number.
create or replace macro pdrop_of(told) as coalesce(
    try_cast(told ->> '$' as double), if(told is null, 0.0, 'nan'::double)
);

-- Observed values that are no numbers.
create or replace macro others_of(observations) as list_filter(
    [o.v for o in observations],
    lambda v: v is not null
    and json_type(v) not in ('DOUBLE', 'BIGINT', 'UBIGINT', 'HUGEINT')
);

-- Tags where they tell the actions of an event apart, else positions from 0.
create or replace macro names_of(tags) as case
    when list_unique(tags) = len(tags) then tags
    else [i::varchar for i in range(len(tags))]
end;

-- The one number at the declared path of observed values, null where there is none or
-- more than one.
create or replace macro numbers_at(others, path) as list_distinct([
    (v ->> path)::double
    for v in others
    if json_type(v, path) in ('DOUBLE', 'BIGINT', 'UBIGINT', 'HUGEINT')
]);

create or replace macro reward_of(others, path) as case
    when len(numbers_at(others, path)) = 1 then numbers_at(others, path)[1]
end;

-- The distribution over `places` that is certain of the one at `place`.
create or replace macro one_at(place, places) as list_concat(
    list_resize([]::double[], place - 1, 0.0),
    list_resize([1.0::double], places - place + 1, 0.0)
);
