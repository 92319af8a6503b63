-- Adds the bodies of a JSON file to the feedback records: each holds a list of records,
-- or is one.
insert into feedback_records
with
lists as (
    select
        row as body,
        json,
        coalesce(
            held(fields(json), 'feedbackrecords'), held(fields(json), 'records')
        ) as listed,
        coalesce(
            held(fields(json), 'userquestion'), held(fields(json), 'question')
        ) is not null as is_record
    from bodies
),

found as (
    select
        body,
        case
            when json_type(listed) = 'ARRAY' then listed::json[]
            when listed is null and is_record then [json]
            else [null]
        end as records
    from lists
),

numbered as (
    select
        body,
        unnest(records) as record,
        generate_subscripts(records, 1) as number
    from found
),

given as (
    select
        row_number() over (order by body, number) as row,
        coalesce(
            held(fields(record), 'userquestion'), held(fields(record), 'question')
        ) as question,
        held(fields(record), 'qnaid') ->> '$' as qna_id,
        held(fields(record), 'askedat') ->> '$' as asked_at,
        held(fields(record), 'eventid') ->> '$' as event_id,
        held(fields(record), 'userid') ->> '$' as user_id,
        fields(record) is null as is_broken
    from numbered
)

select
    $path as file,
    $file_digest as digest,
    row,
    question ->> '$' as question,
    whole(qna_id) as qna_id,
    instant(asked_at) as asked_at,
    event_id,
    user_id,
    case
        when is_broken then 'no feedback record'
        when json_type(question) <> 'VARCHAR'
            then 'userQuestion of type ' || json_type(question)
        when not names_no_pair(qna_id) and whole(qna_id) is null
            then 'qnaId ' || qna_id
        when asked_at is not null and instant(asked_at) is null
            then 'askedAt ' || asked_at
    end as unread
from given
