"""Facts of one night -> the report document, the one source of every form of report.

The document (`untaken.report/1`) is a plain JSON value. It answers in this order:
should we switch (`answer`), how sure (`candidates[].improvement`), since when
(`candidates[].nights`, `supported_since`), for whom (`candidates[].segments`), and what
was missing or wrong (`missing`, `diagnostics`, `warnings`, `violations`, `days`).

It is a function of the facts alone: no clock, no run id, no order of rows. Rewards are
in the unit of the log, per decision. A candidate's own entry (`value`, `improvement`,
`missing`, `diagnostics`, `assumptions`) is that of all decisions since the start. What
is withheld or unknown is null with a `state`; NaN never appears.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from flows.reports.answer import answer, supported_since
from flows.reports.numbers import canonical, unit_of

Document = dict[str, Any]
Row = dict[str, Any]
Key = tuple[str, str, str, str]  # window, segment_by, segment, estimand

SCHEMA = "untaken.report/1"
LOGGING = "logging"
WINDOWS = ("night", "last_7", "last_28", "since_start")
HEADLINE = "since_start"
ESTIMATE_KEYS = (
    "estimate",
    "lower",
    "upper",
    "identified_lower",
    "identified_upper",
    "method",
    "confidence",
    "look",
    "state",
)
DIAGNOSTIC_KEYS = (
    "effective_sample_size",
    "largest_weight",
    "mean_weight",
    "expected_mean_weight",
    "top_share",
)


@dataclass(frozen=True)
class NightFacts:
    """All that a report may say, as the warehouse holds it.

    night: the reported night; every frame holds nights up to it.
    reward_range: lowest and highest reward, lowest first.
    confidence: in (0, 1), as declared; each estimate carries its own.
    candidates: (name, spec) in the order of the job file.
    estimates: table `estimates`; of earlier nights only the rows since the start,
        without segment, are read, and others may be left out.
    days: day, decisions, rewards (that arrived), actions (distinct), revision (0: as
        first read; one more for each change after it closed).
    warnings: rule, sentence, remedy, count.
    unknown_actions: candidate -> entries with action and nearest (text or None).
    violations: day, rule, count; of days that are still not repaired.
    """

    job: str
    night: dt.date
    timezone: str
    reward_range: tuple[float, float]
    propensity_floor: float
    confidence: float
    method: str
    candidates: tuple[tuple[str, str], ...]
    estimates: pl.DataFrame
    days: pl.DataFrame
    warnings: tuple[dict[str, Any], ...]
    unknown_actions: Mapping[str, tuple[dict[str, Any], ...]]
    violations: pl.DataFrame


def build(facts: NightFacts) -> Document:
    """The report document of one night.

    Raises: KeyError when a candidate, or the logging policy, has no estimate for the
    night: the tables and the job file contradict each other.
    """
    tonight = _tonight(facts)
    history = _history(facts)
    night = facts.night.isoformat()
    candidates = [
        _candidate(name, spec, facts, tonight[name], history.get(name, []))
        for name, spec in facts.candidates
    ]
    unit = unit_of(facts.reward_range)
    logging_value = tonight[LOGGING][HEADLINE, "", "", "value"]
    document = canonical(
        {
            "schema": SCHEMA,
            "job": facts.job,
            "night": night,
            "timezone": facts.timezone,
            "log": _log(facts),
            "evaluation": {
                "reward_range": [float(end) for end in facts.reward_range],
                "propensity_floor": facts.propensity_floor,
                "confidence": facts.confidence,
                "method": facts.method,
            },
            "answer": {},
            "logging_policy": {"value": _estimate(logging_value)},
            "candidates": candidates,
            "warnings": [
                {key: entry[key] for key in ("rule", "sentence", "remedy", "count")}
                for entry in facts.warnings
            ],
            "violations": _dated(facts.violations, ("day", "rule", "count")),
            "days": _dated(facts.days, ("day", "decisions", "rewards", "revision")),
        }
    )
    document["answer"] = answer(document["candidates"], night, unit)
    return dict(document)


def to_json(document: Document) -> str:
    """The document as JSON text: keys in a fixed order, no NaN, one final newline."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _tonight(facts: NightFacts) -> dict[str, dict[Key, Row]]:
    """Rows of the night by candidate, then (window, segment_by, segment, estimand)."""
    rows = facts.estimates.filter(
        pl.col("night") == facts.night,
        (pl.col("window") == HEADLINE) | (pl.col("segment_by") == ""),
    )
    found: dict[str, dict[Key, Row]] = {}
    for row in rows.iter_rows(named=True):
        key = (row["window"], row["segment_by"], row["segment"], row["estimand"])
        found.setdefault(row["candidate"], {})[key] = row
    return found


def _history(facts: NightFacts) -> dict[str, list[Row]]:
    """By candidate: one entry a night since the start, oldest first."""
    rows = facts.estimates.filter(
        pl.col("window") == HEADLINE,
        pl.col("segment_by") == "",
        pl.col("night") <= facts.night,
    ).sort("night")
    nights: dict[str, dict[dt.date, Row]] = {}
    for row in rows.iter_rows(named=True):
        of_candidate = nights.setdefault(row["candidate"], {})
        entry = of_candidate.setdefault(
            row["night"],
            {"night": row["night"].isoformat(), "decisions": row["decisions"]},
        )
        entry[row["estimand"]] = _estimate(row)
    return {
        name: [_ordered(entry) for entry in of_candidate.values()]
        for name, of_candidate in nights.items()
        if name != LOGGING
    }


def _ordered(entry: Row) -> Row:
    keys = ("night", "decisions", "value", "improvement")
    return {key: entry[key] for key in keys}


def _candidate(
    name: str,
    spec: str,
    facts: NightFacts,
    rows: dict[Key, Row],
    nights: list[Row],
) -> Document:
    value = rows[HEADLINE, "", "", "value"]
    unknown = facts.unknown_actions.get(name, ())
    return {
        "candidate": name,
        "spec": spec,
        "decisions": value["decisions"],
        "value": _estimate(value),
        "improvement": _estimate(rows[HEADLINE, "", "", "improvement"]),
        "missing": {
            "reward": value["missing_reward"],
            "support": value["missing_support"],
            "both": value["missing_both"],
            "unsupported_probability": value["unsupported_probability"],
        },
        "assumptions": [
            {key: entry[key] for key in ("assumption", "status", "finding")}
            for entry in value["assumptions"] or []
        ],
        "diagnostics": {key: value[key] for key in DIAGNOSTIC_KEYS}
        | {
            "unknown_actions": [
                {"action": entry["action"], "nearest": entry["nearest"]}
                for entry in unknown
            ]
        },
        "supported_since": supported_since(nights, facts.night.isoformat()),
        "windows": {
            window: _window(rows, window)
            for window in WINDOWS
            if (window, "", "", "value") in rows
        },
        "segments": _segments(rows),
        "nights": nights,
    }


def _window(rows: dict[Key, Row], window: str) -> Document:
    value = rows[window, "", "", "value"]
    return {
        "start": value["window_start"].isoformat(),
        "end": value["window_end"].isoformat(),
        "decisions": value["decisions"],
        "look": value["look"],
        "value": _estimate(value),
        "improvement": _estimate(rows[window, "", "", "improvement"]),
    }


def _segments(rows: dict[Key, Row]) -> list[Document]:
    """Segments since the start, in the order of their columns and values."""
    found = [
        {
            "by": by,
            "segment": segment,
            "decisions": row["decisions"],
            "value": _estimate(row),
            "improvement": _estimate(rows[window, by, segment, "improvement"]),
        }
        for (window, by, segment, estimand), row in rows.items()
        if by and window == HEADLINE and estimand == "value"
    ]
    return sorted(found, key=lambda entry: (entry["by"], *_natural(entry["segment"])))


def _natural(text: str) -> tuple[list[tuple[int, int, str]], str]:
    """A key that puts 2 before 10, then decides ties by the text itself."""
    parts = [
        (0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part)
        for part in text.replace(",", " ").split()
    ]
    return parts, text


def _estimate(row: Row) -> Document:
    return {key: row[key] for key in ESTIMATE_KEYS}


def _log(facts: NightFacts) -> Document:
    days = facts.days.filter(pl.col("day") <= facts.night).sort("day")
    tonight = days.filter(pl.col("day") == facts.night)
    first, last = days["day"].min(), days["day"].max()
    return {
        "decisions": int(days["decisions"].sum()),
        "days": days.height,
        "first_day": first.isoformat() if isinstance(first, dt.date) else None,
        "last_day": last.isoformat() if isinstance(last, dt.date) else None,
        "night_decisions": int(tonight["decisions"].sum()),
        "rewards": int(days["rewards"].sum()),
        "actions": int(max(days["actions"], default=0)),
    }


def _dated(frame: pl.DataFrame, keys: tuple[str, ...]) -> list[Document]:
    return [
        {
            key: value.isoformat() if isinstance(value, dt.date) else value
            for key, value in row.items()
        }
        for row in frame.select(keys).sort(keys).iter_rows(named=True)
    ]
