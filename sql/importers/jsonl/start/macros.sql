-- What is read of a case; types are kept, so that they can be refused.
create or replace macro case_of(line) as from_json(
    line,
    '{
        "id": "JSON",
        "input": "JSON",
        "decided_at": "JSON",
        "expected": {"action": "JSON", "logging_probabilities": "JSON", "reward": "JSON"}
    }'
);

create or replace macro is_number(value) as coalesce(
    json_type(value) in ('DOUBLE', 'BIGINT', 'UBIGINT', 'HUGEINT'), false
);

-- The text of a name or a number.
create or replace macro name_of(value) as case
    when is_number(value) or json_type(value) = 'VARCHAR' then value ->> '$'
end;

-- A time that says its zone.
create or replace macro instant_of(value) as case
    when regexp_matches(value ->> '$', '([Zz]|[+-]\d\d(:?\d\d)?)$')
        then try_cast(value ->> '$' as timestamptz)
end;
