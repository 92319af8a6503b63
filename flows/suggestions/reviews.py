"""Decisions about suggestions: accepted texts become alternate questions of their pair.

Accepting closes a text for all pairs and adds it to its pair, in the state: the
knowledge-base file changes when it is exported. Rejecting closes the text for its pair,
for good. A decision is about one text of a suggestion, or about all that are undecided.

Decisions come one by one (`reviewed`), all at once (`reviewed_all`) or in the file that
the review page saves (`applied`):

    {"schema": "untaken.decisions/1", "state": MARK,
     "decisions": [{"id": ..., "question": ..., "verdict": "accepted"}]}

where MARK is `Listing.mark`; `schema` and `question` may be left out. MARK names the
state, and a file about another one is refused. Decisions take effect together or not at
all; every problem is listed with its row (`flows.suggestions.desk`). Deciding the same
again changes nothing.
Source: document 003, "Visualización de las preguntas sugeridas"; qna-suggestions 1.2.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from flows.suggestions.decided import settled, still_open
from flows.suggestions.desk import (
    READ,
    Decision,
    Desk,
    ReviewError,
    Verdict,
    reviewable,
)
from flows.suggestions.listing import mark
from flows.suggestions.schema import TABLES
from flows.suggestions.state import Snapshot, State, instant

SCHEMA = "untaken.decisions/1"
PARTS = ("schema", "state", "decisions")
FIELDS = ("id", "question", "verdict")
VERDICTS: dict[object, Verdict] = {
    "accepted": "accepted",
    "accept": "accepted",
    "rejected": "rejected",
    "reject": "rejected",
}


@dataclass(frozen=True, slots=True)
class Reviewed:
    """How many texts were accepted, rejected, and decided that way before.

    left: texts that `reviewed_all` did not accept, since they stand under several pairs
    or under none: suggestion, qna_id, text.
    """

    accepted_count: int
    rejected_count: int
    unchanged_count: int
    left: pl.DataFrame


def reviewed(
    state: State, decisions: Sequence[Decision], *, at: datetime, by: str | None = None
) -> Reviewed:
    """Takes decisions, all or none.

    at: when they were made. by: who made them, if that is to be kept.
    Raises: ReviewError with every problem.
    """
    with state.alone():
        snapshot = state.load(*READ)
        return _taken(state, snapshot, Desk(snapshot, decisions), (instant(at), by))


def reviewed_all(
    state: State,
    verdict: Verdict,
    *,
    at: datetime,
    by: str | None = None,
    qna_id: int | None = None,
    minimum_size: int = 1,
) -> Reviewed:
    """Accepts or rejects every undecided text of the open suggestions.

    qna_id: of this pair only. minimum_size: of suggestions of this size or more. A text
    that several pairs are offered is accepted only where the pair is named.
    """
    with state.alone():
        snapshot = state.load(*READ)
        texts = reviewable(snapshot)
        is_shared = pl.col("qna_id").is_null() | pl.struct("key").is_duplicated()
        named = pl.lit(value=True) if qna_id is None else pl.col("qna_id") == qna_id
        asked = texts.with_columns(is_shared=is_shared).filter(
            named, pl.col("size") >= minimum_size
        )
        is_left = pl.col("is_shared") if verdict == "accepted" else pl.lit(value=False)
        if qna_id is not None:
            is_left = pl.lit(value=False)
        decisions = [
            Decision(*row)
            for row in asked.filter(~is_left)
            .select("suggestion", pl.lit(verdict), "text")
            .iter_rows()
        ]
        made = _taken(state, snapshot, Desk(snapshot, decisions), (instant(at), by))
        left = asked.filter(is_left).select("suggestion", "qna_id", "text")
        return replace(made, left=left)


def applied(
    state: State, file: Path, *, at: datetime, by: str | None = None
) -> Reviewed:
    """Takes the decisions of a file that the review page saved, all or none.

    Raises: ReviewError with every problem of the file and of its decisions.
    """
    content = _read(file)
    with state.alone():
        snapshot = state.load(*READ)
        decisions = [
            _decision(row, f"row {number}")
            for number, row in enumerate(content["decisions"], 1)
        ]
        if problems := _wrong_about(content, snapshot):
            raise ReviewError(
                [*problems, *(n for n in decisions if isinstance(n, str))]
            )
        undecided = still_open(
            snapshot["members"], snapshot["reviews"], snapshot["questions"]
        )
        is_stale = content["state"] != mark(snapshot, undecided)
        desk = Desk(snapshot, decisions, is_stale=is_stale)
        return _taken(state, snapshot, desk, (instant(at), by))


def _taken(
    state: State,
    snapshot: Snapshot,
    desk: Desk,
    signed: tuple[datetime, str | None],
) -> Reviewed:
    """Takes the decisions and writes what is new. Raises: ReviewError."""
    at, by = signed
    new = pl.DataFrame(
        [
            (
                *(row["qna_id"], row["key_hash"], row["key"]),
                *(decision.question or row["text"], decision.verdict, "review"),
                *(row["suggestion"], row["margin"], snapshot.facts.get("margin")),
                *(by, at),
            )
            for row, decision in desk.take()
        ],
        schema=TABLES["reviews"],
        orient="row",
    )
    if new.height:
        reviews = pl.concat([snapshot["reviews"], new]).sort("qna_id", "key_hash")
        suggestions = settled(
            snapshot["suggestions"], snapshot["members"], reviews, snapshot["questions"]
        )
        state.commit({"reviews": reviews, "suggestions": suggestions})
    return Reviewed(
        accepted_count=new.filter(verdict="accepted").height,
        rejected_count=new.filter(verdict="rejected").height,
        unchanged_count=desk.unchanged_count,
        left=new.select("suggestion", "qna_id", "text").clear(),
    )


def _read(file: Path) -> dict[str, Any]:
    """The JSON object of a decisions file."""
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ReviewError([f"{file}: cannot be opened ({error.strerror})"]) from None
    except (ValueError, RecursionError) as error:
        raise ReviewError(
            [f"{file}: is not JSON ({error}); save the decisions anew"]
        ) from None
    if not isinstance(content, dict) or not isinstance(content.get("decisions"), list):
        told = f'{file}: has no list of "decisions"{_found(content)}'
        raise ReviewError([f"{told}; name a file of the review page"])
    return content


def _found(content: object) -> str:
    names = ", ".join(map(str, content)) if isinstance(content, dict) else ""
    return f", found: {names}" if names else ""


def _wrong_about(content: dict[str, Any], state: Snapshot) -> list[str]:
    """What shows decisions in another form, or about another state."""
    problems = [
        f"{name}: not known{_nearest(name, PARTS)}"
        for name in sorted(set(content) - set(PARTS))
    ]
    if content.get("schema", SCHEMA) != SCHEMA:
        problems.append(
            f"schema is {content['schema']!r}; this program reads {SCHEMA!r}"
        )
    told = content.get("state")
    name, identity, _ = ["", "", *str(told).rsplit("/", 2)][-3:]
    if name != state.name:
        problems.append(
            f"state is {told!r}; the decisions are not about the knowledge base "
            f"{state.name!r}. Its page, and list --json, hold the state to write"
        )
    elif identity != state.identity:
        problems.append(
            f"state is {told!r}; the decisions are about another state of the name "
            f"{name!r}: this one is {name}/{state.identity}. Apply them where they "
            "were made, or decide on the page of this one"
        )
    return problems


def _decision(row: object, place: str) -> Decision | str:
    """The decision of a row, or what is wrong with its form."""
    problem = _problem(row)
    if problem is None and isinstance(row, dict):
        verdict = VERDICTS[row["verdict"]]
        return Decision(row["id"], verdict, row.get("question"), place)
    return f"{place}: {problem}"


def _problem(row: object) -> str | None:
    """What is wrong with the form of a decision."""
    if not isinstance(row, dict):
        return f"{row!r} is not an object with {', '.join(FIELDS)}"
    unknown = [
        f"{n}: not known{_nearest(n, FIELDS)}" for n in sorted({*row} - {*FIELDS})
    ]
    if unknown:
        return ". ".join(unknown)
    if not isinstance(row.get("id"), str):
        return f"id is {row.get('id')!r}; write the id of a suggestion"
    if not isinstance(row.get("question"), str | None):
        return f"question is {row['question']!r}; write a text, or leave it out"
    verdict = row.get("verdict")
    if not isinstance(verdict, str) or verdict not in VERDICTS:
        return f"verdict is {verdict!r}; write accepted or rejected"
    return None


def _nearest(name: str, known: Sequence[str]) -> str:
    """What a key was meant to be, or the keys there are."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else f"; known: {', '.join(known)}"
