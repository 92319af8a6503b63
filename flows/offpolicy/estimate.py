"""Estimates of one candidate: value and improvement, with everything that goes along.

    value        the candidate's mean reward on decisions like those logged
    improvement  that mean minus the logging policy's own

Values are in the unit of the reward. By `mixture` the estimate is the middle of the
identified range: all missing rewards and all unsupported mass at their worst and at
their best, one estimator at both ends; without missing decisions it is the importance
weighted mean. By `compat` it is the mean over the decisions that are not missing
(validity.md 4). A point estimate may leave the reward range, since weights above 1
carry rewards; the interval never does (by `mixture`), because it is intersected with
what is possible.

When the weights contradict the logged probabilities, or an interval comes out empty,
the ends are withheld: null, `state = "withheld"` (validity.md 14).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from flows.errors import DONE, NOT_ENOUGH_EVIDENCE, REFUSED, worst
from flows.intervals import (
    Interval,
    contradicts,
    identified_improvement,
    identified_value,
    mixture,
)
from flows.offpolicy import exact
from flows.offpolicy.cells import Cells, Diagnostics
from flows.offpolicy.evidence import REWARD_MISSING, SUPPORT_MISSING
from flows.offpolicy.grid import Grid

Estimand = Literal["value", "improvement"]
ESTIMANDS: tuple[Estimand, ...] = ("value", "improvement")
METHODS = ("mixture", "compat")
# Decimals of a scaled estimate that the grid resolves; below is its own rounding.
RESOLVED = 9
ESTIMATED = "estimated"
WITHHELD = "withheld"
ALL_REWARDS_MISSING = "all_rewards_missing"
# By `compat`: every decision lacks its reward or support.
NOTHING_MEASURED = "nothing_measured"


def exit_code_of(states: Iterable[str]) -> int:
    """2 when an estimate is withheld, 3 when nothing is known yet, else 0."""
    codes = {
        WITHHELD: REFUSED,
        ALL_REWARDS_MISSING: NOT_ENOUGH_EVIDENCE,
        NOTHING_MEASURED: NOT_ENOUGH_EVIDENCE,
    }
    return worst(*(codes.get(state, DONE) for state in states))


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number with its interval, in the unit of the reward.

    lower, upper: None unless state is `estimated`.
    identified_lower, identified_upper: what the missing decisions leave open, sampling
        error aside; None by `compat`.
    """

    estimand: Estimand
    estimate: float | None
    lower: float | None
    upper: float | None
    identified_lower: float | None
    identified_upper: float | None
    method: str
    confidence: float
    state: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Decisions that are missing, by kind; the three counts are disjoint."""

    reward: int
    support: int
    both: int
    unsupported_probability: float


@dataclass(frozen=True, slots=True)
class Finding:
    """Estimates of one candidate on one set of decisions."""

    decisions: int
    estimates: tuple[Estimate, ...]
    missing: Missing
    diagnostics: Diagnostics
    is_logging: bool

    @property
    def is_withheld(self) -> bool:
        """Whether the ends are withheld."""
        return any(made.state == WITHHELD for made in self.estimates)

    def of(self, estimand: Estimand) -> Estimate:
        """The estimate of `estimand`."""
        return next(e for e in self.estimates if e.estimand == estimand)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence of one candidate and segment: cells, and exact counts for `compat`."""

    cells: Cells
    exact: pl.DataFrame | None
    is_logging: bool

    def contradiction(self) -> str | None:
        """How the mean weight contradicts the logged probabilities, if it does."""
        if self.is_logging:
            return None
        points, unsupported = self.cells.points()
        bound = self.cells.grid.largest_weight
        return contradicts(points, unsupported, max_weight=bound)


def find(
    evidence: Evidence,
    *,
    method: str,
    confidence: float,
    share: float,
    is_withheld: bool,
) -> Finding:
    """Value and improvement from the evidence of one candidate and segment.

    share: of the error 1 - confidence that this interval may use, when several are to
        hold together; `compat` never uses it (validity.md 3).
    is_withheld: the weights were found to contradict the logged probabilities.
    """
    cells, is_logging = evidence.cells, evidence.is_logging
    made = [
        _estimate(evidence, estimand, method, confidence, share)
        for estimand in ESTIMANDS
    ]
    # One empty interval is enough: both rest on the same weights.
    if is_withheld or any(map(_is_empty, made)):
        made = [_without(e, WITHHELD, method, confidence) for e in ESTIMANDS]
    return Finding(
        decisions=cells.decisions,
        estimates=tuple(made),
        missing=Missing(
            reward=cells.of_kind(REWARD_MISSING),
            support=cells.of_kind(SUPPORT_MISSING),
            both=cells.of_kind(REWARD_MISSING + SUPPORT_MISSING),
            unsupported_probability=cells.unsupported_mean,
        ),
        diagnostics=cells.diagnostics(is_logging=is_logging),
        is_logging=is_logging,
    )


def _estimate(
    evidence: Evidence,
    estimand: Estimand,
    method: str,
    confidence: float,
    share: float,
) -> Estimate:
    if evidence.cells.rewards == 0:
        return _without(estimand, ALL_REWARDS_MISSING, method, confidence)
    if method == "compat":
        return _compat(evidence, estimand, confidence)
    if evidence.is_logging and estimand == "improvement":
        # A policy does not improve on itself, whatever the data.
        zeros = (0.0,) * 5
        return Estimate(estimand, *zeros, method, confidence, ESTIMATED)
    return _mixture(evidence, estimand, confidence, share)


def _is_empty(made: Estimate) -> bool:
    return made.lower is not None and made.upper is not None and made.lower > made.upper


def _without(
    estimand: Estimand, state: str, method: str, confidence: float
) -> Estimate:
    return Estimate(estimand, None, None, None, None, None, method, confidence, state)


def _compat(evidence: Evidence, estimand: Estimand, confidence: float) -> Estimate:
    if evidence.exact is None:
        raise ValueError("compat needs exact counts")
    found = exact.estimate(
        evidence.exact,
        estimand,
        grid=evidence.cells.grid,
        confidence=confidence,
        is_logging=evidence.is_logging,
    )
    if found is None:
        return _without(estimand, NOTHING_MEASURED, "compat", confidence)
    estimate, interval = found
    return Estimate(
        estimand,
        estimate,
        interval.lower,
        interval.upper,
        None,
        None,
        "compat",
        confidence,
        ESTIMATED,
    )


def _mixture(
    evidence: Evidence, estimand: Estimand, confidence: float, share: float
) -> Estimate:
    grid, is_logging = evidence.cells.grid, evidence.is_logging
    points, _ = evidence.cells.points(is_logging=is_logging)
    bound = 1.0 if is_logging else grid.largest_weight
    alpha = (1.0 - confidence) * share
    unsupported = evidence.cells.unsupported_mean
    if estimand == "value":
        scale = _scaler(grid, grid.lowest)
        possible = Interval(0.0, 1.0)
        identified = identified_value(points, unsupported_mean=unsupported)
        interval = mixture.value(points, max_weight=bound, alpha=alpha)
    else:
        scale = _scaler(grid, 0.0)
        possible = Interval(-1.0, 1.0)
        identified = identified_improvement(points, unsupported_mean=unsupported)
        interval = mixture.improvement(points, max_weight=bound, alpha=alpha)
    slack = grid.reward_slack if is_logging else grid.slack
    interval = Interval(interval.lower - slack, interval.upper + slack)
    interval = interval.intersect(possible)
    return Estimate(
        estimand,
        scale(round((identified.lower + identified.upper) / 2, RESOLVED)),
        scale(interval.lower),
        scale(interval.upper),
        scale(round(identified.lower, RESOLVED)),
        scale(round(identified.upper, RESOLVED)),
        "mixture",
        confidence,
        ESTIMATED,
    )


def _scaler(grid: Grid, origin: float) -> Callable[[float], float]:
    return lambda scaled: origin + grid.span * scaled
