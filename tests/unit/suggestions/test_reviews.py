"""Decisions: one, all, from a file; together or not at all; twice without effect."""

from __future__ import annotations

import json

import pytest

from flows.suggestions.desk import Decision, ReviewError
from flows.suggestions.exporting import additions, exported, open_suggestions
from flows.suggestions.listing import listed
from flows.suggestions.reviews import applied, reviewed, reviewed_all

RESET = {"text": "Reset password", "qna_id": 1}
CODE = {"text": "reset code", "qna_id": 1}
BOTH = (RESET | {"times": 4}, CODE | {"times": 3})


@pytest.fixture
def save(bot):
    """Saves a decisions file as the review page does, and applies it."""

    def apply(*rows, day=0, by=None, at=None, **overrides):
        made = {
            "schema": "untaken.decisions/1",
            "state": listed(bot.state).mark,
            "decisions": list(rows),
        } | overrides
        path = bot.folder / "decisions.json"
        path.write_text(json.dumps(made), encoding="utf-8")
        return lambda: applied(bot.state, path, at=at(day), by=by)

    return apply


def row(suggestion, verdict="accepted", **more):
    return {"id": suggestion, "verdict": verdict} | more


def verdicts(bot):
    table = bot.table("reviews")
    return set(table.select("qna_id", "text", "verdict").iter_rows())


def problems(call):
    with pytest.raises(ReviewError) as raised:
        call()
    return raised.value.problems


def test_accepting_a_suggestion_adds_its_texts_to_the_pair(bot, ids):
    (one,) = ids(bot.asked(*BOTH))
    made = bot.decides("accepted", one)
    assert (made.accepted_count, made.rejected_count, made.unchanged_count) == (2, 0, 0)
    assert additions(bot.state).rows() == [(1, "reset code"), (1, "Reset password")]
    assert open_suggestions(bot.state).is_empty()
    assert listed(bot.state).suggestions.is_empty()


def test_one_text_can_be_decided_in_any_spelling(bot, ids):
    (one,) = ids(bot.asked(*BOTH))
    bot.decides("accepted", one, "reset PASSWORD?")
    assert verdicts(bot) == {(1, "reset PASSWORD?", "accepted")}
    assert listed(bot.state).texts["text"].to_list() == ["reset code"]


def test_who_and_when_are_kept_as_told(bot, ids, at):
    (one,) = ids(bot.asked(*BOTH))
    bot.decides("rejected", one, "reset code", day=3)
    (review,) = bot.table("reviews").iter_rows(named=True)
    assert (review["reviewed_by"], review["reviewed_at"]) == ("ana", at(3))
    assert (review["suggestion"], review["source"]) == (one, "review")


def test_a_margin_is_kept_beside_the_verdict(bot, ids):
    (one,) = ids(bot.asked({"text": "pay now", "times": 5}, margin=0.07))
    bot.decides("accepted", one)
    review = bot.table("reviews").row(0, named=True)
    assert (review["margin"], review["margin_in_force"]) == (0.5, 0.07)


def test_deciding_the_same_again_changes_nothing(bot, ids):
    (one,) = ids(bot.asked(*BOTH))
    bot.decides("rejected", one, "reset code")
    bot.decides("accepted", one)
    before = bot.files()
    for _ in range(2):
        assert bot.decides("accepted", one, day=9).unchanged_count == 1
        assert bot.decides("rejected", one, "reset code", day=9).unchanged_count == 1
        assert bot.files() == before
        bot.asked()
        before = bot.files()


def test_the_other_way_round_is_refused(bot, ids):
    (one,) = ids(bot.asked(*BOTH))
    bot.decides("accepted", one)
    for _ in range(2):
        (told,) = problems(lambda: bot.decides("rejected", one, "reset code"))
        assert told == "the decision: 'reset code' was accepted on 2026-03-01 by ana"
        assert problems(lambda: bot.decides("rejected", one))
        bot.asked()


def test_accepting_for_one_pair_closes_the_text_for_all(bot, ids):
    near = [RESET | {"qna_id": pair, "times": 5} for pair in (1, 2)]
    shown = bot.asked(*near).listing.suggestions
    by_pair = dict(shown.select("qna_id", "suggestion").iter_rows())
    bot.decides("accepted", by_pair[1])
    assert listed(bot.state).suggestions.is_empty()
    status = dict(bot.table("suggestions").select("qna_id", "status").iter_rows())
    assert status == {1: "accepted", 2: "closed"}
    (told,) = problems(lambda: bot.decides("accepted", by_pair[2]))
    assert told.endswith(f"suggestion {by_pair[2]} has no undecided text any more")
    (told,) = problems(lambda: bot.decides("accepted", by_pair[2], "reset password"))
    assert told == "the decision: 'Reset password' was accepted for pair 1"
    assert ids(bot.asked(RESET | {"qna_id": 3, "times": 9, "batch": 1})) == []


def test_rejecting_closes_the_text_for_its_pair_alone(bot):
    near = [RESET | {"qna_id": pair, "times": 5} for pair in (1, 2)]
    shown = bot.asked(*near).listing.suggestions
    by_pair = dict(shown.select("qna_id", "suggestion").iter_rows())
    bot.decides("rejected", by_pair[1])
    assert listed(bot.state).suggestions["qna_id"].to_list() == [2]


def test_all_can_be_accepted_or_rejected(bot, at):
    rows = [RESET | {"times": 7}, {"text": "open today", "qna_id": 2, "times": 5}]
    bot.asked(*rows)
    made = reviewed_all(bot.state, "accepted", at=at(1), minimum_size=6)
    assert (made.accepted_count, made.left.height) == (1, 0)
    assert reviewed_all(bot.state, "rejected", at=at(1), qna_id=1).rejected_count == 0
    assert reviewed_all(bot.state, "rejected", at=at(1)).rejected_count == 1
    assert reviewed_all(bot.state, "accepted", at=at(1)).accepted_count == 0


def test_q12_accepting_all_leaves_what_only_a_person_can_decide(bot, at):
    shared = [{"text": "status", "qna_id": pair, "times": 6} for pair in (1, 2)]
    bot.asked(*shared, RESET | {"times": 5}, {"text": "x", "kind": "gap", "times": 5})
    made = reviewed_all(bot.state, "accepted", at=at(1))
    assert made.accepted_count == 1
    assert set(made.left.select("qna_id", "text").iter_rows()) == {
        (1, "status"),
        (2, "status"),
        (None, "x"),
    }
    # Naming the pair is the decision.
    assert reviewed_all(bot.state, "accepted", at=at(1), qna_id=2).accepted_count == 1
    assert set(additions(bot.state).rows()) == {(1, "Reset password"), (2, "status")}


def test_a_file_of_decisions_is_applied_and_again_without_effect(bot, ids, save, at):
    (one,) = ids(bot.asked(*BOTH))
    call = save(
        row(one, question="Reset password"),
        row(one, "rejected", question="reset code"),
        by="ana",
        at=at,
    )
    made = call()
    assert (made.accepted_count, made.rejected_count) == (1, 1)
    before = bot.files()
    again = call()
    assert (again.accepted_count, again.unchanged_count) == (0, 2)
    bot.asked()
    assert call().unchanged_count == 2
    assert {name for name in before if name.startswith("reviews")} < set(bot.files())


def test_one_bad_row_stops_the_whole_file_and_every_problem_is_told(bot, ids, save, at):
    (one,) = ids(bot.asked(*BOTH))
    before = bot.files()
    found = problems(
        save(
            row(one, question="Reset password"),
            row(one[:-1] + "x", question="reset code"),
            row(one, question="reset kode"),
            row(one, "maybe"),
            {"verdict": "accepted"},
            row(one, "rejected", question="reset password"),
            row(one, note="hm"),
            row(one, question=3),
            at=at,
        )
    )
    unknown = f"row 2: suggestion '{one[:-1]}x' is not known; the nearest is {one}"
    other = f"row 3: suggestion {one} has no text 'reset kode'; the nearest is"
    assert found == (
        f"{unknown} ('Reset password')",
        f"{other} 'reset code'",
        "row 4: verdict is 'maybe'; write accepted or rejected",
        "row 5: id is None; write the id of a suggestion",
        "row 6: 'Reset password' is accepted by row 1",
        "row 7: note: not known; known: id, question, verdict",
        "row 8: question is 3; write a text, or leave it out",
    )
    assert bot.files() == before


def test_a_text_accepted_for_two_pairs_in_one_file_is_refused(bot, save, at):
    near = [RESET | {"qna_id": pair, "times": 5} for pair in (1, 2)]
    first, second = bot.asked(*near).listing.suggestions["suggestion"]
    pair = bot.table("suggestions").filter(suggestion=first)["qna_id"].item()
    (told,) = problems(save(row(first), row(second), at=at))
    assert told == f"row 2: 'Reset password' is accepted for pair {pair} by row 1"


def test_the_page_rejects_the_twins_of_what_it_accepts(bot, save, at):
    near = [RESET | {"qna_id": pair, "times": 5} for pair in (1, 2)]
    first, second = bot.asked(*near).listing.suggestions["suggestion"]
    call = save(row(first), row(second, "rejected"), at=at)
    made = call()
    assert (made.accepted_count, made.rejected_count) == (1, 1)
    assert call().unchanged_count == 2


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is not JSON"),
        ("[]", 'no list of "decisions"'),
        ('{"decision": []}', 'no list of "decisions", found: decision'),
    ],
)
def test_a_file_that_is_no_decisions_file_is_refused(bot, at, content, told):
    path = bot.folder / "other.json"
    path.write_text(content)
    (found,) = problems(lambda: applied(bot.state, path, at=at(0)))
    assert told in found


def test_a_file_that_is_not_there_is_refused(bot, at):
    (found,) = problems(lambda: applied(bot.state, bot.folder / "no", at=at(0)))
    assert "No such file" in found


def test_a_file_about_another_knowledge_base_is_refused(bot, ids, save, at):
    (one,) = ids(bot.asked(*BOTH))
    (told,) = problems(save(row(one), state="shop//0123", at=at))
    assert told.startswith("state is 'shop//0123'; the decisions are not about")
    (told,) = problems(save(row(one), schema="other/1", at=at))
    assert "'untaken.decisions/1'" in told


def test_a_file_of_another_state_is_refused_though_its_name_is_the_same(
    bot, new_bot, ids, save, at
):
    twin = new_bot("twin")
    twin.has(("help me", 1), ("open hours", 2), ("pay bill", 3))
    for each in (bot, twin):
        each.state.user_key()
        (one,) = ids(each.asked(*BOTH))
    foreign = listed(twin.state).mark
    found = problems(save(row(one, verdct="x"), state=foreign, decision=1, at=at))
    assert found[0] == "decision: not known; did you mean decisions?"
    assert found[1].startswith(f"state is '{foreign}'; the decisions are about another")
    assert found[2] == "row 1: verdct: not known; did you mean verdict?"
    # Its own file is its own after another run, too.
    own = save(row(one, question="reset code"), at=at)
    bot.asked(CODE | {"text": "reset pin", "times": 2, "batch": 1})
    assert own().accepted_count == 1


def test_a_stale_file_decides_texts_but_no_whole_suggestion(bot, ids, save, at):
    (one,) = ids(bot.asked(*BOTH))
    whole = save(row(one), at=at)
    bot.asked(CODE | {"text": "reset pin", "times": 2, "batch": 1})
    (told,) = problems(whole)
    assert "may hold other texts than when the file was saved" in told
    texts = save(row(one, question="reset code"), state="bot//stale", at=at)
    assert texts().accepted_count == 1


def test_a_suggestion_that_went_into_another_names_it(bot):
    bot.engine.is_apart = True
    shown = bot.asked(RESET | {"times": 5}).listing.suggestions["suggestion"].to_list()
    both = bot.asked(CODE | {"times": 6, "batch": 1}, day=1).listing.suggestions
    bot.engine.is_apart = False
    bot.asked(day=2)
    (younger,) = set(both["suggestion"]) - set(shown)
    (told,) = problems(lambda: bot.decides("accepted", younger))
    assert told == f"the decision: suggestion {younger} went into {shown[0]}"


def test_a_content_gap_can_be_rejected_but_not_accepted(bot, ids):
    rows = [{"text": "refund", "kind": "gap", "times": 6}]
    (one,) = ids(bot.asked(*rows))
    (told,) = problems(lambda: bot.decides("accepted", one))
    assert "fits no pair; add a pair to the knowledge base" in told
    bot.decides("rejected", one)
    assert ids(bot.asked(*rows)) == []


def test_masked_evidence_cannot_be_decided(bot, ids):
    (one,) = ids(
        bot.asked(*BOTH, {"text": "reset code <number>", "qna_id": 1, "times": 9})
    )
    (told,) = problems(lambda: bot.decides("accepted", one, "reset code <number>"))
    assert "holds personal data" in told
    assert bot.decides("accepted", one).accepted_count == 2


def test_what_became_a_question_meanwhile_is_neither_added_nor_rejected(bot, ids):
    (one,) = ids(bot.asked(*BOTH))
    bot.has(("help me", 1), ("reset password", 1), ("open", 2))
    assert bot.decides("accepted", one, "reset password").unchanged_count == 1
    (told,) = problems(lambda: bot.decides("rejected", one, "reset password"))
    assert "was accepted on" in told
    assert additions(bot.state).is_empty()


def test_an_undecided_text_that_another_pair_has_cannot_be_accepted(bot, ids):
    (one,) = ids(bot.asked(*BOTH))
    bot.has(("help me", 1), ("reset password", 2))
    (told,) = problems(lambda: bot.decides("accepted", one, "reset password"))
    assert told == "the decision: 'Reset password' is a question of pair 2"


def test_nothing_is_decided_by_a_list_of_nothing(bot, at):
    bot.asked(*BOTH)
    before = bot.files()
    assert reviewed(bot.state, [], at=at(0)).unchanged_count == 0
    assert bot.files() == before


def test_the_beginning_of_an_id_is_enough_where_no_other_begins_so(bot):
    texts = [{"text": f"t{n} it", "qna_id": 1, "times": 5} for n in range(20)]
    shown = bot.asked(*texts).listing.suggestions["suggestion"].sort().to_list()
    first = {name[0] for name in shown}
    many = next(one for one in first if sum(n.startswith(one) for n in shown) > 1)
    (told,) = problems(lambda: bot.decides("accepted", many))
    begun = [name for name in shown if name.startswith(many)]
    assert f"{many!r} begins the ids of {len(begun)} suggestions: {begun[0]}" in told
    assert all(name in told for name in begun[:5])
    assert bot.decides("accepted", shown[0][:8]).accepted_count == 1
    assert "'' is not known" in problems(lambda: bot.decides("accepted", ""))[0]


def test_a_decision_says_where_it_stands(bot, at):
    bot.asked(*BOTH)
    made = [Decision("zzz", "accepted", place="ID")]
    (told,) = problems(lambda: reviewed(bot.state, made, at=at(0)))
    assert told.startswith("ID: suggestion 'zzz' is not known; list the suggestions")


def test_exporting_is_noted(bot):
    bot.asked(*BOTH)
    exported(bot.state)
    assert bot.table("exported").rows() == [(1, "reset code"), (1, "reset password")]
