-- What a text column could be without a change of what it says.
with
texts as (
    select ${told} as given
    from lines
)

select
    coalesce(
        bool_and(try_cast(given as bigint)::varchar is not distinct from given), false
    ) as is_whole,
    coalesce(
        bool_and(regexp_matches(given, '^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$')),
        false
    ) as is_number
from texts
where given is not null
