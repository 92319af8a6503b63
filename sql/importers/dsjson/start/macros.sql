-- What a line is before it is parsed.
create or replace macro looks_of(line) as case
    when starts_with(line, '{') and json_valid(line) then 'event'
    when line is null or trim(line, chr(9) || ' ') = '' then 'blank'
    when not starts_with(ltrim(line, chr(9) || ' '), '{') then 'marker'
    when json_valid(line) then 'event'
    else 'malformed'
end;

-- `_label_cost` counts in any case; whether it is missing as the service wrote it.
create or replace macro lacks_cost(event) as
event['_label_cost'] is null
and (
    event['_outcomes'] is null
    or list_count([s._label_cost for s in event['_outcomes']])
    < len(event['_outcomes'])
);

create or replace macro costs_of(line) as from_json(
    regexp_replace(line, '"_label_cost"', '"_label_cost"', 'gi'),
    '{"_label_cost": "DOUBLE", "_outcomes": [{"_label_cost": "DOUBLE"}]}'
);

create or replace macro kind_of(looks, event, cost) as case
    when looks <> 'event' then looks
    when event['_label_ca'] is not null then 'continuous'
    when event['_outcomes'] is not null and cost is null then 'slots'
    when event['_outcomes'] is not null then 'slates'
    when cost is not null or event['a'] is not null then 'single'
    when event['RewardValue'] is not null or event['EnqueuedTimeUtc'] is not null
        then 'dangling'
    else 'unknown'
end;

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

-- Tags where they tell the actions of an event apart, else positions from 0.
create or replace macro names_of(tags) as case
    when list_unique(tags) = len(tags) then tags
    else [i::varchar for i in range(len(tags))]
end;

-- The distribution over `places` that is certain of the one at `place`.
create or replace macro one_at(place, places) as list_concat(
    list_resize([]::double[], place - 1, 0.0),
    list_resize([1.0::double], places - place + 1, 0.0)
);

-- A feature of the context. A list of objects stands for one that holds them all.
create or replace macro feature_of(value, path, path_in_list) as case
    when json_type(value) = 'ARRAY'
        then list_filter(
            json_extract(value, path_in_list), lambda v: json_type(v) <> 'NULL'
        )[1]
    else json_extract(value, path)
end;
