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
        fields(json) is null as is_broken
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
        when is_broken then 'no readable JSON object'
        when json_type(question) <> 'VARCHAR'
            then 'question of type ' || json_type(question)
        when asked_at is not null and instant(asked_at) is null
            then 'asked_at ' || asked_at
        when is_test is not null and try_cast(is_test as boolean) is null
            then 'is_test ' || is_test
        when json_type(answers) <> 'ARRAY'
            then 'answers of type ' || json_type(answers)
    end as unread
from given
