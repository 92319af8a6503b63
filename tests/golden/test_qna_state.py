"""Public reports about suggestions that came back, doubled, or stayed away unexplained.

Each goes the whole way: a knowledge-base file and logs in, the default engine, reviews,
the exported file out. `IDS` lists the cases that need the state; the last test fails
when one has no test. Q10 is "ignored phrases come back when they are typed again", Q12
"the same sentence is listed again after it was corrected" and "apply all fails as a
whole".
"""

from __future__ import annotations

import datetime as dt
import json
import sys

import polars as pl
import pytest

from flows import knowledge
from flows.suggestions import lexical
from flows.suggestions.baseline import imported
from flows.suggestions.cycle import cycle
from flows.suggestions.desk import Decision
from flows.suggestions.exporting import additions, open_suggestions
from flows.suggestions.listing import listed
from flows.suggestions.reasons import words
from flows.suggestions.reviews import reviewed, reviewed_all
from flows.suggestions.schema import Rules
from flows.suggestions.signals import signals
from flows.suggestions.state import State

IDS = ("Q08", "Q09", "Q10", "Q11", "Q12", "Q13", "Q21", "Q23", "Q24")
NIGHT = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
HEADER = "Question\tAnswer\tSource\tMetadata\tSuggestedQuestions\tQnaId\n"


class Bot:
    """A knowledge base, the logs of a bot, and the state between them."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.state = State(folder / "state")
        self.log = folder / "feedback.json"
        self.records = []

    def has(self, *rows):
        """Imports a file of questions and pairs."""
        cells = "".join(f"{text}\tAnswer\tbot\t\t[]\t{pair}\n" for text, pair in rows)
        path = self.folder / "kb.tsv"
        path.write_text(HEADER + cells, encoding="utf-8")
        return imported(self.state, path, name="bot", at=NIGHT)

    def asked(self, text, pair, times=1):
        """Users chose a pair, or `none`, for a text."""
        for _ in range(times):
            record = {"userQuestion": text, "qnaId": pair}
            self.records.append(record | {"eventId": f"e{len(self.records)}"})

    def night(self, day=0):
        """One run over the whole log."""
        self.log.write_text(json.dumps({"feedbackRecords": self.records}))
        read = signals([], [self.log], score_unit=None, user_key=self.state.user_key())
        return cycle(
            self.state,
            read.frame.lazy(),
            engine=lexical.engine(),
            rules=Rules(),
            as_of=NIGHT + dt.timedelta(days=day),
            read_count=read.counts.records,
        )

    def decides(self, verdict, suggestion, question=None):
        return reviewed(self.state, [Decision(suggestion, verdict, question)], at=NIGHT)

    def exported(self):
        """Questions of the file that an export writes."""
        content = knowledge.written(
            knowledge.read(self.state.knowledge_file()),
            added=additions(self.state),
            suggested=open_suggestions(self.state),
        )
        path = self.folder / "out.tsv"
        path.write_bytes(content)
        return knowledge.read(path)


@pytest.fixture
def bot(tmp_path):
    return Bot(tmp_path)


def told(listing, scope="all"):
    rows = listing.reasons.filter(scope=scope).select("reason", "count", "of")
    return [words(*row) for row in rows.iter_rows()]


def shown(listing):
    return set(listing.suggestions.select("qna_id", "head").iter_rows())


def test_q08_a_question_of_two_pairs_is_a_conflict_and_known_for_both(bot):
    made = bot.has(("hello", 1), ("hello ", 2))
    assert made.clashes.select("key", "pairs").rows() == [("hello", [1, 2])]
    for pair in (1, 2):
        bot.asked("Hello!", pair, times=6)
    outcome = bot.night()
    assert shown(outcome.listing) == set()
    assert told(outcome.listing) == ["already known: 12 queries"]


def test_q09_what_is_a_question_already_is_no_suggestion(bot):
    bot.has(("¿Cómo cambio mi clave?", 1))
    bot.asked("como cambio mi clave", 1, times=9)
    listing = bot.night().listing
    assert shown(listing) == set()
    assert told(listing) == told(listing, "pair") == ["already known: 9 queries"]


@pytest.mark.parametrize("typed", ["never mind", "Never mind!!", "  NEVER   mind? "])
def test_q10_what_was_rejected_does_not_come_back_when_it_is_typed_again(bot, typed):
    bot.has(("cancel my order", 1))
    bot.asked("never mind", 1, times=5)
    (one,) = bot.night().listing.suggestions["suggestion"]
    bot.decides("rejected", one)
    bot.asked(typed, 1, times=50)
    for day in (1, 2):
        listing = bot.night(day).listing
        assert shown(listing) == set()
        assert told(listing) == ["rejected before: 55 queries"]
    # Neither a fresh import nor the exported file brings it back.
    bot.has(("cancel my order", 1), ("refund", 2))
    assert shown(bot.night(3).listing) == set()
    assert bot.exported().suggested.is_empty()


def test_q11_a_repeated_upload_adds_nothing_and_a_bad_one_changes_nothing(bot):
    bot.has(("help", 1), ("open", 2))
    questions = bot.state.load("questions")["questions"]
    assert bot.has(("help", 1), ("open", 2)).is_unchanged
    with pytest.raises(knowledge.KnowledgeBaseError, match=r"row 4, column QnaId"):
        bot.has(("help", 1), ("open", 2), ("close", "x"))
    assert bot.state.load("questions")["questions"].equals(questions)
    bot.has(("help", 1), ("open", 2), ("close", 3))
    assert bot.exported().questions["question"].to_list() == ["help", "open", "close"]


def test_q12_a_text_that_was_corrected_is_not_listed_again(bot):
    bot.has(("reset my password", 1), ("change my password", 2))
    for pair in (1, 2):
        bot.asked("new pass phrase please", pair, times=6)
    first, second = bot.night().listing.suggestions["suggestion"]
    pair = dict(
        listed(bot.state).suggestions.select("suggestion", "qna_id").iter_rows()
    )
    bot.decides("rejected", first)
    bot.decides("accepted", second)
    bot.asked("New pass phrase, please!", pair[first], times=9)
    assert shown(bot.night(1).listing) == set()
    questions = bot.exported().questions.rows()
    assert questions.count((pair[second], "new pass phrase please")) == 1
    assert len(questions) == 3


def test_q12_applying_all_does_not_fail_for_what_it_cannot_decide(bot):
    bot.has(("reset my password", 1), ("change my password", 2))
    for pair in (1, 2):
        bot.asked("new pass phrase", pair, times=6)
    bot.asked("i forgot it", 1, times=5)
    bot.night()
    made = reviewed_all(bot.state, "accepted", at=NIGHT)
    assert made.accepted_count == 1
    assert made.left["text"].to_list() == ["new pass phrase"] * 2
    assert (1, "i forgot it") in bot.exported().questions.rows()


def test_q13_texts_without_words_are_kept_apart_and_as_they_are(bot):
    bot.has(("help", 1))
    for text in ("❤", "😀", "¿?"):
        bot.asked(text, 1, times=3)
    listing = bot.night().listing
    assert shown(listing) == set()
    assert told(listing) == ["the largest group holds 3 of 5 similar queries"]
    for text in ("❤", "😀", "¿?"):
        bot.asked(text, 1, times=2)
    suggestions = bot.night(1).listing.suggestions
    assert set(suggestions.select("head", "size").iter_rows()) == {
        ("❤", 5),
        ("😀", 5),
        ("¿?", 5),
    }
    (heart,) = suggestions.filter(head="❤")["suggestion"]
    bot.decides("accepted", heart)
    assert "❤" in bot.exported().questions["question"].to_list()


def test_q21_any_order_of_the_log_gives_the_same_ids_and_bytes(tmp_path):
    texts = [
        *("reset password", "password reset", "reset the password", "reset pasword"),
        *("open today", "are you open today", "opening hours today", "❤", "refund"),
    ]
    rows = [(text, place % 3 + 1, place % 4 + 3) for place, text in enumerate(texts)]
    found = []
    for seed in range(20):
        bot = Bot(tmp_path / str(seed))
        bot.has(("help", 1), ("login", 2), ("shop", 3))
        for row in rows:
            bot.asked(*row)
        order = pl.Series(range(len(bot.records))).shuffle(seed)
        bot.records = [bot.records[place] for place in order]
        bot.night()
        tables = bot.state.root.glob("*-*.parquet")
        found.append({path.name: path.read_bytes() for path in tables})
    assert any(name.startswith("suggestions") for name in found[0])
    assert all(files == found[0] for files in found)


def test_q23_a_group_that_is_too_small_says_so_and_is_shown_with_the_fifth(bot):
    bot.has(("reset my password", 1))
    bot.asked("i forgot my login", 1, times=4)
    listing = bot.night().listing
    assert shown(listing) == set()
    reason = ["the largest group holds 4 of 5 similar queries"]
    assert told(listing) == told(listing, "pair") == reason
    bot.asked("I forgot my login!", 1)
    listing = bot.night(1).listing
    assert listing.suggestions.select("head", "size").rows() == [
        ("i forgot my login", 5)
    ]
    assert told(listing) == []


def test_q24_none_of_the_above_is_a_content_gap_and_of_no_pair(bot):
    bot.has(("reset my password", 1))
    bot.asked("reset my phone", "none", times=6)
    listing = bot.night().listing
    assert listing.suggestions.select("qna_id", "head", "size").rows() == [
        (None, "reset my phone", 6)
    ]
    assert bot.exported().suggested.is_empty()


def test_every_listed_case_has_a_test():
    names = vars(sys.modules[__name__])
    for case in IDS:
        assert any(name.startswith(f"test_{case.lower()}_") for name in names), case
