-- How many rows of a log there are, and how many are left out and why.
select
    count(*) as all_count,
    count(*) filter (where ${is_test}) as test_count,
    count(*) filter (
        where not ${is_test} and not regexp_matches(question, $visible)
    ) as empty_count,
    count(*) filter (
        where
        not ${is_test}
        and regexp_matches(question, $visible)
        and length(question) > $longest
    ) as too_long_count
from ${log}
