-- Adds the bodies of a JSON file to the log of questions, an object a query.
insert into logged_queries
with
given as (
    select
        row,
        held(fields(json), 'question') as question,
        held(fields(json), 'askedat') ->> '$' as asked_at,
        held(fields(json), 'eventid') ->> '$' as event_id,
        held(fields(json), 'userid') ->> '$' as user_id,
        held(fields(json), 'istest') ->> '$' as is_test,
        held(fields(json), 'answers') as answers,
        no_object(json) as wrong
    from bodies
)

select
    $path as file,
    $file_digest as digest,
    row,
    question ->> '$' as question,
    instant(asked_at) as asked_at,
    event_id,
    user_id,
    try_cast(is_test as boolean) as is_test,
    [
        answer(a.pair, a.score)
        for a in [
            {
                'pair': coalesce(held(f, 'qnaid'), held(f, 'id')) ->> '$',
                'score': coalesce(held(f, 'score'), held(f, 'confidencescore')) ->> '$'
            }
            for f in [
                fields(j)
                for j in case when json_type(answers) = 'ARRAY' then answers::json[] end
            ]
        ]
    ] as answers,
    case
        when wrong is not null then wrong
        when json_type(question) <> 'VARCHAR' then 'question ' || short(question)
        when asked_at is not null and instant(asked_at) is null
            then 'asked_at ' || short(asked_at)
        when is_test is not null and try_cast(is_test as boolean) is null
            then 'is_test ' || short(is_test)
        when json_type(answers) <> 'ARRAY' then 'answers ' || short(answers)
    end as unread
from given
