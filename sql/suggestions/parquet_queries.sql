-- Adds a Parquet file to the log of questions.
insert into logged_queries
select
    $path as file,
    $file_digest as digest,
    file_row_number + 1 as row,
    ${their_question} as question,
    ${their_asked_at} as asked_at,
    ${their_event_id} as event_id,
    ${their_user_id} as user_id,
    ${their_is_test} as is_test,
    ${their_answers} as answers,
    null as unread
from read_parquet(${files}, file_row_number = true)
