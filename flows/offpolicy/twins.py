"""Doubly robust estimates, each beside the importance weighted one it is a twin of.

The mean of the counted scores (`flows.offpolicy.doubly_robust`) and its interval, by
the method, window, looks and share of the error that the twin has: the two estimators
are families of their own, each at the declared confidence. Which decisions are missing,
and what their weights look like, is the same for both. Where the twin is withheld, or
no reward is known, there is no doubly robust number either; one that comes out with an
empty interval is withheld with its estimand's neighbour, since all rest on the same
weights (validity.md 14).

A point estimate may leave the reward range, the interval never does.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from flows.intervals import ESTIMANDS, Interval, identified
from flows.offpolicy.cells import Cells
from flows.offpolicy.corners import points
from flows.offpolicy.doubly_robust import LOWER, UPPER, grid_of_scores
from flows.offpolicy.estimate import ESTIMATED, RESOLVED, WITHHELD
from flows.offpolicy.methods import Window, interval
from flows.offpolicy.nights import (
    DOUBLY_ROBUST,
    EPOCH,
    HEADLINE,
    IMPORTANCE_WEIGHTING,
)
from flows.offpolicy.plan import Plan, Subject

NUMBERS = ("estimate", "lower", "upper", "identified_lower", "identified_upper")
# The mean of signed numbers, none of which exceeds the largest in size.
SCORE = replace(
    ESTIMANDS["difference"],
    name="score",
    least=lambda _, largest: -largest,
    least_unsupported=lambda largest: -largest,
)


@dataclass(frozen=True, slots=True)
class Scores:
    """The counted scores of a candidate on all days, by estimand and end.

    made: numbers that were made, which several windows may share.
    """

    cells: Mapping[str, Cells]
    plan: Plan
    share: float
    made: dict[tuple[str, Window], dict[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, counts: pl.DataFrame, subject: Subject, plan: Plan) -> Scores:
        """counts: of the candidate, with a column `day`."""
        grid = grid_of_scores(plan.grid)
        weight = plan.grid.bound(plan.largest.get(subject[0], 1.0))
        largest = min((1.0 + weight) / grid.largest_weight, 1.0)
        cells = {
            str(name): Cells.of(rows, grid, largest_probability=largest)
            for (name,), rows in counts.partition_by("score", as_dict=True).items()
        }
        return cls(cells, plan, plan.share(subject))

    def numbers(self, row: Mapping[str, Any]) -> dict[str, float]:
        """Estimate, ends and identified range beside those of a row of estimates."""
        name, last = row["estimand"], (row["night"] - EPOCH).days
        first_seen = min(int(cells.day.min()) for cells in self.cells.values())
        first = max((row["window_start"] - EPOCH).days, first_seen)
        is_from_start = row["window"] == HEADLINE
        window = Window(first, last - first + 1, is_from_start=is_from_start)
        if (name, window) not in self.made:
            self.made[name, window] = self._numbers(name, window, row["confidence"])
        return self.made[name, window]

    def _numbers(
        self, name: str, window: Window, confidence: float
    ) -> dict[str, float]:
        lower, least = self._end(f"{name} {LOWER}", window, confidence)
        upper, most = self._end(f"{name} {UPPER}", window, confidence)
        grid, slack = self.plan.grid, grid_of_scores(self.plan.grid).slack
        found = Interval(lower - slack, slack - upper)
        found = found.intersect(ESTIMANDS[name].possible)
        origin = grid.lowest if name == "value" else 0.0
        scaled = (
            round((least - most) / 2, RESOLVED),
            found.lower,
            found.upper,
            round(least, RESOLVED),
            round(-most, RESOLVED),
        )
        return {
            key: origin + grid.span * number
            for key, number in zip(NUMBERS, scaled, strict=True)
        }

    def _end(self, name: str, window: Window, confidence: float) -> tuple[float, float]:
        """Lower end and mean of the scores of a window."""
        cells = self.cells[name]
        last = window.first + window.nights - 1
        cells = cells.where((cells.day >= window.first) & (cells.day <= last))
        design = self.plan.design_at(EPOCH + dt.timedelta(days=last))
        alpha = (1.0 - confidence) * self.share
        found = interval(cells, SCORE, design=design, window=window, alpha=alpha)
        return found.lower, identified(points(cells.added()), SCORE).lower


def beside(
    rows: Iterable[dict[str, Any]], scores: Scores | None
) -> Iterator[dict[str, Any]]:
    """Rows of estimates, and beside each one without a segment its doubly robust twin.

    rows: of one candidate, those of a night and window one after the other; what is
        withheld or not measured there is so here.
    scores: None where none were counted.
    """
    for _, group in itertools.groupby(rows, _place):
        found = list(group)
        yield from found
        is_twin = found[0]["estimator"] != IMPORTANCE_WEIGHTING
        if scores is None or is_twin or found[0]["segment_by"]:
            continue
        twins = [_twin(row, scores) for row in found]
        if any(twin["state"] == WITHHELD for twin in twins):
            twins = [_without(twin, WITHHELD) for twin in twins]
        yield from twins


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    keys = ("segment_by", "segment", "night", "window", "estimator")
    return tuple(row[key] for key in keys)


def _twin(row: dict[str, Any], scores: Scores) -> dict[str, Any]:
    twin = {**row, "estimator": DOUBLY_ROBUST, "top_share": None}
    if row["state"] != ESTIMATED:
        return _without(twin, row["state"])
    twin |= scores.numbers(row)
    return _without(twin, WITHHELD) if twin["lower"] > twin["upper"] else twin


def _without(row: dict[str, Any], state: str) -> dict[str, Any]:
    return {**row, **dict.fromkeys(NUMBERS), "state": state}
