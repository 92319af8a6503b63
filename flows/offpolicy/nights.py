"""Estimates of one night from the evidence of its days, window by window.

    night        the night's own decisions              single look
    last_7       the last seven days, the night's included   single look
    last_28      the last 28                            single look
    since_start  everything up to the night             every look

Only "since the start" has one fixed beginning, so only its interval holds at every
look, night after night, while the mean stays constant; the others hold for the one
night that is looked at (validity.md 9).

Candidates are to hold together although some appear later: the i-th to appear uses the
share 6 / (pi^2 i^2) of the error, which sums to one without knowing how many will come
(validity.md 10). Segments are a second family of their candidate's: those whose value
first appears on the b-th night that brings new ones divide the share of place b
(`.adr/0003-shares.md`). A share never changes once it was used, so neither a new
candidate nor a new segment moves an interval that was published.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from flows.offpolicy.assumptions import assumptions
from flows.offpolicy.cells import Cells
from flows.offpolicy.estimate import Estimate, Evidence, Finding, find
from flows.offpolicy.exact import merge
from flows.offpolicy.grid import Grid

WINDOWS: Mapping[str, int | None] = {
    "night": 1,
    "last_7": 7,
    "last_28": 28,
    "since_start": None,
}
HEADLINE = "since_start"
EVERY_LOOK = "every look"
SINGLE_LOOK = "single look"

SCHEMA: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "night": pl.Date,
    "window": pl.String,
    "window_start": pl.Date,
    "window_end": pl.Date,
    "candidate": pl.String,
    "segment_by": pl.String,
    "segment": pl.String,
    "estimand": pl.String,
    "estimate": pl.Float64,
    "lower": pl.Float64,
    "upper": pl.Float64,
    "identified_lower": pl.Float64,
    "identified_upper": pl.Float64,
    "method": pl.String,
    "confidence": pl.Float64,
    "look": pl.String,
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


@dataclass(frozen=True, slots=True)
class Plan:
    """How estimates are made.

    places: of each candidate its place, from 1, in the order of first appearance.
    logging: the candidates that are the logging policy itself.
    baseline: among them, the one that stands for the policy that ran: value only.
    """

    grid: Grid
    method: str
    confidence: float
    places: Mapping[str, int]
    logging: frozenset[str]
    baseline: str

    def share(self, candidate: str) -> float:
        """The share of the error that a candidate's intervals may use."""
        if candidate == self.baseline:
            return 1.0
        return series_share(self.places[candidate])


def series_share(place: int) -> float:
    """The share of the place-th (from 1) of endlessly many: shares add up to one."""
    return 6.0 / (math.pi * place) ** 2


def estimate_night(
    night: dt.date,
    cells: pl.DataFrame,
    exact: pl.DataFrame | None,
    plan: Plan,
) -> pl.DataFrame:
    """All estimates of a night.

    cells, exact: evidence with a column `day`; later days are not looked at.
    Returns: a frame of `SCHEMA`, sorted.
    """
    counted = _parts(cells, night)
    scores = _parts(exact, night) if exact is not None else None
    rows = []
    for name in sorted({candidate for candidate, _, _ in counted}):
        whole = Cells.of(counted[name, "", ""], plan.grid)
        contradiction = Evidence(whole, None, name in plan.logging).contradiction()
        segments = [part for part in counted if part[0] == name and part[1]]
        shares = segment_shares({part: counted[part] for part in segments})
        for part in ((name, "", ""), *segments):
            share = plan.share(name) * shares.get(part, 1.0)
            one = _Part(
                night,
                part,
                counted[part],
                scores[part] if scores is not None else None,
                share,
                contradiction,
            )
            rows += list(_rows(one, plan))
    keys = ["window", "candidate", "segment_by", "segment", "estimand"]
    return pl.DataFrame(rows, schema=SCHEMA).sort(keys)


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
    """Evidence of one candidate (`part[0]`) and segment up to a night."""

    night: dt.date
    part: tuple[str, ...]
    cells: pl.DataFrame
    exact: pl.DataFrame | None
    share: float
    contradiction: str | None


def _rows(one: _Part, plan: Plan) -> Iterator[dict[str, Any]]:
    name, cut, segment = one.part
    made: dict[tuple[dt.date, ...], Finding] = {}
    for window, length in WINDOWS.items():
        start = one.night - dt.timedelta(days=length - 1) if length else dt.date.min
        inside = one.cells.filter(pl.col("day") >= start)
        if inside.is_empty():
            continue
        days = tuple(inside["day"].unique().sort())
        if days not in made:
            made[days] = _finding(one, inside, start, plan)
        found = made[days]
        told = assumptions(
            found,
            one.contradiction,
            first=days[0].isoformat(),
            last=days[-1].isoformat(),
        )
        for estimate in found.estimates:
            if name == plan.baseline and estimate.estimand != "value":
                continue
            yield {
                "night": one.night,
                "window": window,
                "window_start": start if length else days[0],
                "window_end": one.night,
                "candidate": name,
                "segment_by": cut,
                "segment": segment,
                "look": SINGLE_LOOK if length else EVERY_LOOK,
                **_numbers(estimate, found),
                "assumptions": [asdict(assumption) for assumption in told],
            }


def _finding(one: _Part, cells: pl.DataFrame, start: dt.date, plan: Plan) -> Finding:
    exact = one.exact
    if exact is not None:
        exact = merge(exact.filter(pl.col("day") >= start))
    return find(
        Evidence(Cells.of(cells, plan.grid), exact, one.part[0] in plan.logging),
        method=plan.method,
        confidence=plan.confidence,
        share=one.share,
        is_withheld=one.contradiction is not None,
    )


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


def _parts(counts: pl.DataFrame, night: dt.date) -> dict[tuple[str, ...], pl.DataFrame]:
    """Counts up to a night by candidate, segment_by and segment."""
    keys = ["candidate", "segment_by", "segment"]
    known = counts.filter(pl.col("day") <= night)
    return known.partition_by(keys, as_dict=True)
