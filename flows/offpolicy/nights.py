"""Estimates of one night from the evidence of its days, window by window.

    night        the night's own decisions                       one look
    last_7       the last seven days, the night's included       one look
    last_28      the last 28                                     one look
    since_start  everything from the start up to the night       every look

Where some rewards are the declared default one, "since the start" is estimated a second
time as if those rewards were missing: the interval then holds whatever they would have
been. It uses the same share of the error, and is a statement of its own.

Segments are estimated since the start; any window of theirs is made from the evidence
when it is asked for (`flows.on_demand`).

Only "since the start" has one fixed beginning, so only its interval holds at every
look, night after night; the others hold for the one night that is looked at
(validity.md 9).

Where "since the start" begins, and which share of the error each candidate, pair and
segment has, `flows.offpolicy.plan` says. A segment starts on the first night it has
decisions; segments whose value first appears on the b-th night that brings new ones
divide the share of place b (`.adr/0003-shares.md`).
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from flows.offpolicy.assumptions import assumptions
from flows.offpolicy.cells import Cells
from flows.offpolicy.estimate import (
    Estimate,
    Evidence,
    Finding,
    contradiction,
    find,
)
from flows.offpolicy.evidence import REWARD_DEFAULT
from flows.offpolicy.exact import merge
from flows.offpolicy.methods import EXPLORATORY, Design, Window
from flows.offpolicy.plan import Plan, Subject, series_share

WINDOWS: Mapping[str, int | None] = {
    "night": 1,
    "last_7": 7,
    "last_28": 28,
    "since_start": None,
}
HEADLINE = "since_start"
# What an estimate is made by; never mixed without a name (`flows.offpolicy.twins`).
IMPORTANCE_WEIGHTING = "importance weighting"
DOUBLY_ROBUST = "doubly robust"
# Importance weighting where a default reward is as good as none.
WITHOUT_DEFAULT = "without default reward"
EPOCH = dt.date(1970, 1, 1)
SCHEMA: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "night": pl.Date,
    "window": pl.String,
    "window_start": pl.Date,
    "window_end": pl.Date,
    "candidate": pl.String,
    "other": pl.String,
    "segment_by": pl.String,
    "segment": pl.String,
    "estimand": pl.String,
    "estimator": pl.String,
    "estimate": pl.Float64,
    "lower": pl.Float64,
    "upper": pl.Float64,
    "identified_lower": pl.Float64,
    "identified_upper": pl.Float64,
    "method": pl.String,
    "confidence": pl.Float64,
    "look": pl.String,
    "assumes": pl.String,
    "state": pl.String,
    "decisions": pl.Int64,
    "missing_reward": pl.Int64,
    "missing_support": pl.Int64,
    "missing_both": pl.Int64,
    "unsupported_probability": pl.Float64,
    "mean_weight": pl.Float64,
    "expected_mean_weight": pl.Float64,
    "effective_sample_size": pl.Float64,
    "largest_weight": pl.Float64,
    "top_share": pl.Float64,
    "assumptions": pl.List(
        pl.Struct({"assumption": pl.String, "status": pl.String, "finding": pl.String})
    ),
}


Contradictions = Mapping[tuple[str, dt.date], str | None]


def contradictions(
    subject: Subject, evidence: pl.DataFrame, nights: Collection[dt.date], plan: Plan
) -> dict[tuple[str, dt.date], str | None]:
    """How a candidate's weights up to each night contradict the logged probabilities.

    evidence: with a column `day`.
    """
    whole = evidence.filter(pl.col("segment_by") == "")
    cells = plan.cells(whole, subject)
    return {
        (subject[0], night): contradiction(
            cells.where(cells.day <= _number(night)), subject[0]
        )
        for night in nights
        if cells.day.min() <= _number(night)
    }


def estimate_subject(
    subject: Subject,
    evidence: pl.DataFrame,
    exact: pl.DataFrame | None,
    nights: Collection[dt.date],
    plan: Plan,
    against: Contradictions,
) -> Iterator[dict[str, Any]]:
    """The estimates of a candidate or pair on some nights, as rows of `SCHEMA`.

    evidence, exact: of the subject, with a column `day`; days after a night are not
        looked at.
    against: what `contradictions` says of the candidates.
    """
    keys = ["segment_by", "segment"]
    parts = evidence.partition_by(keys, as_dict=True)
    scores = exact.partition_by(keys, as_dict=True) if exact is not None else {}
    shares = segment_shares({part: rows for part, rows in parts.items() if part[0]})
    for part, rows in parts.items():
        one = _Part(
            subject,
            part,
            plan.cells(rows, subject),
            scores.get(part),
            plan.share(subject) * shares.get(part, 1.0),
            _day(plan.cells(rows, subject).day.min()),
        )
        made = [one]
        if not part[0] and exact is None and (rows["kind"] >= REWARD_DEFAULT).any():
            cells = plan.cells(rows, subject, with_defaults=False)
            made.append(replace(one, cells=cells, estimator=WITHOUT_DEFAULT))
        for night in nights:
            if one.first_seen <= night:
                found = [against.get((name, night)) for name in subject]
                for each in made:
                    yield from _rows(each, night, plan, found[0] or found[1])


def frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Estimates as a sorted frame of `SCHEMA`."""
    keys = ["window", "candidate", "other", "segment_by", "segment", "estimand"]
    return pl.DataFrame(list(rows), schema=SCHEMA).sort(*keys, "estimator")


def headline() -> pl.Expr:
    """Whether answers are read from a row: importance weighting since the start."""
    is_whole = (pl.col("window") == HEADLINE) & (pl.col("segment_by") == "")
    return is_whole & (pl.col("estimator") == IMPORTANCE_WEIGHTING)


def segment_shares(
    segments: Mapping[tuple[str, ...], pl.DataFrame],
) -> dict[tuple[str, ...], float]:
    """The share of each segment, fixed for ever on the night its value first appears.

    The segments that appear on the b-th night that brings new ones divide the share
    of place b among themselves.
    """
    first: dict[tuple[str, ...], dt.date] = {
        part: cells["day"].sort()[0] for part, cells in segments.items()
    }
    nights = sorted(set(first.values()))
    sizes = Counter(first.values())
    return {
        part: series_share(nights.index(day) + 1) / sizes[day]
        for part, day in first.items()
    }


@dataclass(frozen=True, slots=True)
class _Part:
    """Evidence of a candidate or pair in a segment, of all days."""

    subject: Subject
    segment: tuple[str, ...]
    cells: Cells
    exact: pl.DataFrame | None
    share: float
    first_seen: dt.date
    estimator: str = IMPORTANCE_WEIGHTING


def _rows(
    one: _Part, night: dt.date, plan: Plan, against: str | None
) -> Iterator[dict[str, Any]]:
    (candidate, other), (cut, segment) = one.subject, one.segment
    design, fixed_from = plan.design_at(night), plan.fixed_from(one.subject)
    start = plan.start(one.subject, one.first_seen, night)
    made: dict[Window, Finding | None] = {}
    for window, length in WINDOWS.items():
        is_short = bool(cut) or one.estimator != IMPORTANCE_WEIGHTING
        if is_short and window != HEADLINE:
            continue
        first = night - dt.timedelta(days=length - 1) if length else start
        begin = max(first, one.first_seen)
        looked_at = Window(
            _number(begin), (night - begin).days + 1, is_from_start=length is None
        )
        if looked_at not in made:
            made[looked_at] = _finding(
                one, looked_at, design, is_withheld=against is not None
            )
        found = made[looked_at]
        if found is None:
            continue
        told = assumptions(
            found,
            against,
            design,
            first=begin.isoformat(),
            last=night.isoformat(),
        )
        for estimate in found.estimates:
            if candidate == plan.baseline and estimate.estimand != "value":
                continue
            yield {
                "night": night,
                "window": window,
                "window_start": first,
                "window_end": night,
                "candidate": candidate,
                "other": other,
                "segment_by": cut,
                "segment": segment,
                "estimator": one.estimator,
                **_numbers(estimate, found),
                **({"look": EXPLORATORY} if first < fixed_from else {}),
                "assumptions": [asdict(assumption) for assumption in told],
            }


def _finding(
    one: _Part, window: Window, design: Design, *, is_withheld: bool
) -> Finding | None:
    """What the evidence of a window says; None without a decision."""
    last = window.first + window.nights - 1
    inside = (one.cells.day >= window.first) & (one.cells.day <= last)
    if not inside.any():
        return None
    exact = one.exact
    if exact is not None:
        days = pl.col("day").is_between(_day(window.first), _day(last))
        exact = merge(exact.filter(days))
    return find(
        Evidence(one.cells.where(inside), exact, window),
        design=design,
        share=one.share,
        is_withheld=is_withheld,
    )


def _number(day: dt.date) -> int:
    """Days since 1970."""
    return (day - EPOCH).days


def _day(number: int) -> dt.date:
    """The day so many days after 1970 began."""
    return EPOCH + dt.timedelta(days=int(number))


def _numbers(estimate: Estimate, found: Finding) -> dict[str, Any]:
    missing, diagnostics = asdict(found.missing), asdict(found.diagnostics)
    if estimate.estimand != "value":
        diagnostics["top_share"] = None
    return {
        **asdict(estimate),
        "decisions": found.decisions,
        "missing_reward": missing["reward"],
        "missing_support": missing["support"],
        "missing_both": missing["both"],
        "unsupported_probability": missing["unsupported_probability"],
        **diagnostics,
    }
