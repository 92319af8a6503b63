-- The table of revisions before any night moved.
create table revisions (
    night date,
    known_from date,
    candidate varchar,
    other varchar,
    estimand varchar,
    estimate_before double,
    lower_before double,
    upper_before double,
    estimate_after double,
    lower_after double,
    upper_after double,
    run_id varchar
)
