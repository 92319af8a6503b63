"""Signals taken in once, grouped by pair and key, and where each text stands."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from flows.errors import UsageError
from flows.suggestions.pool import POOL, grouped
from flows.suggestions.schema import Rules, empty

RESET = {"text": "reset password", "qna_id": 1}


def pool_of(*rows, told):
    kept = told(*rows).with_columns(kept_from=pl.lit(None, pl.Datetime("us", "UTC")))
    return grouped(kept.lazy(), empty("baseline"))


def standings(bot, *rows, **options):
    """Runs a cycle; pair, key and standing of all that is told apart."""
    bot.asked(*rows, **options)
    table = bot.table("withheld")
    return set(table.select("standing", "qna_id", "key").iter_rows())


def test_an_event_counts_once_however_often_it_is_read(bot):
    rows = [RESET | {"times": 3}]
    first = bot.asked(*rows)
    again = bot.asked(*rows, RESET | {"times": 1, "batch": 1})
    assert (first.new_count, first.repeated_count) == (3, 0)
    assert (again.new_count, again.repeated_count) == (1, 3)
    assert bot.table("members")["auto_count"].to_list() == [4]


def test_an_event_with_two_contents_counts_with_one_of_them_in_any_order(new_bot, told):
    rows = told(RESET | {"event": 1}, {"text": "help", "qna_id": 1, "event": 1}, RESET)
    tables = []
    for name, order in (("a", rows), ("b", rows.reverse())):
        made = new_bot(name)
        made.has(("hello", 1))
        made.asked(order)
        tables.append(made.table("signals"))
    assert tables[0].height == 2
    assert tables[0].equals(tables[1])


def test_an_event_counts_for_every_pair_it_names_and_once_for_each(bot):
    near = [RESET | {"event": 1, "qna_id": pair} for pair in (1, 2, 3, 3)]
    bot.asked(*near)
    assert bot.table("signals")["qna_id"].to_list() == [1, 2, 3]


def test_feedback_wins_over_near_scores_of_the_same_event(bot):
    bot.asked(
        RESET | {"event": 1}, RESET | {"event": 1, "kind": "user"}, RESET | {"event": 2}
    )
    row = bot.table("members").row(0, named=True)
    assert (row["auto_count"], row["user_count"]) == (1, 1)


def test_signals_after_the_instant_wait_for_it(bot):
    rows = [RESET | {"times": 3}, RESET | {"times": 2, "day": 4, "batch": 1}]
    early = bot.asked(*rows, day=1)
    assert (early.new_count, early.later_count) == (3, 2)
    assert bot.table("members")["auto_count"].to_list() == [3]
    assert bot.asked(*rows, day=4).new_count == 2
    assert bot.table("members")["auto_count"].to_list() == [5]


def test_the_state_never_goes_back(bot, at):
    bot.asked(RESET, day=3)
    assert bot.asked(RESET | {"day": 2, "batch": 1}, day=1).new_count == 1
    assert bot.state.load().as_of == at(3)


def test_an_instant_without_zone_is_refused(bot, told):
    from flows.suggestions.cycle import cycle

    naive = dt.datetime(2026, 1, 1)  # noqa: DTZ001 - the point
    with pytest.raises(UsageError, match="no zone"):
        cycle(
            bot.state,
            told(RESET).lazy(),
            engine=bot.engine,
            rules=Rules(),
            as_of=naive,
            read_count=1,
        )


def test_the_spelling_shown_is_the_most_frequent_then_shorter_then_lesser(told):
    spelled = ["Reset!", "Reset!", "reset", "Reset"]
    rows = [{"text": text, "qna_id": 1} for text in spelled]
    assert pool_of(*rows, told=told)["text"].to_list() == ["Reset!"]
    assert pool_of(*rows[1:], told=told)["text"].to_list() == ["Reset"]


def test_users_are_counted_once_and_unknown_ones_each(told):
    rows = [RESET | {"user": user} for user in (7, 7, 8, None, None)]
    pool = pool_of(*rows, told=told)
    assert pool["known_users"].list.sort().to_list() == [[7, 8]]
    assert pool["unknown_users"].to_list() == [2]


def test_the_bots_most_frequent_answer_is_kept(told):
    answers = [3, 2, 2, None, 3]
    rows = [{"text": "reset", "bot": answer} for answer in answers]
    assert pool_of(*rows, told=told)["bot_qna_id"].to_list() == [2]


def test_times_span_the_first_and_the_last_query(told, at):
    rows = [RESET | {"day": day} for day in (4, 2)] + [RESET | {"dated": False}]
    row = pool_of(*rows, told=told).row(0, named=True)
    assert (row["first_asked_at"], row["last_asked_at"]) == (at(2), at(4))


def test_the_engine_gets_the_contracted_columns_and_no_closed_text(bot):
    bot.asked(RESET, {"text": "Help me!", "qna_id": 1}, {"text": "x", "kind": "gap"})
    (pool,) = bot.engine.calls
    assert pool.columns == POOL
    assert pool.select("qna_id", "key", "kind").rows() == [
        (None, "x", "gap"),
        (1, "reset password", "auto"),
    ]


def test_a_question_of_another_pair_is_a_conflict_told_with_both_pairs(bot):
    bot.asked({"text": "Open hours?", "qna_id": 1, "times": 6})
    (row,) = bot.table("withheld").iter_rows(named=True)
    assert (row["standing"], row["qna_id"], row["other_pairs"]) == ("conflict", 1, [2])
    assert row["query_count"] == 6
    assert bot.table("members").is_empty()


def test_a_text_without_a_pair_that_is_a_question_is_known(bot):
    outcome = bot.asked({"text": "HELP me", "times": 6})
    assert outcome.listing.suggestions.is_empty()
    assert "known" in outcome.listing.reasons["reason"].to_list()


def test_a_masked_text_is_evidence_and_counts_for_nothing(bot, ids):
    masked = {"text": "reset code <number>", "qna_id": 1, "times": 9}
    assert ids(bot.asked(masked)) == []
    outcome = bot.asked(RESET | {"times": 5, "batch": 1})
    (suggestion,) = outcome.listing.suggestions.iter_rows(named=True)
    assert (suggestion["size"], suggestion["head"]) == (5, "reset password")
    texts = outcome.listing.texts
    assert texts.select("text", "is_masked").rows() == [
        ("reset password", False),
        ("reset code <number>", True),
    ]


def test_queries_of_a_pair_that_is_gone_wait_until_it_is_back(bot, ids):
    rows = [RESET | {"times": 5}]
    bot.has(("open hours", 2))
    assert standings(bot, *rows) == {("orphaned", 1, "reset password")}
    bot.has(("help me", 1), ("open hours", 2))
    assert len(ids(bot.asked(*rows))) == 1


def test_a_text_without_a_pair_is_offered_to_two_pairs_one_after_the_other(
    new_bot, ids
):
    bot = new_bot()
    bot.has(("reset code", 1), ("reset pin", 2), ("reset phone", 3))
    rows = [{"text": "reset password", "times": 5}]
    for pair in (1, 2):
        outcome = bot.asked(*rows)
        assert outcome.listing.suggestions["qna_id"].to_list() == [pair]
        bot.decides("rejected", *ids(outcome))
    assert standings(bot, *rows) == {("used_up", None, "reset password")}
    assert ids(bot.asked(*rows)) == []


def test_a_text_of_a_near_group_is_offered_to_every_pair_of_it(bot):
    near = [RESET | {"qna_id": pair, "times": 5} for pair in (1, 2, 3)]
    listing = bot.asked(*near).listing
    assert sorted(listing.suggestions["qna_id"]) == [1, 2, 3]
    pairs = {row["qna_id"]: row["other_pairs"] for row in listing.texts.to_dicts()}
    assert pairs == {1: [2, 3], 2: [1, 3], 3: [1, 2]}


def test_counts_of_the_file_and_ours_are_never_added(new_bot):
    bot = new_bot()
    file = (
        '[{"clusterHead":"reset","alternateQuestionList":['
        '{"question":"Reset","autoSuggestedCount":4,"userSuggestedCount":1},'
        '{"question":"reset!","autoSuggestedCount":2,"userSuggestedCount":0}]}]'
    )
    bot.has(("help me", 1, file))
    bot.asked({"text": "reset", "qna_id": 1, "kind": "user", "times": 3})
    row = bot.table("members").row(0, named=True)
    # Two spellings of the file are different queries; ours may be any of them.
    assert (row["auto_count"], row["user_count"], row["users"]) == (6, 3, 7)


def test_rules_that_ask_for_nothing_are_refused():
    with pytest.raises(UsageError, match="minimum is 0"):
        Rules(minimum=0)
