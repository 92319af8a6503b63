-- How many observations say a number; others activate, or say something else.
create or replace macro value_count(observations) as list_count(
    [o.v for o in observations]
);

create or replace macro is_silent(observations, outcomes) as
coalesce(len(observations) > value_count(observations), false)
or coalesce(list_bool_or([len(s._o) > value_count(s._o) for s in outcomes]), false);

-- Observed values of any kind, where some are no numbers.
create or replace macro valued_of(line) as from_json(
    line,
    '{"o": [{"v": "JSON"}], "_outcomes": [{"_o": [{"v": "JSON"}]}]}'
);

-- Those of a decision, or of the slot at `number`, that are no numbers.
create or replace macro others_of(valued, is_single, number) as list_filter(
    [o.v for o in if(is_single, valued['o'], valued['_outcomes'][number]['_o'])],
    lambda v: v is not null
    and json_type(v) not in ('DOUBLE', 'BIGINT', 'UBIGINT', 'HUGEINT')
);

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
