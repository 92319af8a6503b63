-- Adds the bodies of a JSON file to the feedback records: each holds a list of records,
-- or is one.
insert into feedback_records
with
lists as (
    select
        *,
        has(json, ['userquestion', 'question']) as is_record,
        has(json, ['feedbackrecords', 'records']) as is_list,
        listed(json) as listed
    from bodies
),

found as (
    select
        row as body,
        case
            when is_list and json_type(listed) = 'ARRAY' then listed::json[]
            when is_record and not is_list then [json]
            else [null]
        end as records,
        case
            when no_object(json) is not null
                then 'body ' || row || ': ' || no_object(json)
            when is_list and json_type(listed) <> 'ARRAY'
                then 'feedbackRecords are ' || short(listed)
            when not (is_list or is_record)
                then 'no feedbackRecords: ' || short(json)
        end as wrong
    from lists
),

numbered as (
    select
        body,
        unnest(records) as record,
        generate_subscripts(records, 1) as number,
        wrong
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
        coalesce(wrong, no_object(coalesce(record, 'null'))) as wrong,
        -- A name that was surely meant for the pair's.
        list_filter(
            json_keys(record),
            lambda k: levenshtein(plain([k])[1], 'qnaid') between 1 and 2
        )[1] as misspelt
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
        when wrong is not null then wrong
        when json_type(question) <> 'VARCHAR' then 'userQuestion ' || short(question)
        when not names_no_pair(qna_id) and whole(qna_id) is null
            then 'qnaId ' || short(qna_id)
        when qna_id is null and misspelt is not null
            then 'no qnaId, but ' || misspelt
        when asked_at is not null and instant(asked_at) is null
            then 'askedAt ' || short(asked_at)
    end as unread
from given
