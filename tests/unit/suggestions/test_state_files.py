"""Knowledge-base files against the state: imports, and what an export would write."""

from __future__ import annotations

import json

import pytest

from flows import knowledge
from flows.suggestions.exporting import additions, exported, open_suggestions
from flows.suggestions.listing import listed
from flows.suggestions.state import StateError

RESET = {"text": "reset password", "qna_id": 1}
CODE = {"text": "reset code", "qna_id": 1}
PAIRS = (("help me", 1), ("open hours", 2), ("pay bill", 3))


def cluster(head, **texts):
    """A cluster as a file has it; counts are (auto, user)."""
    listed_texts = [
        {
            "question": text.replace("_", " "),
            "autoSuggestedCount": auto,
            "userSuggestedCount": user,
        }
        for text, (auto, user) in texts.items()
    ]
    made = [{"clusterHead": head, "alternateQuestionList": listed_texts}]
    return json.dumps(made, separators=(",", ":"))


def written(bot):
    """The exported file: questions and suggestions, as a reader finds them."""
    base = knowledge.read(bot.state.knowledge_file())
    content = knowledge.written(
        base, added=additions(bot.state), suggested=open_suggestions(bot.state)
    )
    path = bot.folder / "out.tsv"
    path.write_bytes(content)
    return knowledge.read(path)


def status(bot):
    table = bot.table("suggestions")
    return dict(table.select("suggestion", "status").iter_rows())


def test_q11_the_same_file_twice_adds_nothing(bot):
    before = bot.files()
    again = bot.has(*PAIRS, day=5)
    assert again.is_unchanged
    assert (again.added_count, again.removed_count) == (0, 0)
    assert bot.files() == before


def test_q11_a_bad_file_changes_nothing_and_its_mended_twin_is_taken(bot):
    before = bot.files()
    with pytest.raises(knowledge.KnowledgeBaseError, match="row 5"):
        bot.has(*PAIRS, ("next", "one"))
    assert bot.files() == before
    assert bot.has(*PAIRS, ("next", 4)).added_count == 1


def test_another_knowledge_base_is_refused(bot, at):
    from flows.suggestions.baseline import imported

    with pytest.raises(StateError, match="is of the knowledge base 'bot'"):
        imported(bot.state, bot.folder / "kb.tsv", name="shop", at=at(0))


def test_an_import_tells_what_it_added_and_removed(bot):
    made = bot.has(("help me", 1), ("help now", 1), ("pay bill", 3))
    assert (made.added_count, made.removed_count) == (1, 1)


def test_q08_the_same_question_in_two_pairs_is_told_once_and_known_for_both(new_bot):
    bot = new_bot()
    made = bot.has(("hello", 1), ("hello ", 2))
    assert made.clashes.rows() == [("hello", [1, 2], ["hello", "hello "])]
    assert bot.table("questions").height == 2
    rows = [{"text": "Hello!", "qna_id": pair, "times": 6} for pair in (1, 2)]
    listing = bot.asked(*rows, {"text": "Hello!", "times": 6, "batch": 1}).listing
    assert listing.suggestions.is_empty()
    assert set(listing.reasons["reason"]) == {"known"}


def test_suggestions_of_the_file_are_shown_from_five_queries_on(new_bot, ids):
    bot = new_bot()
    bot.has(("help me", 1, cluster("reset it", reset_it=(3, 3))), ("x", 2))
    assert len(ids(bot.asked())) == 1
    assert listed(bot.state).texts.select("auto_count", "user_count").rows() == [(3, 3)]


def test_an_untouched_import_exports_the_same_bytes(new_bot):
    bot = new_bot()
    told = cluster("reset", reset_it=(9, 0), Reset_it=(1, 0), Help_me=(0, 2))
    bot.has(("help me", 1, told), ("open", 2))
    for _ in range(2):
        suggested = open_suggestions(bot.state)
        base = knowledge.read(bot.state.knowledge_file())
        assert suggested.equals(base.suggested)
        made = knowledge.written(base, added=additions(bot.state), suggested=suggested)
        assert made == bot.state.knowledge_file().read_bytes()
        bot.asked()


def test_an_export_carries_the_open_set_and_what_was_accepted(bot, ids):
    rows = [RESET | {"times": 5}, CODE | {"times": 2, "kind": "user"}]
    (one,) = ids(bot.asked(*rows, {"text": "x", "qna_id": 2, "times": 4}))
    base = written(bot)
    assert base.suggested.rows() == [
        (1, "reset password", "reset password", 5, 0),
        (1, "reset password", "reset code", 0, 2),
    ]
    bot.decides("accepted", one, "reset password")
    base = written(bot)
    assert (1, "reset password") in base.questions.rows()
    assert base.suggested.rows() == [(1, "reset code", "reset code", 0, 2)]


def test_texts_that_join_a_cluster_of_the_file_stand_under_its_head(new_bot):
    bot = new_bot()
    told = cluster("Reset!", reset_it=(2, 1), reset_now=(1, 0))
    bot.has(("help me", 1, told))
    bot.asked(RESET | {"times": 4}, {"text": "reset it", "qna_id": 1, "times": 3})
    assert open_suggestions(bot.state).rows() == [
        (1, "Reset!", "reset it", 3, 1),
        (1, "Reset!", "reset now", 1, 0),
        (1, "Reset!", "reset password", 4, 0),
    ]


def test_a_cluster_whose_head_was_decided_goes_by_its_largest_text(new_bot, ids):
    bot = new_bot()
    told = cluster("reset it", reset_it=(4, 0), reset_a=(1, 0), reset_b=(2, 0))
    bot.has(("help me", 1, told))
    (one,) = ids(bot.asked())
    bot.decides("rejected", one, "reset it")
    assert open_suggestions(bot.state).rows() == [
        (1, "reset b", "reset a", 1, 0),
        (1, "reset b", "reset b", 2, 0),
    ]


def test_what_we_counted_beyond_the_file_goes_to_one_spelling(new_bot):
    bot = new_bot()
    told = cluster("reset", reset=(2, 0), Reset=(3, 0))
    bot.has(("help me", 1, told))
    bot.asked({"text": "reset", "qna_id": 1, "times": 9})
    assert open_suggestions(bot.state).rows() == [
        (1, "reset", "reset", 2, 0),
        (1, "reset", "Reset", 7, 0),
    ]


def test_content_gaps_are_not_written_to_the_file(bot):
    bot.asked({"text": "refund", "kind": "gap", "times": 6})
    assert open_suggestions(bot.state).is_empty()


def test_an_accepted_text_that_is_a_question_by_now_is_not_added_again(bot, ids):
    bot.decides("accepted", *ids(bot.asked(RESET | {"times": 5})))
    bot.has(*PAIRS, ("Reset password?", 1))
    assert additions(bot.state).is_empty()
    # An older file takes it away; it was accepted, and is added again.
    bot.has(*PAIRS)
    assert additions(bot.state).rows() == [(1, "reset password")]


def test_a_suggested_text_that_became_a_question_closes_as_accepted(bot, ids, at):
    (one,) = ids(bot.asked(RESET | {"times": 5}, CODE | {"times": 2}))
    made = bot.has(*PAIRS, ("reset password", 1), ("reset code", 1), day=4)
    assert made.accepted_count == 2
    assert status(bot) == {one: "accepted"}
    review = bot.table("reviews").row(0, named=True)
    assert (review["source"], review["reviewed_at"]) == ("import", at(4))
    assert additions(bot.state).is_empty()
    # The file accepted it; one without it takes that back.
    bot.has(*PAIRS, day=5)
    assert bot.table("reviews").is_empty()
    assert ids(bot.asked(day=5)) == [one]


def test_a_suggestion_that_vanished_from_the_file_is_unknown_until_it_grows(
    new_bot, ids
):
    bot = new_bot()
    told = cluster("reset password", reset_password=(6, 0))
    bot.has(("help me", 1, told))
    (one,) = ids(bot.asked(RESET | {"times": 6}))
    made = bot.has(("help me", 1), ("x", 2))
    assert made.unknown == (one,)
    listing = bot.asked(day=1).listing
    assert listing.suggestions.is_empty()
    assert listing.unknown["suggestion"].to_list() == [one]
    assert "unreviewed" in listing.reasons["reason"].to_list()
    assert open_suggestions(bot.state).is_empty()
    assert ids(bot.asked(RESET | {"times": 2, "batch": 1}, day=2)) == []
    outcome = bot.asked(RESET | {"times": 1, "batch": 2}, day=3)
    assert ids(outcome) == [one]
    assert outcome.listing.suggestions["is_fresh"].to_list() == [True]


def test_an_unknown_suggestion_can_still_be_decided(new_bot, ids):
    bot = new_bot()
    bot.has(("help me", 1, cluster("reset password", reset_password=(6, 0))))
    (one,) = ids(bot.asked(RESET | {"times": 6}))
    bot.has(("help me", 1), ("x", 2))
    assert bot.decides("accepted", one).accepted_count == 1


def test_what_an_export_carried_and_the_next_file_lacks_is_unknown(bot, ids):
    (one,) = ids(bot.asked(RESET | {"times": 5}))
    assert bot.has(*PAIRS, ("more", 4)).unknown == ()
    exported(bot.state)
    assert bot.has(*PAIRS, ("more", 4), ("and more", 5)).unknown == (one,)


def test_a_file_that_carries_it_again_opens_it_again(bot, ids):
    (one,) = ids(bot.asked(RESET | {"times": 5}))
    exported(bot.state)
    bot.has(*PAIRS, ("more", 4))
    assert status(bot) == {one: "unknown"}
    told = cluster("reset password", reset_password=(5, 0))
    bot.has(("help me", 1, told), *PAIRS[1:])
    assert status(bot) == {one: "open"}
    assert ids(bot.asked(day=1)) == [one]


def test_what_the_file_still_carries_stays_open(new_bot, ids):
    bot = new_bot()
    told = cluster("reset a", reset_a=(6, 0), reset_b=(6, 0))
    bot.has(("help me", 1, told))
    (one,) = ids(bot.asked())
    made = bot.has(("help me", 1, cluster("reset b", reset_b=(6, 0))))
    assert made.unknown == ()
    assert ids(bot.asked(day=1)) == [one]


def test_an_old_file_brings_no_rejected_suggestion_back(new_bot, ids):
    bot = new_bot()
    told = cluster("reset password", reset_password=(50, 9))
    bot.has(("help me", 1, told))
    bot.decides("rejected", *ids(bot.asked()))
    assert open_suggestions(bot.state).is_empty()
    bot.has(("help me", 1), ("x", 2))
    bot.has(("help me", 1, told))
    assert ids(bot.asked(RESET | {"times": 9}, day=1)) == []
    assert open_suggestions(bot.state).is_empty()


def test_a_pair_that_is_gone_orphans_its_suggestions_until_it_is_back(bot, ids):
    (one,) = ids(bot.asked(RESET | {"times": 5}))
    made = bot.has(("open hours", 2))
    assert made.orphaned == (one,)
    assert listed(bot.state).suggestions.is_empty()
    for _ in range(2):
        assert ids(bot.asked(day=1)) == []
        assert status(bot) == {one: "orphaned"}
    assert open_suggestions(bot.state).is_empty()
    bot.has(*PAIRS)
    assert ids(bot.asked(day=2)) == [one]


def test_an_accepted_text_of_a_pair_that_is_gone_is_not_added(bot, ids):
    bot.decides("accepted", *ids(bot.asked(RESET | {"times": 5})))
    bot.has(("open hours", 2))
    assert additions(bot.state).is_empty()


def test_counts_of_two_imports_are_not_added(new_bot):
    bot = new_bot()
    bot.has(("a", 1, cluster("reset", reset=(6, 1))))
    bot.has(("a", 1, cluster("reset", reset=(4, 2))), ("b", 2))
    counts = bot.table("baseline").select("auto_count", "user_count")
    assert counts.rows() == [(6, 2)]


def test_personal_data_in_the_file_stays_in_the_file(new_bot, ids):
    bot = new_bot()
    told = cluster("mail ana@example.com", **{"mail_ana@example.com": (9, 0)})
    bot.has(("help me", 1, told))
    assert ids(bot.asked()) == []
    assert "ana@" not in str(bot.table("members").rows())
    assert "ana@" not in str(bot.table("withheld").rows())
    assert open_suggestions(bot.state)["question"].to_list() == ["mail ana@example.com"]
