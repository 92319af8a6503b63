"""Nothing is suggested without a reason."""

from __future__ import annotations

import polars as pl
import pytest

from flows.suggestions.reasons import ORDER, SENTENCES, words
from flows.suggestions.schema import Rules

RESET = {"text": "reset password", "qna_id": 1}


def told(bot, *rows, **options):
    """Reasons for all pairs together and for pair 1, in words."""
    table = bot.asked(*rows, **options).listing.reasons
    overall = table.filter(scope="all")
    pair = table.filter(scope="pair", qna_id=1)
    return tuple(
        [words(*row) for row in part.select("reason", "count", "of").iter_rows()]
        for part in (overall, pair)
    )


def test_no_query_was_read(bot):
    assert told(bot, read=0)[0] == ["no query was read"]


def test_queries_were_read_and_none_came_near(bot):
    overall, pair = told(bot, read=12)
    assert overall == pair == ["none of the queries read came near: 12"]


def test_only_pairs_that_there_are_not_were_named(bot):
    text = "answers and records of pairs that the knowledge base does not have: 3"
    assert told(bot, read=3, unknown_count=3)[0] == [text]
    rows = [RESET | {"times": 4}]
    assert told(bot, *rows, unknown_count=3)[0][1:] == [text]


def test_q23_the_largest_group_is_too_small(bot):
    text = "the largest group holds 4 of 5 similar queries"
    assert told(bot, RESET | {"times": 4}) == ([text], [text])
    outcome = bot.asked(RESET | {"times": 5})
    assert outcome.listing.reasons.filter(scope="all").is_empty()
    assert outcome.listing.suggestions["size"].to_list() == [5]


def test_pairs_without_a_suggestion_have_reasons_of_their_own(bot):
    rows = [RESET | {"times": 5}, {"text": "x", "qna_id": 2, "times": 3}]
    reasons = bot.asked(*rows).listing.reasons
    assert reasons.select("scope", "qna_id", "reason", "count", "of").rows() == [
        ("pair", 2, "below_minimum", 3, 5),
        ("pair", 3, "no_near_scores", 0, 8),
    ]


def test_q09_all_are_known(bot):
    text = "already known: 9 queries"
    assert told(bot, {"text": "Help me!", "qna_id": 1, "times": 9}) == ([text], [text])


def test_all_are_masked(bot):
    rows = [{"text": "my card <card>", "qna_id": 1, "times": 7}]
    assert told(bot, *rows)[0] == ["holding personal data: 7 queries"]


def test_all_are_rejected_or_nearly_so(bot, ids):
    bot.decides("rejected", *ids(bot.asked(RESET | {"times": 5})))
    assert told(bot)[1] == ["rejected before: 5 queries"]
    near = {"text": "reset passwords", "qna_id": 1, "times": 6, "batch": 1}
    assert told(bot, near)[1] == [
        "rejected before: 5 of 11 queries",
        "nearly the same as a rejected text: 6 of 11 queries",
    ]


def test_all_are_accepted(bot, ids):
    bot.decides("accepted", *ids(bot.asked(RESET | {"times": 5})))
    assert told(bot)[1] == ["accepted before: 5 queries"]


def test_too_few_users_asked(bot):
    bot.rules = Rules(minimum_users=3)
    text = "the largest group comes from 1 of 3 users"
    assert told(bot, RESET | {"times": 6, "user": 7}) == ([text], [text])


def test_texts_without_a_pair_fit_none(bot):
    overall, pair = told(bot, {"text": "zebra", "times": 6})
    assert overall == ["fitting no pair clearly: 6 queries"]
    assert pair == ["none of the queries read came near: 6"]


def test_every_reason_that_holds_is_told_the_nearest_to_a_suggestion_first(bot):
    rows = [
        {"text": "help me", "qna_id": 1, "times": 2},
        {"text": "open hours", "qna_id": 1},
        RESET | {"times": 3},
    ]
    assert told(bot, *rows)[1] == [
        "the largest group holds 3 of 5 similar queries",
        "already known: 2 of 6 queries",
        "a question of another pair: 1 of 6 queries",
    ]


def test_learning_is_switched_off(bot, ids):
    (one,) = ids(bot.asked(RESET | {"times": 5}))
    outcome = bot.asked(RESET | {"times": 9, "batch": 1}, is_learning=False)
    assert (outcome.new_count, outcome.is_learning) == (0, False)
    assert bot.table("signals").height == 5
    # What waits for a decision still does.
    assert ids(outcome) == [one]
    text = "learning is switched off in the settings of the knowledge base"
    assert told(bot, is_learning=False) == ([text], [text])


@pytest.mark.parametrize("reason", ORDER)
def test_every_reason_has_a_sentence(reason):
    assert set(SENTENCES) == set(ORDER)
    assert "{" not in words(reason, 1, 2)
    assert words(reason, 3, 3) != ""


def test_one_query_is_not_called_queries():
    assert words("known", 1, 1) == "already known: 1 query"


@pytest.mark.parametrize("seed", range(12))
def test_whoever_gets_nothing_is_told_why(bot, seed):
    texts = ["help me", "open hours", "reset a", "reset b", "my <card>", "zebra"]
    kinds = [{"qna_id": 1}, {"qna_id": 2}, {"kind": "gap"}, {}, {"qna_id": 9}]
    rows = [
        {"text": text, "times": times} | kind
        for text in texts
        for kind, times in zip(kinds, (1, 2, 3, 5, 6), strict=True)
    ]
    order = pl.Series(range(len(rows))).shuffle(seed)
    listing = bot.asked(*(rows[place] for place in order[: seed + 1])).listing
    silent = {1, 2, 3} - set(listing.suggestions["qna_id"])
    told_pairs = listing.reasons.filter(scope="pair")["qna_id"]
    assert silent == set(told_pairs)
    has_reason = listing.reasons.filter(scope="all").height > 0
    assert has_reason == listing.suggestions.is_empty()
