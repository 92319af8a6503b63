-- How values that may be written in several ways are read; null where they cannot be.

-- A whole number, also as text or as a float without fraction.
create or replace temp macro whole(given) as
case
    when try_cast(given as double) = try_cast(given as bigint)
        then try_cast(given as bigint)
end;

-- Whether a feedback record says in words that no pair was chosen.
create or replace temp macro names_no_pair(given) as
lower(trim(given::varchar)) in ('', 'null', 'nan', 'none', 'none of the above');

-- An instant: date, time and zone.
create or replace temp macro instant(given) as
case
    when regexp_matches(given, '\d:\d\d.*(?:[zZ]|[+-]\d\d(?::?\d\d)?)$')
        then try_cast(given as timestamptz)
end;

-- The fields of a JSON object; null for anything else, and when one stands twice.
create or replace temp macro fields(given) as
json_transform(given, '"MAP(VARCHAR, JSON)"');

-- What fields hold under a name, in any case, with or without underscores.
create or replace temp macro held(given, name) as
list_filter(
    map_entries(given), lambda e: lower(replace(e.key, '_', '')) = name
)[1].value;

-- As much of a JSON value as is masked before its beginning is told.
create or replace temp macro short(given) as
left(given::varchar, 1000);

-- Names as they are compared: in any case, with or without underscores.
create or replace temp macro plain(names) as
[lower(replace(n, '_', '')) for n in names];

-- What is wrong with a JSON value that is to be an object; null where it is one.
create or replace temp macro no_object(given) as
case
    when given is null then 'no JSON'
    when json_type(given) <> 'OBJECT' then short(given) || ' in place of an object'
    when len(list_distinct(plain(json_keys(given)))) < len(json_keys(given))
        then 'names that stand twice: ' || array_to_string(json_keys(given), ', ')
end;

-- The records of a body of feedback; null in JSON where it has none.
create or replace temp macro listed(given) as
coalesce(
    held(fields(given), 'feedbackrecords'), held(fields(given), 'records'), 'null'
);

-- Whether a JSON object has a field of one of these names.
create or replace temp macro has(given, names) as
list_has_any(plain(json_keys(given)), names);

-- One answer of the bot; `unread` tells what of it could not be read.
create or replace temp macro answer(pair, given) as {
    'qna_id': whole(pair),
    'score': try_cast(given as double),
    'unread': case
        when pair is null then 'no id'
        when whole(pair) is null then 'id ' || pair::varchar
        when given is not null and try_cast(given as double) is null
            then 'score ' || given::varchar
    end
};
