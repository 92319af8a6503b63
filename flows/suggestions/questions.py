"""The log of questions: what users asked the bot, when, and what it answered.

    question  asked_at  [answers: list of struct {qna_id, score}]  [event_id]  [user_id]
    [is_test]

`asked_at` has a zone. In an answer `id` and `qnaId` also name the pair, and
`confidenceScore` the score; further fields, such as those of the bot's service, are not
looked at. The first answer is the bot's best; the order only matters without scores.
Queries are copied in this form into a table of DuckDB, which spills to disk; then every
rule of `sql/suggestions/checks/queries` is applied.

Scores have one declared unit: 1 (0 to 1) or 100 (0 to 100). A log that contradicts it
is refused: a score above the unit, or a unit of 100 while no score is above 1.

Source: DESIGN section 4, qna-suggestions section 1.1; case Q07.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import polars as pl

from flows import queries
from flows.errors import UsageError
from flows.suggestions.logs import (
    IDENTITY,
    INSTANT,
    TEXT,
    TRUTH,
    Columns,
    LogFile,
    add,
    matching,
)
from flows.suggestions.near import SCALE

UNITS = (1, 100)
NO_ANSWERS = "null::struct(qna_id bigint, score double, unread varchar)[]"


def load(
    con: duckdb.DuckDBPyConnection, files: Sequence[LogFile], problems: list[str]
) -> None:
    """Makes the table `logged_queries` of all files."""
    queries.run(con, "suggestions/queries")
    for file in files:
        if file.schema is None:
            add(con, file, "json_queries", problems)
            continue
        columns = Columns(file.path, file.schema, [])
        pieces = {
            "their_question": columns.value(TEXT, "question", is_required=True),
            "their_asked_at": columns.value(INSTANT, "asked_at", is_required=True),
            "their_event_id": columns.value(IDENTITY, "event_id"),
            "their_user_id": columns.value(IDENTITY, "user_id"),
            "their_is_test": columns.value(TRUTH, "is_test"),
            "their_answers": _answers(columns),
        }
        problems += columns.problems
        if not columns.problems:
            add(con, file, "parquet_queries", problems, **pieces)


def checked_unit(score_unit: float | None) -> float:
    """The declared unit of scores, or 100 for a log that should have none.

    Raises: UsageError when it is neither 1 nor 100.
    """
    if score_unit is not None and score_unit not in UNITS:
        raise UsageError(f"score_unit = {score_unit:g} is neither 1 nor 100")
    return score_unit or SCALE


def unit_contradiction(
    con: duckdb.DuckDBPyConnection, score_unit: float | None
) -> str | None:
    """What is said when the scores of `logged_queries` contradict the declared unit."""
    ((highest,),) = queries.run(con, "suggestions/scores_seen")
    if highest is None:
        return None
    seen = f"the highest score in column answers is {highest:g}"
    if score_unit is None:
        return f"score_unit is not declared, but {seen}; declare 1 or 100"
    if highest > score_unit == 1:
        return (
            f"score_unit = 1 is declared, but {seen}; declare score_unit = 100 if "
            "scores run from 0 to 100"
        )
    if 0 < highest <= 1 < score_unit:
        return (
            f"score_unit = 100 is declared, but {seen}; declare score_unit = 1 if "
            "scores run from 0 to 1"
        )
    return None


def _answers(columns: Columns) -> str:
    """The DuckDB expression of a Parquet file's answers."""
    column = columns.named("answers")
    if column is None or columns.schema[column] == pl.Null:
        return NO_ANSWERS
    dtype = columns.schema[column]
    inner = dtype.inner if isinstance(dtype, pl.List | pl.Array) else None
    fields = dict(inner.to_schema()) if isinstance(inner, pl.Struct) else {}
    pair = matching(list(fields), ["qna_id"]) or matching(list(fields), ["id"])
    score = matching(list(fields), ["score"]) or matching(
        list(fields), ["confidence_score"]
    )
    if inner != pl.Null and not pair:
        columns.tell(
            f"column {column!r} is {dtype}; write lists of struct with qna_id and score"
        )
    held = [f"a.{queries.identifier(n[0])}" if n else "null" for n in (pair, score)]
    return f"[answer({', '.join(held)}) for a in {queries.identifier(column)}]"
