-- An event_id that stands twice says the same twice.
-- Do: give each query an id of its own; a retry repeats id and content.
with
contents as (
    select
        file,
        row,
        event_id,
        hash(question, asked_at, user_id, is_test, answers) as content
    from logged_queries
    where event_id is not null
),

contradicted as (
    select event_id
    from contents
    group by event_id
    having min(content) <> max(content)
)

select
    file,
    row,
    event_id as value
from contents
semi join contradicted using (event_id)
