-- The log of questions in one form, a row a query. `row` counts from 1 within its file;
-- `unread` tells what of the row could not be read.
create or replace temp table logged_queries (
    file varchar,
    digest varchar,
    row bigint,
    question varchar,
    asked_at timestamptz,
    event_id varchar,
    user_id varchar,
    is_test boolean,
    answers struct(qna_id bigint, score double, unread varchar)[],
    unread varchar
);
