-- The feedback records that count. An id that is not positive says that no pair was
-- chosen, unless the knowledge base has such a pair.
select
    digest,
    row,
    event_id,
    asked_at,
    question,
    user_id,
    case
        when qna_id > 0 or list_contains($unusual_pairs::bigint[], qna_id)
            then qna_id
    end as qna_id
from feedback_records
where
    regexp_matches(question, $visible)
    and length(question) <= $longest
    and rowid >= $first
    and rowid < $after
