-- Adds a Parquet file to the feedback records.
insert into feedback_records
select
    $path as file,
    $file_digest as digest,
    file_row_number + 1 as row,
    ${their_question} as question,
    whole(${their_qna_id}) as qna_id,
    ${their_asked_at} as asked_at,
    ${their_event_id} as event_id,
    ${their_user_id} as user_id,
    case
        when not names_no_pair(${their_qna_id}) and whole(${their_qna_id}) is null
            then 'qna_id ' || ${their_qna_id}::varchar
    end as unread
from read_parquet(${files}, file_row_number = true)
