"""What a block bettor knows before each block: earlier moments, decisions left.

The game of an interval is that of two lower ends: of the points and of the mirrored
ones (`estimands`). Scores are written d + c e for a control c in [0, 1], v is the
sampling weight.

In a plan of nights the decisions left follow the pace of the log: of the later half of
the blocks since the first decision. In simulated logs whose traffic grew eightfold in
28 nights, or started at a twentieth, the whole past as pace was 3 to 9 % wider in the
end; with even or weekly traffic the two were the same within 1 %.

Source: intervals-next.md, sections 4 and 8; validity.md 5a.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flows.intervals.block_plan import Plan, Positions
from flows.intervals.block_points import BlockPoints
from flows.intervals.estimands import IMPROVEMENT, Estimand
from flows.intervals.points import Floats, Points

Owners = NDArray[np.intp]

PSEUDO_DECISIONS = 200.0
PRIOR_WEIGHTS = 10.0
LEAST_SPREAD = 0.05
# Decisions at the pace of the whole past, added to those of its later half.
PACE_PRIOR = 20.0


@dataclass(frozen=True, slots=True)
class Game:
    """Scores, counts and plan of two lower ends: of the points and of the mirrored.

    counts: shape (rows, cells), no more rows than planned.
    mass: v of each cell.
    plain, slope: v d and v e of each cell, shape (ends, cells).
    seen: shape (blocks, 3), sums over earlier blocks of 1, v and v v.
    sums: shape (blocks, 11, ends), sums over earlier blocks of v d and v e, of v v
        times d, e, dd, de, ee, and of a a a, a a b, a b b, b b b, where a - c b is v
        times the score of the reward less c.
    left: shape (blocks, checkpoints), decisions planned from the start of each block to
        the checkpoint that each share races to.
    closing: the part of them that the block itself holds.
    spread: planned mean square of w (value), w - 1 (improvement) or x (difference).
    pseudo: pseudo decisions times their mean v v.
    first_rewards: mean logged reward of block 0, shape (ends,).
    planned_rewards: the same with half a success added, in [.01, .99].
    """

    estimand: Estimand
    plan: Plan
    max_weight: float
    log_alpha: float
    counts: Floats
    mass: Floats
    plain: Floats
    slope: Floats
    seen: Floats
    sums: Floats
    left: Floats
    closing: Floats
    spread: float
    pseudo: float
    first_rewards: Floats
    planned_rewards: Floats

    @property
    def blocks(self) -> int:
        """How many blocks have begun."""
        return len(self.seen)

    @property
    def is_scaled(self) -> bool:
        """Whether the controls tried are multiples of the mean: for the value alone."""
        return self.estimand.returned == 1.0

    def rows(self, block: int) -> Floats:
        """Counts of one block, as far as they are known: shape (rows, cells)."""
        return self.counts[self.plan.rows[block] : self.plan.rows[block + 1]]


def prepare(
    data: BlockPoints,
    estimand: Estimand,
    plan: Plan,
    *,
    max_weight: float,
    alpha: float,
) -> Game:
    """The game of both ends.

    data: rows in the order of the plan; none that comes after the plan's is seen.
    alpha: error of each end.
    """
    counts = data.counts[: plan.rows[plan.blocks]]
    starts = plan.rows[: np.searchsorted(plan.rows[: plan.blocks], counts.shape[0])]
    first = counts[: plan.rows[1]].sum(axis=0)
    n, mass = float(first.sum()), data.cells.sampling_weight
    both = (data.cells, estimand.mirrored(data.cells))
    plain = np.stack([mass * estimand.scores(points, 0.0) for points in both])
    slope = np.stack([mass * estimand.scores(points, 1.0) for points in both]) - plain
    of_control = estimand.returned * mass * data.cells.is_supported - slope
    features = [*map(_features, [mass, mass], plain, slope, of_control)]
    seen = _before(counts, starts, np.stack([np.ones_like(mass), mass, mass * mass]))
    rewards = np.array([_rewards(points, first) for points in both])
    return Game(
        estimand,
        plan,
        max_weight,
        math.log(alpha),
        counts,
        mass,
        plain,
        slope,
        seen,
        np.stack([_before(counts, starts, of) for of in features], axis=2),
        *_left(plan, seen[:, 0]),
        _spread(data.cells, first, estimand, plan, max_weight),
        PSEUDO_DECISIONS * (float(first @ (mass * mass)) / n if n else 1.0),
        *rewards.T,
    )


def _features(v: Floats, d: Floats, e: Floats, b: Floats) -> Floats:
    """What `Game.sums` adds up, of each cell; d, e and b are v times themselves."""
    squares = [v * d, v * e, d * d, d * e, e * e]
    return np.stack([d, e, *squares, d**3, d * d * b, d * b * b, b**3])


def _before(counts: Floats, starts: Positions, features: Floats) -> Floats:
    """Sums of features of the cells over the rows before each block."""
    sums = np.zeros((counts.shape[0], len(features)))
    np.cumsum(counts[:-1] @ features.T, axis=0, out=sums[1:])
    before: Floats = sums[starts]
    return before


def _rewards(points: Points, count: Floats) -> tuple[float, float]:
    """Mean logged reward, and the one that is planned with."""
    seen = np.where(points.is_reward_missing, 0.0, count * points.sampling_weight)
    rewards, total = float(seen @ points.reward), max(float(seen.sum()), 1.0)
    return rewards / total, min(max((rewards + 0.5) / (total + 1.0), 0.01), 0.99)


def _spread(
    cells: Points, count: Floats, estimand: Estimand, plan: Plan, max_weight: float
) -> float:
    """`Game.spread`, declared or guessed from block 0."""
    known = 1.0 if estimand is IMPROVEMENT else 0.0
    second_moment = plan.second_moment
    if second_moment is None:
        mass = count * cells.sampling_weight**2
        squares = float(mass @ cells.weight**2) + PRIOR_WEIGHTS * max_weight / 2.0
        second_moment = squares / (float(mass.sum()) + PRIOR_WEIGHTS)
        if not estimand.is_signed:
            second_moment = max(second_moment, 1.0)
    return max(second_moment - known, LEAST_SPREAD)


def _left(plan: Plan, seen: Floats) -> tuple[Floats, Floats]:
    """`Game.left` and `Game.closing`."""
    start = np.concatenate([[0.0], np.cumsum(plan.decisions)])
    looks = np.array(plan.checkpoints)
    block = np.arange(seen.size)
    coming = np.searchsorted(looks, block, side="right")
    target = np.maximum(coming[:, None], np.arange(looks.size))
    left: Floats = start[looks[target]] - start[block, None]
    closing: Floats = plan.decisions[block, None] / left
    if plan.is_nightly:
        left *= _pace(plan, start[block], seen)[:, None]
    return left, closing


def _pace(plan: Plan, planned: Floats, seen: Floats) -> Floats:
    """Decisions seen over those planned, before each block; no end before the first.

    A share that has endlessly many decisions left does not bet.
    """
    begun = planned[np.flatnonzero(seen == 0.0)[-1]]
    past = np.maximum(planned - begun, plan.decisions.min())
    later = seen - np.interp(begun + past / 2.0, planned, seen)
    pace = (later + PACE_PRIOR) * seen / (past * (seen / 2.0 + PACE_PRIOR))
    found: Floats = np.where(seen > 0.0, pace, np.inf)
    return found
