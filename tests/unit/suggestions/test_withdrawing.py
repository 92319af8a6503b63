"""A decision that is taken back was never made."""

from __future__ import annotations

import pytest

from flows.suggestions.desk import ReviewError
from flows.suggestions.exporting import additions
from flows.suggestions.listing import listed
from flows.suggestions.schema import Rules
from flows.suggestions.withdrawing import withdrawn

RESET = {"text": "Reset password", "qna_id": 1}
CODE = {"text": "reset code", "qna_id": 1}
BOTH = (RESET | {"times": 4}, CODE | {"times": 3})
OPEN = {"text": "open today", "qna_id": 2, "times": 6}
GAP = {"text": "refund", "kind": "gap", "times": 6}
OWN = {"text": "pay now", "times": 5}
ALL = (*BOTH, OPEN, GAP, OWN, RESET | {"qna_id": 2, "times": 5})


def undo(bot, suggestion, question=None):
    return withdrawn(bot.state, suggestion, question=question, rules=Rules())


def shown(bot):
    """What the list holds: suggestions with their sizes, and texts."""
    found = listed(bot.state)
    counts = ["suggestion", "qna_id", "head", "size", "users", "status"]
    texts = found.texts.drop("similarity", "head_key")
    return found.suggestions.select(counts).rows(), texts.rows()


def problem(call):
    with pytest.raises(ReviewError) as raised:
        call()
    (told,) = raised.value.problems
    return told


@pytest.mark.parametrize("question", [None, "RESET password!"])
@pytest.mark.parametrize("verdict", ["accepted", "rejected"])
def test_before_the_next_run_no_byte_is_different(bot, verdict, question):
    suggestions = bot.asked(*ALL).listing.suggestions
    before = bot.files()
    for one in suggestions.filter(qna_id=1)["suggestion"]:
        bot.decides(verdict, one, question)
        undo(bot, one[:6], question)
        assert bot.files() == before


@pytest.mark.parametrize("verdict", ["accepted", "rejected"])
def test_after_a_run_it_is_in_the_list_again_under_its_id_and_stays(bot, verdict):
    names = bot.asked(*ALL).listing.suggestions
    before = shown(bot)
    decided = names.filter(qna_id=1) if verdict == "accepted" else names
    for one in decided["suggestion"]:
        bot.decides(verdict, one)
    bot.asked(day=1)
    for one in decided["suggestion"]:
        undo(bot, one)
    if verdict == "rejected":
        assert shown(bot) == before
    bot.asked(day=1)
    if verdict == "rejected":
        assert shown(bot) == before
    # A text that accepting closed for another pair comes back there with the run.
    assert {row[1:] for row in shown(bot)[0]} == {row[1:] for row in before[0]}
    assert bot.table("reviews").is_empty()
    assert additions(bot.state).is_empty()


def test_one_text_joins_what_is_left_of_its_suggestion(bot, ids):
    (one,) = ids(bot.asked(*BOTH))
    before = shown(bot)
    for verdict in ("accepted", "rejected"):
        bot.decides(verdict, one, "reset code")
        bot.asked(day=1)
        undo(bot, one, "reset code")
        assert shown(bot) == before
        bot.asked(day=1)
        assert shown(bot) == before


def test_the_last_command_is_taken_back_as_a_whole_and_then_the_one_before(bot):
    bot.asked(*ALL)
    one, two = listed(bot.state).suggestions["suggestion"][:2]
    bot.decides("rejected", one, day=1)
    bot.decides("rejected", two, day=2)
    assert undo(bot, "last").rejected_count >= 1
    assert set(bot.table("reviews")["suggestion"]) == {one}
    undo(bot, "last")
    assert problem(lambda: undo(bot, "last")).startswith("nothing of the last command")


def test_what_cannot_be_taken_back_is_refused_and_changes_nothing(bot, ids):
    (one,) = ids(bot.asked(*BOTH))
    assert problem(lambda: undo(bot, "zz")).startswith("suggestion 'zz' is not known")
    assert problem(lambda: undo(bot, one)).startswith(f"nothing of {one} was decided")
    bot.decides("accepted", one, "reset code")
    told = problem(lambda: undo(bot, one, "reset password"))
    assert told.endswith("was not decided; decided are 'reset code'")
    bot.has(("help me", 1), ("reset code", 1), ("open hours", 2), ("pay bill", 3))
    before = bot.files()
    assert "is a question of pair 1 by now" in problem(lambda: undo(bot, one))
    assert bot.files() == before


def test_a_text_that_is_asked_again_has_its_id_again(bot, ids):
    rows = [RESET | {"times": 5, "user": 7}]
    (one,) = ids(bot.asked(*rows))
    bot.decides("rejected", one)
    bot.asked(day=1)
    assert undo(bot, one, "reset password").rejected_count == 1
    again = [RESET | {"times": 5, "user": 8, "batch": 1}]
    assert ids(bot.asked(*again, day=2)) == [one]
