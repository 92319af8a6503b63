-- Adds the lines of files.
insert into lines
with
raw as (
    select
        file,
        line,
        case
            when line is null or trim(line, chr(9) || ' ') = '' then 'blank'
            when not starts_with(ltrim(line, chr(9) || ' '), '{') then 'malformed'
            when json_valid(line) then 'case'
            else 'malformed'
        end as kind
    from ${source}
),

read as (
    select
        file,
        kind,
        case_of(case when kind = 'case' then line end) as told
    from raw
),

parted as (
    select
        *,
        told['expected']['logging_probabilities'] as distribution
    from read
)

select
    file,
    kind,
    name_of(told['id']) as event_id,
    told['decided_at'] is not null as is_dated,
    instant_of(told['decided_at']) as decided_at,
    told['input'] as input,
    told['expected']['action'] as action,
    case when json_type(distribution) = 'OBJECT' then json_keys(distribution) end
        as names,
    case
        when json_type(distribution) = 'OBJECT' then json_extract(distribution, '$.*')
    end as probabilities,
    told['expected']['reward'] as reward
from parted
