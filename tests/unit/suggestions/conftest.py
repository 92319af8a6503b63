"""A small knowledge base, queries by the handful, and an engine that anyone can follow.

The engine groups texts by their first word. A text without a pair goes to the first
pair that has a question with that word; the margin is always .5. A near copy of a
rejected text begins with it and is at most two characters longer. While `is_apart`,
every text is a group.
"""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from flows.suggestions.baseline import imported
from flows.suggestions.cycle import cycle
from flows.suggestions.desk import Decision
from flows.suggestions.offers import MEMBERS
from flows.suggestions.reviews import reviewed
from flows.suggestions.schema import SIGNALS, Rules
from flows.suggestions.state import State
from flows.suggestions.texts import key

NIGHT = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
HEADER = "Question\tAnswer\tSource\tMetadata\tSuggestedQuestions\tQnaId"
PAIR_AND_KEY = ["qna_id", "key"]
QUERIES = pl.col("auto_count") + pl.col("user_count")


class FirstWord:
    """The engine. `calls` holds the pool of each call."""

    def __init__(self):
        self.calls = []
        self.is_apart = False

    def grouped(self, pool, questions, accepted, rejected, *, closed):
        self.calls.append(pool)
        placed = self._placed(pool, questions, accepted, rejected, closed)
        held = self._near(placed, rejected)
        placed = placed.join(held, on=PAIR_AND_KEY, how="anti")
        along = accepted.select(
            *PAIR_AND_KEY,
            margin=pl.lit(None, pl.Float64),
            is_accepted=pl.lit(value=True),
            count=0,
        )
        both = pl.concat([placed, along], how="diagonal_relaxed")
        word = pl.col("key").str.split(" ").list.first()
        heads = (
            both.filter(~pl.col("is_accepted"))
            .with_columns(word=word)
            .sort("count", "key", descending=[True, False])
            .unique(["qna_id", "word"], keep="first", maintain_order=True)
            .select("qna_id", "word", head_key="key")
        )
        members = both.with_columns(word=word, similarity=0.5).join(
            heads, on=["qna_id", "word"], nulls_equal=True
        )
        if self.is_apart:
            members = members.with_columns(head_key="key")
        return members.select(MEMBERS.names()), held

    def _placed(self, pool, questions, accepted, rejected, closed):
        barred = pl.concat([rejected.select(PAIR_AND_KEY), closed])
        first = pl.col("w").str.split(" ").list.first()
        words = questions.select("qna_id", w=key(pl.col("question")))
        words = words.with_columns(first).unique()
        texts = pool.filter(~pl.col("key").is_in(accepted["key"].implode()))
        texts = texts.with_columns(count=QUERIES, w=pl.col("key")).with_columns(first)
        own = texts.filter(kind="unassigned").drop("qna_id").join(words, on="w")
        own = own.join(barred, on=PAIR_AND_KEY, how="anti").sort("qna_id")
        own = own.unique("key", keep="first").with_columns(margin=0.5)
        given = texts.filter(pl.col("kind") != "unassigned")
        placed = pl.concat([given, own], how="diagonal_relaxed")
        if "margin" not in placed.columns:
            placed = placed.with_columns(margin=pl.lit(None, pl.Float64))
        placed = placed.join(barred, on=PAIR_AND_KEY, how="anti")
        return placed.select(*PAIR_AND_KEY, "margin", "count", is_accepted=False)

    def _near(self, placed, rejected):
        said = rejected.select("qna_id", said="key")
        longer = pl.col("key").str.len_chars() - pl.col("said").str.len_chars()
        near = placed.join(said, on="qna_id").filter(
            pl.col("key").str.starts_with(pl.col("said")), longer <= 2
        )
        return near.select(PAIR_AND_KEY).unique()


class Bot:
    """A state folder with a knowledge base, and what happens to it."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.state = State(folder / "state")
        self.engine = FirstWord()
        self.rules = Rules()

    def has(self, *rows, file="kb.tsv", day=0):
        """Imports a file with rows (question, pair) or (question, pair, suggested)."""
        cells = [(*row, "[]")[:3] for row in rows]
        lines = [f"{q}\tAnswer\tbot\t\t{told}\t{pair}" for q, pair, told in cells]
        path = self.folder / file
        path.write_text("\n".join([HEADER, *lines, ""]), encoding="utf-8")
        return imported(self.state, path, name="bot", at=at(day))

    def asked(self, *rows, day=0, read=None, **options):
        """Runs a cycle with signals."""
        frame = rows[0] if rows and isinstance(rows[0], pl.DataFrame) else told(*rows)
        return cycle(
            self.state,
            frame.lazy(),
            engine=self.engine,
            rules=self.rules,
            as_of=at(day),
            read_count=frame.height if read is None else read,
            **options,
        )

    def decides(self, verdict, suggestion, question=None, day=0):
        """Reviews one suggestion or text."""
        made = Decision(suggestion, verdict, question)
        return reviewed(self.state, [made], at=at(day), by="ana")

    def table(self, name):
        return self.state.load(name)[name]

    def files(self):
        """Names and bytes of every file of the state but the lock."""
        return {
            str(path.relative_to(self.state.root)): path.read_bytes()
            for path in sorted(self.state.root.rglob("*"))
            if path.is_file() and path.name != ".lock"
        }


def at(day):
    return NIGHT + dt.timedelta(days=day)


def told(*rows):
    """Signals: each row is a dict; `times` repeats it, every time another event.

    The event is a hash of the row's place unless it is given; kind follows from the
    pair; the key from the text.
    """
    made = []
    for row in rows:
        for _ in range(row.get("times", 1)):
            number = row.get("event", len(made) + 1000 * row.get("batch", 0))
            qna_id = row.get("qna_id")
            made.append(
                {
                    "event": number,
                    "asked_at": at(row.get("day", 0))
                    if row.get("dated", True)
                    else None,
                    "text": row["text"],
                    "is_masked": "<" in row["text"],
                    "user": row.get("user"),
                    "kind": row.get("kind", "unassigned" if qna_id is None else "auto"),
                    "qna_id": qna_id,
                    "bot_qna_id": row.get("bot"),
                }
            )
    schema = {name: kind for name, kind in SIGNALS.items() if name != "key"}
    frame = pl.DataFrame(made, schema=schema)
    return frame.with_columns(key=key(pl.col("text"))).select(SIGNALS.names())


def ids(outcome):
    return outcome.listing.suggestions["suggestion"].to_list()


@pytest.fixture
def bot(tmp_path):
    """A bot with three pairs."""
    made = Bot(tmp_path)
    made.has(("help me", 1), ("open hours", 2), ("pay bill", 3))
    return made


@pytest.fixture
def new_bot(tmp_path):
    """Makes bots without a knowledge base, each in a folder of its own."""

    def make(name="other"):
        return Bot(tmp_path / name)

    return make


@pytest.fixture(name="told")
def _told():
    return told


@pytest.fixture(name="ids")
def _ids():
    return ids


@pytest.fixture(name="at")
def _at():
    return at
