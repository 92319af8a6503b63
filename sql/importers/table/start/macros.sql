-- A finite number, null for what is none.
create or replace macro number_of(told) as case
    when isfinite(try_cast(told as double)) then try_cast(told as double)
end;

-- A reward; true is 1.
create or replace macro reward_of(told) as case lower(told)
    when 'true' then 1.0
    when 'false' then 0.0
    else number_of(told)
end;

-- A time that says its zone, or one that is declared to be UTC.
create or replace macro instant_of(told, is_utc) as case
    when is_utc or regexp_matches(told, '([Zz]|[+-]\d\d(:?\d\d)?)$')
        then try_cast(told as timestamptz)
end;
