"""The grid on which evidence is counted, and the way back from counts to points.

Weights lie in [0, B], B = 1 / floor, on 256 cells whose ends are B (j / 256)^2; the
difference of two weights lies in [-B, B], on the same cells and their mirror images,
numbered -256 to 255. Rewards scaled to [0, 1] lie on 128 cells. A decision is not
rounded to a cell: its mass is split between the corners of its cell so that the weight,
the reward and their product keep their means. log(1 + x) is concave, so a split never
raises the wealth of a bet, and the loss of width is below 0.1 %
(`.adr/0002-evidence.md`). Positions inside a cell are kept in units of 2^-20, in int64:
sums do not depend on the order of rows, files or threads.

With a, b the fractions of a decision across its cell, the sums n, a, b and ab give the
masses of the four corners: ab at (w+, r+), a - ab at (w+, r-), b - ab at (w-, r+).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from flows.columns import FLOOR_TOLERANCE, LARGEST_SUM_TOLERANCE, SUM_TOLERANCE
from flows.errors import UsageError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

WEIGHT_CELLS = 256
REWARD_CELLS = 128
UNIT = 2**20
# Of the end of a cell that a largest weight falls on.
ROUNDING = 1e-6
# Floors and ranges beyond this are not meant, and not computed with.
LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class Grid:
    """Where the cells are.

    floor: least logging probability that counts as support, in (0, 1].
    lowest, highest: the reward range.
    tolerance: how far below the floor, relatively, an action still has support; 0 for
        `compat`, which compares exactly.
    sum_tolerance: how far a distribution may miss one.
    least_sample_probability: least probability, by design, that a decision was kept in
        the log, in (0, 1].
    Raises: UsageError when a number is out of its range.
    """

    floor: float
    lowest: float
    highest: float
    tolerance: float = FLOOR_TOLERANCE
    sum_tolerance: float = SUM_TOLERANCE
    least_sample_probability: float = 1.0

    def __post_init__(self) -> None:
        if not (self.lowest < self.highest and LEAST < self.span < 1.0 / LEAST):
            raise UsageError(
                f"reward_range {self.lowest} {self.highest} must ascend: the lowest "
                "and the highest reward a decision can have"
            )
        if not LEAST <= self.floor <= 1:
            raise UsageError(
                f"propensity_floor {self.floor} must lie in (0, 1]: the least "
                "probability the logging policy gives any action a candidate may take"
            )
        if not LEAST <= self.least_sample_probability <= 1:
            raise UsageError(
                f"least_sample_probability {self.least_sample_probability} must lie in "
                "(0, 1]: the least probability that a decision was kept in the log"
            )
        if not 0 < self.sum_tolerance <= LARGEST_SUM_TOLERANCE:
            raise UsageError(
                f"sum_tolerance {self.sum_tolerance} must lie in (0, "
                f"{LARGEST_SUM_TOLERANCE}]: a distribution that misses one by more is "
                "not rounded but wrong"
            )

    @property
    def tolerated_floor(self) -> float:
        """The floor that is compared with, `tolerance` below the declared one."""
        return self.floor * (1.0 - self.tolerance)

    @property
    def largest_weight(self) -> float:
        """B: no supported action weighs more."""
        return 1.0 / self.tolerated_floor

    def bound(self, largest_probability: float) -> float:
        """The largest weight of a candidate, up to the next end of a cell; at least 1.

        largest_probability: no action gets more from the candidate, in (0, 1].
        """
        end = math.ceil(math.sqrt(largest_probability) * WEIGHT_CELLS - ROUNDING)
        weight = self.largest_weight * (min(end, WEIGHT_CELLS) / WEIGHT_CELLS) ** 2
        return max(1.0, weight)

    @property
    def span(self) -> float:
        """The width of the reward range."""
        return self.highest - self.lowest

    def weight_at(self, end: Integers) -> Floats:
        """The weights at ends of cells, -256 to 256; those below 0 of differences."""
        weight: Floats = self.largest_weight * (end * np.abs(end) / WEIGHT_CELLS**2)
        return weight

    @property
    def reward_slack(self) -> float:
        """How far rounding of rewards can move the expected score, scaled rewards.

        A reward moves by at most half a unit of its cell and a score by w or |w - 1|
        times that, whose expectation is at most 2 where probabilities are true.
        """
        return 1.0 / REWARD_CELLS / UNIT

    @property
    def slack(self) -> float:
        """How far fixed-point rounding can move the expected score, in scaled rewards.

        A weight moves by at most half a unit of the widest cell, below 2 B / 256, and a
        score by no more; the other half is more than the rounding of products needs.
        Distributions that miss one by the tolerance, the logging policy's and the
        candidate's, move it by twice that.
        """
        rounding = 2.0 * self.largest_weight / WEIGHT_CELLS / UNIT
        return self.reward_slack + rounding + 2.1 * self.sum_tolerance

    def scaled(self, reward: pl.Expr) -> pl.Expr:
        """Rewards scaled to [0, 1]; null stays null."""
        return (reward - self.lowest) / self.span

    def weight_cell(self, weight: pl.Expr) -> pl.Expr:
        """The cell of a weight, 0 to 255; of a negative difference -256 to -1."""
        root = (weight.abs() / self.largest_weight).sqrt() * WEIGHT_CELLS
        cell = (root * weight.sign()).floor().cast(pl.Int64)
        return cell.clip(-WEIGHT_CELLS, WEIGHT_CELLS - 1)

    def weight_part(self, weight: pl.Expr, cell: pl.Expr) -> pl.Expr:
        """How far into its cell a weight lies, in units of 2^-20."""
        unit = self.largest_weight / WEIGHT_CELLS**2
        return _fixed((weight / unit - cell * cell.abs()) / (2 * cell + 1).abs())

    def reward_cell(self, scaled: pl.Expr) -> pl.Expr:
        """The cell of a scaled reward, 0 to 127; a missing one counts in cell 0."""
        cell = (scaled * REWARD_CELLS).floor().cast(pl.Int64)
        return cell.clip(0, REWARD_CELLS - 1).fill_null(0)

    def reward_part(self, scaled: pl.Expr, cell: pl.Expr) -> pl.Expr:
        """How far into its cell a scaled reward lies, in units of 2^-20."""
        return _fixed((scaled * REWARD_CELLS - cell).fill_null(0.0))


def product(left: pl.Expr, right: pl.Expr) -> pl.Expr:
    """The product of two fractions in units of 2^-20, rounded to such a unit."""
    return (left * right + UNIT // 2) // UNIT


def _fixed(fraction: pl.Expr) -> pl.Expr:
    return (fraction.clip(0.0, 1.0) * UNIT).round().cast(pl.Int64)
