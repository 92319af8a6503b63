"""What is shown, when it is news, and what became of it."""

from __future__ import annotations

import polars as pl
import pytest

from flows.suggestions.schema import Rules

RESET = {"text": "reset password", "qna_id": 1}
CODE = {"text": "reset code", "qna_id": 1}


def status(bot):
    table = bot.table("suggestions")
    return dict(table.select("suggestion", "status").iter_rows())


def fresh(outcome):
    shown = outcome.listing.suggestions
    return shown.filter("is_fresh")["suggestion"].to_list()


def test_five_queries_are_shown_and_four_are_not(bot, ids):
    assert ids(bot.asked(RESET | {"times": 2}, CODE | {"times": 2})) == []
    outcome = bot.asked(CODE | {"batch": 1})
    (row,) = outcome.listing.suggestions.iter_rows(named=True)
    assert (row["head"], row["size"], row["text_count"]) == ("reset code", 5, 2)


def test_near_scores_and_feedback_both_count(bot):
    outcome = bot.asked(RESET | {"times": 3}, RESET | {"times": 2, "kind": "user"})
    texts = outcome.listing.texts.select("auto_count", "user_count")
    assert texts.rows() == [(3, 2)]


def test_users_can_be_asked_for(bot, ids):
    bot.rules = Rules(minimum_users=2)
    assert ids(bot.asked(RESET | {"times": 6, "user": 7})) == []
    assert len(ids(bot.asked(CODE | {"user": 8, "batch": 1}))) == 1


def test_a_user_who_asks_two_texts_is_one_user(bot):
    outcome = bot.asked(RESET | {"times": 3, "user": 7}, CODE | {"times": 3, "user": 7})
    row = outcome.listing.suggestions.row(0, named=True)
    assert (row["users"], row["is_one_user"]) == (1, True)


def test_queries_without_a_user_are_of_as_many_users(bot):
    row = bot.asked(RESET | {"times": 5}).listing.suggestions.row(0, named=True)
    assert (row["users"], row["is_one_user"]) == (5, False)


def test_a_suggestion_is_news_once_then_when_it_grew_by_half(bot):
    assert len(fresh(bot.asked(RESET | {"times": 6}))) == 1
    for day, (more, is_news) in enumerate([(0, 0), (2, 0), (3, 1), (6, 0)], 1):
        outcome = bot.asked(RESET | {"batch": 1, "times": more}, day=day)
        assert len(fresh(outcome)) == is_news, day
        assert outcome.listing.suggestions.height == 1
    assert outcome.listing.suggestions["size"].to_list() == [12]


def test_a_new_head_is_news(bot):
    bot.asked(RESET | {"times": 5}, CODE | {"times": 4})
    outcome = bot.asked(CODE | {"times": 2, "batch": 1}, day=1)
    assert outcome.listing.suggestions["head"].to_list() == ["reset code"]
    assert len(fresh(outcome)) == 1


def test_a_cycle_that_runs_again_says_the_same(bot):
    rows = [RESET | {"times": 6}]
    first = bot.asked(*rows)
    before = bot.files()
    again = bot.asked(*rows)
    assert fresh(again) == fresh(first)
    assert bot.files() == before


def test_the_list_is_ordered_by_size(bot):
    sizes = {"a": 5, "b": 9, "c": 7}
    rows = [RESET | {"text": text, "times": n} for text, n in sizes.items()]
    outcome = bot.asked(*rows)
    assert outcome.listing.suggestions["size"].to_list() == [9, 7, 5]


def test_accepted_texts_count_after_the_first_showing(bot, ids):
    (one,) = ids(bot.asked(RESET | {"times": 4}, CODE | {"times": 2}))
    bot.decides("accepted", one, "reset password")
    outcome = bot.asked(RESET | {"batch": 1}, CODE | {"batch": 1}, day=1)
    (row,) = outcome.listing.suggestions.iter_rows(named=True)
    assert (row["suggestion"], row["size"], row["query_count"]) == (one, 8, 3)
    assert outcome.listing.texts["text"].to_list() == ["reset code"]


def test_strict_counting_leaves_accepted_texts_out(bot, ids):
    bot.rules = Rules(is_strict=True)
    (one,) = ids(bot.asked(RESET | {"times": 4}, CODE | {"times": 2}))
    bot.decides("accepted", one, "reset password")
    assert ids(bot.asked(day=1)) == []
    assert status(bot) == {one: "below"}


def test_a_follow_up_of_accepted_texts_keeps_the_id_and_is_news(bot, ids):
    (one,) = ids(bot.asked(RESET | {"times": 6}))
    bot.decides("accepted", one)
    assert status(bot) == {one: "accepted"}
    bot.asked(day=1)
    outcome = bot.asked(CODE | {"batch": 1}, day=2)
    assert fresh(outcome) == [one]
    assert outcome.listing.suggestions["size"].to_list() == [7]


def test_a_suggestion_below_the_gate_waits_under_its_id(bot, ids):
    (one,) = ids(bot.asked(RESET | {"times": 3}, CODE | {"times": 2}))
    bot.decides("rejected", one, "reset code")
    assert ids(bot.asked(day=1)) == []
    assert status(bot) == {one: "below"}
    assert ids(bot.asked(RESET | {"times": 2, "batch": 1}, day=2)) == [one]


def test_a_suggestion_whose_queries_grew_too_old_is_gone_without_its_text(bot, ids):
    bot.rules = Rules(retention_days=30)
    (one,) = ids(bot.asked(RESET | {"times": 5}))
    assert ids(bot.asked(day=31)) == []
    (row,) = bot.table("suggestions").iter_rows(named=True)
    assert (row["status"], row["head"], row["head_key"]) == ("gone", None, None)
    # Its events stay known: the old file brings nothing back.
    again = bot.asked(RESET | {"times": 5}, day=32)
    assert (again.repeated_count, ids(again)) == (5, [])
    assert status(bot) == {one: "gone"}


def test_undated_queries_age_from_the_cycle_that_took_them_in(bot, ids):
    bot.rules = Rules(retention_days=30)
    bot.asked(RESET | {"times": 5, "dated": False}, day=10)
    assert len(ids(bot.asked(day=39))) == 1
    assert ids(bot.asked(day=41)) == []


def test_near_copies_of_a_rejected_text_are_held_back_and_told_apart(bot, ids):
    (one,) = ids(bot.asked(RESET | {"times": 5}))
    bot.decides("rejected", one)
    near = {"text": "reset passwords", "qna_id": 1, "times": 8, "batch": 1}
    outcome = bot.asked(near, day=1)
    assert ids(outcome) == []
    held = outcome.listing.withheld.filter(standing="held")
    assert held.select("qna_id", "text", "query_count").rows() == [
        (1, "reset passwords", 8)
    ]


def test_a_rejected_text_comes_back_for_another_pair_only(bot, ids):
    (one,) = ids(bot.asked(RESET | {"times": 5}))
    bot.decides("rejected", one)
    outcome = bot.asked(
        RESET | {"times": 9, "batch": 1}, RESET | {"times": 5, "batch": 2, "qna_id": 2}
    )
    assert outcome.listing.suggestions["qna_id"].to_list() == [2]


def test_two_that_merge_leave_one_and_the_other_names_it(bot, ids):
    bot.engine.is_apart = True
    (older,) = ids(bot.asked(RESET | {"times": 5}))
    both = ids(bot.asked(CODE | {"times": 9, "batch": 1}, day=1))
    bot.engine.is_apart = False
    assert ids(bot.asked(day=2)) == [older]
    (younger,) = set(both) - {older}
    table = bot.table("suggestions").filter(suggestion=younger)
    assert table.select("status", "absorbed_into").rows() == [("absorbed", older)]


def test_content_gaps_are_groups_without_a_pair(bot):
    outcome = bot.asked({"text": "refund", "kind": "gap", "times": 6})
    (row,) = outcome.listing.suggestions.iter_rows(named=True)
    assert (row["qna_id"], row["head"], row["size"]) == (None, "refund", 6)


def test_a_gap_and_the_same_text_for_a_pair_are_counted_apart(bot):
    rows = [
        {"text": "pay now", "kind": "gap", "times": 5},
        {"text": "pay now", "times": 6},
    ]
    shown = bot.asked(*rows).listing.suggestions
    assert dict(shown.select("qna_id", "size").iter_rows()) == {3: 6, None: 5}


def test_own_assignment_is_marked_by_its_margin(bot):
    texts = bot.asked({"text": "pay now", "times": 6}).listing.texts
    assert texts.select("qna_id", "margin").rows() == [(3, 0.5)]


@pytest.mark.parametrize("minimum", [1, 3])
def test_the_minimum_is_configurable(bot, ids, minimum):
    bot.rules = Rules(minimum=minimum)
    assert len(ids(bot.asked(RESET | {"times": minimum}))) == 1


def test_small_groups_are_kept_without_an_id(bot):
    bot.asked(RESET)
    members = bot.table("members")
    assert members.select("suggestion", "key").rows() == [(None, "reset password")]
    assert members.filter(pl.col("suggestion").is_not_null()).is_empty()
