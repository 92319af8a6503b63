"""From counted cells to the points and the diagnostics of one estimate.

A `Cells` is the evidence of one candidate and one segment, added over whatever days and
sub-blocks are asked for. `points` gives back the corners of the mass split
(`flows.offpolicy.grid`), in which weight, reward and their product have the means they
had in the log up to fixed-point rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from flows.intervals import Points
from flows.offpolicy.evidence import LARGEST, SUMS, SUPPORT_MISSING
from flows.offpolicy.grid import REWARD_CELLS, UNIT, WEIGHT_CELLS, Grid

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
TOP_SHARE = 0.01
# Decimals of a mean weight that the grid resolves.
RESOLVED = 6
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What the weights look like. Weights are those on supported actions.

    effective_sample_size: (sum w)^2 / sum w^2, in decisions.
    expected_mean_weight: 1 minus the mean unsupported mass: what true logged
        probabilities give.
    top_share: share of the value's estimate carried by the top 1 % of decisions; None
        when the estimate is 0 at the bottom of the range.
    """

    mean_weight: float
    expected_mean_weight: float
    effective_sample_size: float
    largest_weight: float
    top_share: float | None


@dataclass(frozen=True, slots=True)
class Cells:
    """Counted cells, one entry a (kind, weight cell, reward cell), shape (cells,)."""

    kind: Integers
    weight_cell: Integers
    reward_cell: Integers
    sums: dict[str, Integers]
    largest_part: Integers
    grid: Grid

    @classmethod
    def of(cls, evidence: pl.DataFrame, grid: Grid) -> Cells:
        """Adds the rows of one candidate and segment over days and sub-blocks."""
        keys = ["kind", "weight_cell", "reward_cell"]
        added = (
            evidence.group_by(keys)
            .agg(*(pl.col(name).sum() for name in SUMS), pl.col(LARGEST).max())
            .sort(keys)
        )
        return cls(
            kind=added["kind"].to_numpy(),
            weight_cell=added["weight_cell"].to_numpy(),
            reward_cell=added["reward_cell"].to_numpy(),
            sums={name: added[name].to_numpy() for name in SUMS},
            largest_part=added[LARGEST].to_numpy(),
            grid=grid,
        )

    @property
    def decisions(self) -> int:
        """How many decisions were counted."""
        return int(self.sums["decisions"].sum())

    def of_kind(self, kind: int) -> int:
        """How many decisions are exactly of `kind`."""
        return int(self.sums["decisions"][self.kind == kind].sum())

    @property
    def rewards(self) -> int:
        """How many decisions have a reward."""
        return self.of_kind(0) + self.of_kind(SUPPORT_MISSING)

    @property
    def unsupported_mean(self) -> float:
        """Mean candidate mass without support, over all decisions, in [0, 1]."""
        unsupported = int(self.sums["unsupported_part"].sum()) / UNIT
        # A distribution may sum to a little more than 1.
        return min(1.0, unsupported / self.decisions)

    def points(self, *, is_logging: bool = False) -> tuple[Points, Floats]:
        """The corners that hold mass, and the mean unsupported mass at each.

        is_logging: the candidate is the logging policy, whose weight is exactly 1.
        """
        n, a, b, ab, _, u = (self.sums[name] for name in SUMS)
        if is_logging:
            a, ab = np.zeros_like(a), np.zeros_like(ab)
        masses = (n * UNIT - a - b + ab, b - ab, a - ab, ab)
        weight_at = (0, 0, 1, 1)
        reward_at = (0, 1, 0, 1)
        weights = np.ones(WEIGHT_CELLS + 1) if is_logging else self.grid.weights
        has_reward = self.kind % 2 == 0
        kept = np.concatenate(masses) > 0

        def corners(parts: list[NDArray[T]]) -> NDArray[T]:
            return np.concatenate(parts)[kept]

        reward = [(self.reward_cell + k) / REWARD_CELLS for k in reward_at]
        points = Points(
            weight=corners([weights[self.weight_cell + i] for i in weight_at]),
            reward=corners([np.where(has_reward, r, 0.0) for r in reward]),
            is_reward_missing=corners([~has_reward] * 4),
            is_supported=corners([self.kind < SUPPORT_MISSING] * 4),
            count=corners([mass / UNIT for mass in masses]),
        )
        return points, corners([np.minimum(u / (n * UNIT), 1.0)] * 4)

    def diagnostics(self, *, is_logging: bool = False) -> Diagnostics:
        """What the weights of these decisions look like."""
        n, a, _, _, aa, _ = (self.sums[name] for name in SUMS)
        low = self.grid.weights[self.weight_cell]
        step = self.grid.weights[self.weight_cell + 1] - low
        total = float((n * low + step * (a / UNIT)).sum())
        squares = n * low**2 + 2 * low * step * (a / UNIT) + step**2 * (aa / UNIT)
        largest = float((low + step * (self.largest_part / UNIT)).max())
        size = self.decisions
        if is_logging:
            total, squares, largest = float(size), n.astype(np.float64), 1.0
        square = float(squares.sum())
        return Diagnostics(
            mean_weight=round(total / size, RESOLVED),
            expected_mean_weight=1.0 - self.unsupported_mean,
            effective_sample_size=total**2 / square if square > 0 else 0.0,
            largest_weight=largest,
            top_share=self._top_share(is_logging=is_logging),
        )

    def _top_share(self, *, is_logging: bool) -> float | None:
        points, _ = self.points(is_logging=is_logging)
        measured = ~points.is_reward_missing
        score = (points.weight * points.reward)[measured]
        count = points.count[measured]
        total = float((score * count).sum())
        if total <= 0:
            return None
        order = np.argsort(-score, kind="stable")
        score, count = score[order], count[order]
        room = TOP_SHARE * self.decisions - (np.cumsum(count) - count)
        taken = np.clip(room, 0.0, count)
        return float((score * taken).sum()) / total
