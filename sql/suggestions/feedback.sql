-- The feedback records in one form. `row` counts records from 1 within their file, over
-- all of its bodies; `unread` tells what of a record could not be read.
create or replace temp table feedback_records (
    file varchar,
    digest varchar,
    row bigint,
    question varchar,
    qna_id bigint,
    asked_at timestamptz,
    event_id varchar,
    user_id varchar,
    unread varchar
);
