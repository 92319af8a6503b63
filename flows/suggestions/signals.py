"""User questions in, signals out: which text speaks for which pair, and how.

A signal is one text for one pair. Its kind says where it comes from:

    user        a feedback record that names the pair
    auto        a query whose answers lay close together, once for each pair of its near
                group (`flows.suggestions.near`)
    unassigned  a query without logged scores; a pair is found for it later, and the
                bot's best answer helps
    gap         no pair: a feedback record that says so, no answer, no score above 20

A query that the bot answered clearly is no signal. Test traffic is left out, and so is
a text that is empty or longer than 1,000 characters, the most the service stores.

One event counts once (`flows.suggestions.events`): repeats within one call are dropped
here, repeats from run to run by the state, which knows the hashes. Without ids an event
is a position in a file, and a file that grows is another file: logs that are appended
to need event ids.

Texts are masked before anything else sees them, their line breaks and control
characters are spaces, and they are trimmed; they keep every other character.

Source: qna-suggestions sections 1.1, 5.1 and 5.6; cases Q07, Q13, Q16, Q24.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from flows import queries
from flows.suggestions import feedback, questions
from flows.suggestions.broken import SignalsError, broken_rules
from flows.suggestions.events import distinct_events
from flows.suggestions.logs import open_files
from flows.suggestions.masking import masked
from flows.suggestions.near import LOWEST_TOP, SCALE, near_pairs
from flows.suggestions.schema import SIGNALS
from flows.suggestions.texts import key
from flows.suggestions.users import user_hash

LONGEST = 1_000  # characters
# What makes a text more than empty.
VISIBLE = r"[^\s\p{Z}\p{Cc}\p{Cf}]"
UNSEEN = r"[\p{Cc}\p{Zl}\p{Zp}]+"
# While it takes in and checks the logs, DuckDB is alone; then they stand beside the
# signals, on disk for the most part.
TAKING_IN = "512MB"
STANDING_BY = "128MB"


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the rows of both logs.

    queries, records: rows of the log of questions, and feedback records. They are
    either left out: tests, empty, too_long, repeated (in this order); or answered
    clearly: clear; or signals: near, unassigned, gap, explicit.
    unknown_pairs: for how many pairs of near and explicit ones there is no signal,
    since the knowledge base has no such pair.
    """

    queries: int
    records: int
    tests: int
    empty: int
    too_long: int
    repeated: int
    clear: int
    near: int
    unassigned: int
    gap: int
    explicit: int
    unknown_pairs: int


@dataclass(frozen=True, slots=True)
class Signals:
    """`frame`: columns of `schema.SIGNALS`, sorted by event and pair."""

    frame: pl.DataFrame
    counts: Counts


def signals(
    question_files: Sequence[str | Path],
    feedback_files: Sequence[str | Path],
    *,
    score_unit: float | None,
    user_key: bytes,
    known_pairs: Collection[int] | None = None,
) -> Signals:
    """Reads both logs and returns what they say.

    question_files, feedback_files: Parquet or JSON; see `questions` and `feedback`.
    score_unit: the highest score there can be, 1 or 100; None when none are logged.
    user_key: of at least 16 bytes, see `users`.
    known_pairs: the pairs of the knowledge base; None when any pair is taken.
    Raises: SignalsError with every problem of all files; UsageError for a key that is
    too short or a unit that there is not.
    """
    user = user_hash(pl.col("user_id"), user_key)
    unit = questions.checked_unit(score_unit)
    values = {
        "score_unit": score_unit,
        "lowest_top": LOWEST_TOP * unit / SCALE,
        "unusual_pairs": [pair for pair in known_pairs or () if pair <= 0],
        "visible": VISIBLE,
        "longest": LONGEST,
    }
    heard = _Heard()
    with queries.connection() as con:
        _load(con, question_files, feedback_files, values)
        rows = _rows(con, values)
        con.execute(f"set memory_limit = '{STANDING_BY}'")
        for block in distinct_events(con, "queries", rows["queries"], values):
            heard.take(block.height, _spoken(block, unit), user, known_pairs)
        for block in distinct_events(con, "feedback", rows["feedback"], values):
            heard.take(block.height, _named(block), user, known_pairs)
    frame = pl.concat(heard.parts).sort("event", "qna_id")
    return Signals(frame, heard.counts(rows))


@dataclass(slots=True)
class _Heard:
    """What the blocks said so far.

    kinds: rows by kind. fresh: rows of events that were new. unknown: signals of pairs
    that there are not.
    """

    parts: list[pl.DataFrame] = field(
        default_factory=lambda: [pl.DataFrame(schema=SIGNALS)]
    )
    kinds: Counter[str] = field(default_factory=Counter)
    fresh: int = 0
    unknown: int = 0

    def take(
        self,
        fresh: int,
        spoken: pl.DataFrame,
        user: pl.Expr,
        known: Collection[int] | None,
    ) -> None:
        """Adds what became of a block of `fresh` rows."""
        said = _signals(spoken, user)
        self.parts.append(_of_pairs(said, known))
        self.kinds.update(dict(spoken["kind"].value_counts().rows()))
        self.fresh += fresh
        self.unknown += said.height - self.parts[-1].height

    def counts(self, rows: Mapping[str, int]) -> Counts:
        """What became of the `rows` that there were."""
        return Counts(
            queries=rows["queries"],
            records=rows["feedback"],
            tests=rows["tests"],
            empty=rows["empty"],
            too_long=rows["too_long"],
            repeated=rows["kept"] - self.fresh,
            clear=self.fresh - self.kinds.total(),
            near=self.kinds["auto"],
            unassigned=self.kinds["unassigned"],
            gap=self.kinds["gap"],
            explicit=self.kinds["user"],
            unknown_pairs=self.unknown,
        )


def _load(
    con: duckdb.DuckDBPyConnection,
    question_files: Sequence[str | Path],
    feedback_files: Sequence[str | Path],
    values: Mapping[str, Any],
) -> None:
    """Makes the tables of both logs. Raises: SignalsError with all that is wrong."""
    problems: list[str] = []
    con.execute(f"set memory_limit = '{TAKING_IN}'")
    queries.run(con, "suggestions/macros")
    questions.load(con, open_files(question_files, problems), problems)
    feedback.load(con, open_files(feedback_files, problems), problems)
    broken = broken_rules(con, "queries", values)
    contradiction = questions.unit_contradiction(con, values["score_unit"])
    if contradiction is not None:
        problems.append(contradiction)
        # It says the same of every row.
        broken = [b for b in broken if b.rule != "scores_lie_in_their_unit"]
    broken += broken_rules(con, "feedback", values)
    if problems or broken:
        raise SignalsError(problems, broken)


def _rows(con: duckdb.DuckDBPyConnection, values: Mapping[str, Any]) -> dict[str, int]:
    """How many rows the logs have, how many are left out, and how many are kept."""
    counted = partial(queries.run, con, "suggestions/left_out", values)
    (asked,) = counted(log="logged_queries", is_test="is_test is true")
    (chosen,) = counted(log="feedback_records", is_test="false")
    total, *left_out = (a + b for a, b in zip(asked, chosen, strict=True))
    rows = {"queries": asked[0], "feedback": chosen[0], "kept": total - sum(left_out)}
    return rows | dict(zip(("tests", "empty", "too_long"), left_out, strict=True))


def _spoken(asked: pl.DataFrame, unit: float) -> pl.DataFrame:
    """The queries that are signals: their `kind` and, as `qna_id`, their pairs."""
    scored = asked.filter(pl.col("outcome") == "scored")
    pairs = near_pairs(scored["answers"], score_unit=unit)
    groups = pairs.group_by("row", maintain_order=True).agg("qna_id")
    near = scored[groups["row"]].with_columns(groups["qna_id"], kind=pl.lit("auto"))
    others = asked.filter(pl.col("outcome") != "scored").with_columns(
        qna_id=pl.lit([None], dtype=pl.List(pl.Int64)), kind=pl.col("outcome")
    )
    return pl.concat([near, others.select(near.columns)])


def _named(chosen: pl.DataFrame) -> pl.DataFrame:
    """The feedback records in the same shape."""
    pair = pl.col("qna_id")
    return chosen.with_columns(
        kind=pl.when(pair.is_null()).then(pl.lit("gap")).otherwise(pl.lit("user")),
        qna_id=pl.concat_list(pair),
        bot_qna_id=pl.lit(None, dtype=pl.Int64),
    )


def _signals(spoken: pl.DataFrame, user: pl.Expr) -> pl.DataFrame:
    """One row a text and pair, the text masked and with its key."""
    plain = spoken["question"].str.replace_all(UNSEEN, " ").str.strip_chars()
    texts = spoken.hstack(masked(plain)).with_columns(
        key=key(pl.col("text")), user=user
    )
    return texts.select(SIGNALS.names()).explode("qna_id").cast(SIGNALS)


def _of_pairs(said: pl.DataFrame, known: Collection[int] | None) -> pl.DataFrame:
    """The signals of pairs that there are; what the bot answered likewise."""
    if known is None:
        return said
    pairs = pl.Series(sorted(known), dtype=pl.Int64).implode()
    pair, bot = pl.col("qna_id"), pl.col("bot_qna_id")
    found = said.filter(pair.is_null() | pair.is_in(pairs))
    return found.with_columns(pl.when(bot.is_in(pairs)).then(bot))
