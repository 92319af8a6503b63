"""Rows of the table of estimates -> entries of the report document.

An entry is about one candidate, or about two compared ones: what is known of all
decisions since the start, by window, by segment, and as it stood on each night.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.nights import HEADLINE, WINDOWS
from flows.offpolicy.plan import Subject
from flows.reports.answer import supported_since
from flows.reports.night import NightFacts

Document = dict[str, Any]
Row = dict[str, Any]
Key = tuple[str, str, str, str]  # window, segment_by, segment, estimand
Rows = dict[Key, Row]

OF_ONE = ("value", "improvement")
OF_PAIR = ("difference",)
ESTIMATE_KEYS = (
    "estimate",
    "lower",
    "upper",
    "identified_lower",
    "identified_upper",
    "method",
    "confidence",
    "look",
    "assumes",
    "state",
)
DIAGNOSTIC_KEYS = (
    "effective_sample_size",
    "largest_weight",
    "mean_weight",
    "expected_mean_weight",
    "top_share",
)


def tonight(facts: NightFacts) -> dict[Subject, Rows]:
    """Rows of the night by subject, then (window, segment_by, segment, estimand)."""
    rows = facts.estimates.filter(
        pl.col("night") == facts.night,
        (pl.col("window") == HEADLINE) | (pl.col("segment_by") == ""),
    )
    found: dict[Subject, Rows] = {}
    for row in rows.iter_rows(named=True):
        key = (row["window"], row["segment_by"], row["segment"], row["estimand"])
        found.setdefault((row["candidate"], row["other"]), {})[key] = row
    return found


def history(facts: NightFacts) -> dict[Subject, list[Document]]:
    """By subject: one entry a night since the start, oldest first."""
    rows = facts.estimates.filter(
        pl.col("window") == HEADLINE,
        pl.col("segment_by") == "",
        pl.col("night") <= facts.night,
    ).sort("night", "candidate", "other")
    by_night: dict[Subject, dict[dt.date, Rows]] = {}
    for row in rows.iter_rows(named=True):
        nights = by_night.setdefault((row["candidate"], row["other"]), {})
        nights.setdefault(row["night"], {})[HEADLINE, "", "", row["estimand"]] = row
    return {
        subject: [
            {"night": night.isoformat(), **_counted(_of(found, HEADLINE))}
            | estimates(found, HEADLINE)
            for night, found in nights.items()
        ]
        for subject, nights in by_night.items()
    }


def candidate(
    name: str, spec: str, facts: NightFacts, rows: Rows, nights: list[Document]
) -> Document:
    """All that is known of a candidate."""
    value = rows[HEADLINE, "", "", "value"]
    fixed_at = facts.fixed_at.get(name)
    return {
        "candidate": name,
        "spec": spec,
        "fixed_at": None if fixed_at is None else fixed_at.isoformat(),
        "decisions": value["decisions"],
        "looks": _looks(value, facts),
        **estimates(rows, HEADLINE),
        "missing": missing(value),
        "assumptions": [
            {key: entry[key] for key in ("assumption", "status", "finding")}
            for entry in value["assumptions"] or []
        ],
        "diagnostics": {key: value[key] for key in DIAGNOSTIC_KEYS}
        | {
            "unknown_actions": [
                {"action": entry["action"], "nearest": entry["nearest"]}
                for entry in facts.unknown_actions.get(name, ())
            ]
        },
        "supported_since": supported_since(nights, facts.night.isoformat()),
        "windows": _windows(rows),
        "segments": _segments(rows),
        "nights": nights,
    }


def difference(
    pair: Subject, facts: NightFacts, rows: Rows, nights: list[Document]
) -> Document:
    """All that is known of two compared candidates: the first one minus the other."""
    row = rows[HEADLINE, "", "", "difference"]
    return {
        "candidate": pair[0],
        "other": pair[1],
        "decisions": row["decisions"],
        "looks": _looks(row, facts),
        **estimates(rows, HEADLINE),
        "missing": missing(row),
        "windows": _windows(rows),
        "segments": _segments(rows),
        "nights": nights,
    }


def doubly_robust(facts: NightFacts) -> list[Document]:
    """By candidate, in the order of the job file: the other estimator's answers."""
    found: dict[str, Rows] = {}
    for row in facts.doubly_robust.iter_rows(named=True):
        key = (HEADLINE, "", "", row["estimand"])
        found.setdefault(row["candidate"], {})[key] = row
    return [
        {"candidate": name} | estimates(found[name], HEADLINE)
        for name, _ in facts.candidates
        if name in found
    ]


def logging_policy(rows: Rows) -> Document:
    """The policy that ran: what it earned."""
    value = rows[HEADLINE, "", "", "value"]
    return {
        **_counted(value),
        "value": _estimate(value),
        "missing": missing(value),
    }


def pairs(subjects: Iterable[Subject], order: Sequence[str]) -> list[Subject]:
    """The compared pairs, in the order in which their candidates are declared."""
    return sorted(
        ((one, other) for one, other in subjects if other != NO_OTHER),
        key=lambda pair: [
            (order.index(name) if name in order else len(order), name) for name in pair
        ],
    )


def missing(row: Row) -> Document:
    """Missing decisions by kind."""
    return {
        "reward": row["missing_reward"],
        "support": row["missing_support"],
        "both": row["missing_both"],
        "unsupported_probability": row["unsupported_probability"],
    }


def _estimate(row: Row) -> Document:
    return {key: row[key] for key in ESTIMATE_KEYS}


def estimates(rows: Rows, window: str, by: str = "", segment: str = "") -> Document:
    """Each estimand that the rows hold, value before improvement."""
    keys = {name: (window, by, segment, name) for name in (*OF_ONE, *OF_PAIR)}
    return {name: _estimate(rows[key]) for name, key in keys.items() if key in rows}


def _of(rows: Rows, window: str, by: str = "", segment: str = "") -> Row:
    """Any of the rows: counts and dates are the same for each estimand."""
    keys = ((window, by, segment, name) for name in (*OF_ONE, *OF_PAIR))
    return next(rows[key] for key in keys if key in rows)


def _counted(row: Row) -> Document:
    return {"start": row["window_start"].isoformat(), "decisions": row["decisions"]}


def _windows(rows: Rows) -> Document:
    found = {}
    for window in WINDOWS:
        if made := estimates(rows, window):
            row = _of(rows, window)
            found[window] = {
                "start": row["window_start"].isoformat(),
                "end": row["window_end"].isoformat(),
                "decisions": row["decisions"],
                "look": row["look"],
                **made,
            }
    return found


def _segments(rows: Rows) -> list[Document]:
    """Segments since the start, in the order of their columns and values."""
    keys = {(by, segment) for window, by, segment, _ in rows if by}
    return [
        {"by": by, "segment": segment}
        | {"decisions": _of(rows, HEADLINE, by, segment)["decisions"]}
        | estimates(rows, HEADLINE, by, segment)
        for by, segment in sorted(keys, key=lambda key: (key[0], *_natural(key[1])))
    ]


def _natural(text: str) -> tuple[list[tuple[int, int, str]], str]:
    """A key that puts 2 before 10, then decides ties by the text itself."""
    parts = [
        (0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part)
        for part in text.replace(",", " ").split()
    ]
    return parts, text


def _looks(row: Row, facts: NightFacts) -> Document:
    """From which night on is looked at, and at which nights intervals narrow most."""
    start: dt.date = row["window_start"]
    dates = [start + dt.timedelta(night - 1) for night in facts.checkpoint_nights]
    return {
        "start": start.isoformat(),
        "checkpoints": [date.isoformat() for date in dates],
        "next_checkpoint": next(
            (date.isoformat() for date in dates if date > facts.night), None
        ),
    }
