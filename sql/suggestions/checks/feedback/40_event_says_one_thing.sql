-- An event_id that stands twice says the same twice.
-- Do: give each feedback record an id of its own; a retry repeats id and content.
with
contents as (
    select
        file,
        row,
        event_id,
        hash(question, qna_id, asked_at, user_id) as content
    from feedback_records
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
