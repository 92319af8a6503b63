-- The queries that count, with what the bot made of them. A query without logged
-- answers, or whose answers have no scores, is `unassigned`; one without any answer, or
-- with no score above the lowest, is a `gap`. Ids that are not positive say that the
-- bot had no answer, unless the knowledge base has such a pair.
with
asked as (
    select
        *,
        list_filter(
            answers,
            lambda a: a.qna_id > 0 or list_contains($unusual_pairs::bigint[], a.qna_id)
        ) as named
    from logged_queries
    where
        is_test is not true
        and regexp_matches(question, $visible)
        and length(question) <= $longest
        and rowid >= $first
        and rowid < $after
),

judged as (
    select
        *,
        case
            when named is null then 'unassigned'
            when len(named) = 0 then 'gap'
            when named[1].score is null then 'unassigned'
            when list_max([a.score for a in named]) <= $lowest_top then 'gap'
            else 'scored'
        end as outcome
    from asked
)

select
    digest,
    row,
    event_id,
    asked_at,
    question,
    user_id,
    outcome,
    case
        when outcome = 'scored'
            then [{ 'qna_id': a.qna_id, 'score': a.score } for a in named]
    end as answers,
    case when outcome = 'unassigned' then named[1].qna_id end as bot_qna_id
from judged
