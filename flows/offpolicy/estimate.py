"""Estimates of one candidate, or of two compared ones, with all that goes along.

    value        the candidate's mean reward on decisions like those logged
    improvement  that mean minus the logging policy's own
    difference   of two compared candidates: the first one's mean minus the other's

Values are in the unit of the reward. The estimate is the middle of the identified
range: all missing rewards and all unsupported mass at their worst and at their best,
one estimator at both ends; without missing decisions it is the importance weighted
mean. By `compat` it is the mean over the decisions that are not missing (validity.md
4). A point estimate may leave the reward range, since weights above 1 carry rewards;
the interval never does (but for `compat`), because it is intersected with what is
possible.

When the weights contradict the logged probabilities, or an interval comes out empty,
the ends are withheld: null, `state = "withheld"` (validity.md 14).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from flows.columns import FLOOR_TOLERANCE
from flows.errors import DONE, NOT_ENOUGH_EVIDENCE, REFUSED, PolicyError, worst
from flows.intervals import ESTIMANDS, Interval, contradicts, identified
from flows.offpolicy import exact
from flows.offpolicy.cells import Cells
from flows.offpolicy.corners import points
from flows.offpolicy.diagnostics import Diagnostics, diagnostics, largest_weight
from flows.offpolicy.evidence import REWARD_MISSING, SUPPORT_MISSING
from flows.offpolicy.grid import Grid
from flows.offpolicy.methods import Design, Window, interval, look_of

# Estimate, lower, upper and what missing decisions leave open.
Numbers = tuple[float | None, float | None, float | None, float | None, float | None]
NO_NUMBERS: Numbers = (None, None, None, None, None)
NO_CHANGE: Numbers = (0.0, 0.0, 0.0, 0.0, 0.0)
OF_ONE: tuple[Literal["value", "improvement"], ...] = ("value", "improvement")
OF_PAIR = ("difference",)
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
    look: under which looks the interval holds; assumes: what of the mean reward.
    """

    estimand: str
    estimate: float | None
    lower: float | None
    upper: float | None
    identified_lower: float | None
    identified_upper: float | None
    method: str
    confidence: float
    look: str
    assumes: str
    state: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Decisions that are missing, by kind; the three counts are disjoint.

    support, both: 0 where the log does not tell support.
    """

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

    def of(self, estimand: str) -> Estimate:
        """The estimate of `estimand`."""
        return next(e for e in self.estimates if e.estimand == estimand)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence of one candidate (or pair) and segment in one window.

    exact: exact counts, for `compat` alone.
    """

    cells: Cells
    exact: pl.DataFrame | None
    window: Window


def contradiction(cells: Cells, candidate: str) -> str | None:
    """How the mean weight contradicts the logged probabilities, if it does.

    Raises: PolicyError when a weight is larger than the candidate's design allows.
    """
    if cells.is_logging:
        return None
    largest = largest_weight(cells)
    if largest > cells.max_weight * (1.0 + FLOOR_TOLERANCE):
        raise PolicyError(
            f"candidate {candidate!r}: a weight of {largest:.6g} was found, but its "
            f"largest_probability allows {cells.max_weight:.6g} at most; declare the "
            "largest probability that it gives any action"
        )
    return contradicts(
        points(cells.added()),
        max_weight=cells.max_weight,
        is_support_known=cells.knows_support,
    )


def find(
    evidence: Evidence, *, design: Design, share: float, is_withheld: bool
) -> Finding:
    """What one candidate's or pair's evidence of a window says.

    share: of the error 1 - confidence that this interval may use, when several are to
        hold together; `compat` never uses it (validity.md 3).
    is_withheld: the weights were found to contradict the logged probabilities.
    """
    cells = evidence.cells.added()
    estimands = OF_PAIR if cells.is_pair else OF_ONE
    made = [_estimate(evidence, cells, name, design, share) for name in estimands]
    # One empty interval is enough: all rest on the same weights.
    if is_withheld or any(map(_is_empty, made)):
        made = [_made(name, design, evidence.window, WITHHELD) for name in estimands]
    return Finding(
        decisions=cells.decisions,
        estimates=tuple(made),
        missing=_missing(cells),
        diagnostics=diagnostics(cells),
        is_logging=cells.is_logging,
    )


def _missing(cells: Cells) -> Missing:
    """What is missing; by decisions only where the log tells which lack support."""
    reward, support = cells.of_kind(REWARD_MISSING), cells.of_kind(SUPPORT_MISSING)
    both = cells.of_kind(REWARD_MISSING + SUPPORT_MISSING)
    if not cells.knows_support:
        reward, support, both = reward + both, 0, 0
    return Missing(reward, support, both, cells.unsupported_mean)


def _estimate(
    evidence: Evidence, added: Cells, name: str, design: Design, share: float
) -> Estimate:
    """added: the evidence's cells, days and blocks added."""
    cells, window = evidence.cells, evidence.window
    if cells.rewards == 0:
        return _made(name, design, window, ALL_REWARDS_MISSING)
    if design.used == "compat":
        return _compat(evidence, name, design)
    if cells.is_logging and name == "improvement":
        # A policy does not improve on itself, whatever the data.
        return _made(name, design, window, ESTIMATED, NO_CHANGE)
    estimand, grid = ESTIMANDS[name], cells.grid
    alpha = (1.0 - design.confidence) * share
    found = interval(cells, estimand, design=design, window=window, alpha=alpha)
    slack = grid.reward_slack if cells.is_logging else grid.slack
    slack *= 2.0 if cells.is_pair else 1.0
    found = Interval(found.lower - slack, found.upper + slack)
    found = found.intersect(estimand.possible)
    left_open = identified(points(added), estimand)
    scale = _scaler(grid, grid.lowest if name == "value" else 0.0)
    numbers = (
        scale(round((left_open.lower + left_open.upper) / 2, RESOLVED)),
        scale(found.lower),
        scale(found.upper),
        scale(round(left_open.lower, RESOLVED)),
        scale(round(left_open.upper, RESOLVED)),
    )
    return _made(name, design, window, ESTIMATED, numbers)


def _is_empty(made: Estimate) -> bool:
    return made.lower is not None and made.upper is not None and made.lower > made.upper


def _made(
    estimand: str,
    design: Design,
    window: Window,
    state: str,
    numbers: Numbers = NO_NUMBERS,
) -> Estimate:
    return Estimate(
        estimand,
        *numbers,
        method=design.used,
        confidence=design.confidence,
        look=look_of(design, window),
        assumes=design.assumes,
        state=state,
    )


def _compat(evidence: Evidence, name: str, design: Design) -> Estimate:
    cells, window = evidence.cells, evidence.window
    if evidence.exact is None:
        raise ValueError("compat needs exact counts")
    found = exact.estimate(
        evidence.exact,
        name,
        grid=cells.grid,
        confidence=design.confidence,
        is_logging=cells.is_logging,
    )
    if found is None:
        return _made(name, design, window, NOTHING_MEASURED)
    estimate, ends = found
    numbers = (estimate, ends.lower, ends.upper, None, None)
    return _made(name, design, window, ESTIMATED, numbers)


def _scaler(grid: Grid, origin: float) -> Callable[[float], float]:
    return lambda scaled: origin + grid.span * scaled
