"""A user can be forgotten, everywhere, and does not come back."""

from __future__ import annotations

import polars as pl
import pytest

from flows.errors import UsageError
from flows.suggestions.listing import listed
from flows.suggestions.retention import forget_user
from flows.suggestions.schema import Rules
from flows.suggestions.users import user_hash

RESET = {"text": "reset password", "qna_id": 1}
CODE = {"text": "reset code of ana", "qna_id": 1}


@pytest.fixture
def forget(bot):
    def run(user="ana"):
        return forget_user(bot.state, user, hashed=user_hash, rules=bot.rules)

    return run


@pytest.fixture
def ana(bot):
    """Ana's hash under the key of the state."""
    return pl.select(user_hash(pl.lit("ana"), bot.state.user_key())).item()


def said(bot):
    """Every text that any table of the state holds."""
    tables = ("signals", "members", "suggestions", "withheld", "reviews")
    found = set()
    for name in tables:
        table = bot.table(name)
        for column in table.select(pl.col(pl.String)).iter_columns():
            found |= set(column.drop_nulls())
    return found


def test_the_queries_go_and_the_counts_follow(bot, ana, ids, forget):
    rows = [RESET | {"times": 6}, RESET | {"times": 2, "user": ana}]
    rows.append(CODE | {"times": 3, "user": ana})
    (one,) = ids(bot.asked(*rows))
    made = forget()
    assert (made.query_count, made.text_count, made.fallen) == (5, 1, ())
    listing = listed(bot.state)
    (row,) = listing.suggestions.iter_rows(named=True)
    assert (row["suggestion"], row["size"], row["users"]) == (one, 6, 6)
    assert listing.texts["text"].to_list() == ["reset password"]
    assert not {text for text in said(bot) if "ana" in text}
    # The next cycle says the same, though the log is read again.
    again = bot.asked(*rows)
    assert (again.new_count, ids(again)) == (0, [one])
    assert again.listing.suggestions["size"].to_list() == [6]
    assert not {text for text in said(bot) if "ana" in text}


def test_a_suggestion_below_the_gate_leaves_the_list(bot, ana, ids, forget):
    (one,) = ids(bot.asked(RESET | {"times": 3}, RESET | {"times": 3, "user": ana}))
    assert forget().fallen == (one,)
    assert listed(bot.state).suggestions.is_empty()
    assert ids(bot.asked()) == []


def test_a_suggestion_of_one_user_goes_with_its_texts(bot, ana, ids, forget):
    outcome = bot.asked(CODE | {"times": 6, "user": ana})
    (one,) = ids(outcome)
    assert outcome.listing.suggestions["is_one_user"].to_list() == [True]
    assert forget().fallen == (one,)
    (row,) = bot.table("suggestions").iter_rows(named=True)
    assert (row["status"], row["head"], row["size"]) == ("gone", None, 0)
    assert not {text for text in said(bot) if "ana" in text}


def test_a_head_that_goes_leaves_the_next_one(bot, ana, forget):
    bot.asked(CODE | {"times": 9, "user": ana}, RESET | {"times": 5})
    forget()
    assert listed(bot.state).suggestions["head"].to_list() == ["reset password"]


def test_the_spelling_of_the_user_goes_too(bot, ana, forget):
    rows = [RESET | {"times": 5}]
    rows.append({"text": "RESET password!!!", "qna_id": 1, "times": 6, "user": ana})
    bot.asked(*rows)
    assert listed(bot.state).texts["text"].to_list() == ["RESET password!!!"]
    forget()
    assert listed(bot.state).texts["text"].to_list() == ["reset password"]


def test_the_spelling_of_the_user_goes_from_what_was_decided(bot, ana, ids, forget):
    rows = [{"text": "RESET password!!!", "qna_id": 1, "times": 6, "user": ana}]
    (one,) = ids(bot.asked(*rows, RESET | {"times": 2}))
    bot.decides("rejected", one)
    bot.asked()
    forget()
    assert bot.table("reviews")["text"].to_list() == ["reset password"]
    assert not {text for text in said(bot) if "!!!" in text}


def test_what_is_told_apart_is_counted_anew(bot, ana, forget):
    rows = [{"text": "open hours", "qna_id": 1, "times": 3}]
    masked = {"text": "ana is <email>", "qna_id": 1, "times": 2, "user": ana}
    bot.asked(*rows, rows[0] | {"user": ana}, masked)
    forget()
    told = bot.table("withheld").select("standing", "text", "query_count")
    assert told.rows() == [("conflict", "open hours", 3)]


def test_what_was_rejected_stays_rejected_without_its_text(bot, ana, ids, forget):
    (one,) = ids(bot.asked(CODE | {"times": 6, "user": ana}))
    bot.decides("rejected", one)
    forget()
    (review,) = bot.table("reviews").iter_rows(named=True)
    assert (review["key"], review["text"]) == (None, None)
    assert review["verdict"] == "rejected"
    assert not {text for text in said(bot) if "of ana" in text}
    assert ids(bot.asked(CODE | {"times": 9, "batch": 1})) == []
    # Nor does an engine that finds pairs give it that one.
    bot.has(("reset", 1), ("open hours", 2))
    assert ids(bot.asked(CODE | {"times": 9, "batch": 2, "qna_id": None})) == []


def test_what_was_accepted_is_content_and_is_counted(bot, ana, ids, forget):
    (one,) = ids(bot.asked(CODE | {"times": 6, "user": ana}))
    bot.decides("accepted", one)
    assert forget().accepted_count == 1
    assert bot.table("reviews")["text"].to_list() == [CODE["text"]]


def test_other_users_and_unknown_ones_stay(bot, ana, forget):
    rows = [RESET | {"times": 3, "user": ana + 1}, RESET | {"times": 3}]
    bot.asked(*rows)
    assert forget().query_count == 0
    assert bot.table("signals").height == 6


def test_users_that_a_rule_needs_are_counted_anew(bot, ana, ids, forget):
    bot.rules = Rules(minimum_users=2)
    (one,) = ids(
        bot.asked(RESET | {"times": 6, "user": 7}, RESET | {"times": 2, "user": ana})
    )
    assert forget().fallen == (one,)


def test_nothing_but_the_current_files_holds_the_user(bot, ana, forget):
    bot.asked(CODE | {"times": 6, "user": ana})
    forget()
    for path in bot.state.root.glob("signals-*.parquet"):
        assert pl.read_parquet(path).filter(user=ana).is_empty()
    assert len(list(bot.state.root.glob("signals-*.parquet"))) == 1


def test_an_empty_user_id_is_refused(forget):
    with pytest.raises(UsageError, match="user id is empty"):
        forget("")
