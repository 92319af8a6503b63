"""draft"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flows.intervals.block_plan import Plan
from flows.intervals.block_points import BlockPoints
from flows.intervals.estimands import Estimand
from flows.intervals.normal_tail import LEAST_LOG, hazard
from flows.intervals.points import Floats, Points

PSEUDO_DECISIONS = 200.0
RANGE_PENALTY = 0.67
LARGEST_BET, LARGEST_BET_UNSUPPORTED = 0.85, 0.99
SKEW, LARGEST_SKEW = 0.5, 0.5
LEAST_VARIANCE = 0.02
LEAST_REACH = 1e-9
VALUE_CONTROLS: Floats = np.linspace(0.0, 1.3, 11)
OTHER_CONTROLS: Floats = np.linspace(0.0, 1.0, 21)
CHUNK = 1 << 14
AHEAD = 5


@dataclass(frozen=True, slots=True)
class End:
    """One lower end: the points, or the mirrored ones.

    plain, slope: d and e of each cell times its sampling weight, shape (cells,).
    sums: shape (blocks, 11), sums over earlier blocks.
    mean_reward: what block 0 says of it, in (0, 1); unused by the value.
    """

    plain: Floats
    slope: Floats
    sums: Floats
    mean_reward: float
    control: float


@dataclass(frozen=True, slots=True)
class Game:
    estimand: Estimand
    plan: Plan
    max_weight: float
    log_alpha: float
    counts: Floats
    mass: Floats
    ends: tuple[End, ...]
    seen: Floats
    left: Floats
    spread: float
    pseudo: float

    @property
    def blocks(self) -> int:
        """How many blocks there are data of."""
        rows = self.plan.rows[: self.plan.blocks + 1]
        return int(np.searchsorted(rows, self.counts.shape[0]))


class Stake(NamedTuple):
    control: Floats
    variance: Floats
    third: Floats
    largest_bet: Floats


def prepare(
    data: BlockPoints,
    estimand: Estimand,
    plan: Plan,
    *,
    max_weight: float,
    alpha: float,
    second_moment: float,
) -> Game:
    counts = data.counts[: plan.rows[plan.blocks]]
    cells = data.cells
    v = cells.sampling_weight
    before = plan.rows[: np.searchsorted(plan.rows[: plan.blocks], counts.shape[0])]
    features = np.stack([np.ones_like(v), v, v * v])
    seen = _before(counts, features, before)
    ends = tuple(
        _end(points, estimand, counts, before)
        for points in (cells, estimand.mirrored(cells))
    )
    first = counts[: plan.rows[1]].sum(axis=0)
    n = float(first.sum())
    return Game(
        estimand,
        plan,
        max_weight,
        math.log(alpha),
        counts,
        v,
        ends,
        seen,
        _left(plan, seen[:, 0]),
        second_moment if estimand.returned else max(second_moment, 0.05),
        PSEUDO_DECISIONS * (float(first @ (v * v)) / n if n else 1.0),
    )


def _end(points: Points, estimand: Estimand, counts: Floats, before) -> End:
    v = points.sampling_weight
    plain = estimand.scores(points, 0.0)
    slope = estimand.scores(points, 1.0) - plain
    d, e = v * plain, v * slope
    b = v * (estimand.returned * points.is_supported) - e
    features = np.stack([d, e, v*d, v*e, d * d, d * e, e * e, d**3, d * d * b, d * b * b, b**3])
    first = counts[: before[1] if before.size > 1 else counts.shape[0]].sum(axis=0)
    return End(d, e, _before(counts, features, before), *mean_reward(points, first))


def mean_reward(points: Points, count: Floats) -> tuple[float, float]:
    """Mean logged reward, half a success added, in [.01, .99]."""
    observed = np.where(points.is_reward_missing, 0.0, count * points.sampling_weight)
    rewards = float(observed @ points.reward)
    total = max(float(observed.sum()), 1.0)
    return min(max((rewards + 0.5) / (total + 1.0), 0.01), 0.99), rewards / total


def _before(counts: Floats, features: Floats, before) -> Floats:
    """Sums of the features of the cells over the rows before each block."""
    sums = np.zeros((counts.shape[0] + 1, len(features)))
    np.cumsum(counts @ features.T, axis=0, out=sums[1:])
    found: Floats = sums[before]
    return found


def _left(plan: Plan, seen: Floats) -> Floats:
    start = np.concatenate([[0.0], np.cumsum(plan.decisions)])
    looks = np.array(plan.checkpoints)
    block = np.arange(seen.size)
    coming = np.searchsorted(looks, block, side="right")
    target = np.maximum(coming[:, None], np.arange(looks.size))
    left: Floats = start[looks[target]] - start[block, None]
    if plan.is_nightly:
        pace = (seen + 1.0) / (start[block] + 1.0)
        left = left * pace[:, None]
    return left


def growth(
    game: Game,
    block: int,
    edges: Sequence[Floats],
    sizes: Sequence[int],
    wealth: Floats,
    shares: slice,
) -> Floats:
    """Shape (edges, rows, shares, means)."""
    stake = stakes(game, block, edges[0], sizes, shares)
    bets = _bets(game, block, stake, wealth, shares)
    rows = game.counts[game.plan.rows[block] : game.plan.rows[block + 1]]
    cells = np.flatnonzero(rows.any(axis=0))
    counts = rows[:, cells].T
    mass = game.mass[cells]
    grown = np.empty((len(edges), len(rows), *wealth.shape))
    step = max(1, CHUNK // (cells.size * len(bets)))
    start = 0
    for end, size in zip(game.ends, sizes, strict=True):
        stop = start + size
        plain, slope = end.plain[cells], end.slope[cells]
        for low in range(start, stop, step):
            part = slice(low, min(low + step, stop))
            scores = stake.control[part, None] * slope
            scores += plain
            for edge, means in enumerate(edges):
                gains = scores - means[part, None] * mass
                terms = bets[:, part, None] * gains
                np.log1p(terms, out=terms)
                grown[edge, :, :, part] = (terms @ counts).transpose(2, 0, 1)
        start = stop
    return grown


def stakes(
    game: Game, block: int, means: Floats, sizes: Sequence[int], shares: slice
) -> Stake:
    n, _, vv = game.seen[block]
    sums = np.stack([end.sums[block] for end in game.ends], axis=1)
    _, _, d, e, dd, de, ee, aaa, aab, abb, bbb = np.repeat(sums, sizes, axis=1)
    n += PSEUDO_DECISIONS
    pseudo, unit = game.pseudo, game.estimand.returned
    if unit:
        reward = means
    else:
        reward = np.repeat([end.mean_reward for end in game.ends], sizes)
    square = (dd + pseudo * game.spread * reward) / n
    cross = (de + pseudo * (unit - game.spread) * reward) / n
    steepness = (ee + pseudo * (game.spread - unit)) / n
    plain = square + means * (
        means * ((vv + pseudo) / n) - 2.0 * (d + pseudo * means) / n
    )
    least = LEAST_VARIANCE * (square + LEAST_VARIANCE * (pseudo / PSEUDO_DECISIONS))
    tilt = 2.0 * (cross - means * (e / n))

    control, reach = _controls(game, means)
    variance = control * steepness[:, None] + tilt[:, None]
    variance *= control
    variance += plain[:, None]
    np.maximum(variance, least[:, None], out=variance)
    rate = -game.log_alpha / game.left[block, shares.start]
    width = np.sqrt(variance)
    width *= math.sqrt(2.0 * rate)
    width += (RANGE_PENALTY * rate) * reach
    best = np.arange(means.size), width.argmin(axis=1)
    c, variance = np.broadcast_to(control, width.shape)[best], variance[best]
    third = (aaa - c * (3.0 * aab - c * (3.0 * abb - c * bbb))) / n
    unsupported = game.estimand.least_unsupported(game.max_weight)
    largest_bet = np.minimum(
        LARGEST_BET / reach[best], LARGEST_BET_UNSUPPORTED / (means - unsupported)
    )
    return Stake(c, variance, third, largest_bet)


def _controls(game: Game, means: Floats) -> tuple[Floats, Floats]:
    m = means[:, None]
    if game.estimand.returned:
        control = np.minimum(1.0, m * VALUE_CONTROLS)
        return control, m + (game.max_weight - 1.0) * control
    least = [game.estimand.least(c, game.max_weight) for c in OTHER_CONTROLS]
    # Means below every score have no reach; any bet rejects them.
    return OTHER_CONTROLS[None, :], np.maximum(m - np.array(least), LEAST_REACH)


def _bets(game: Game, block: int, stake: Stake, wealth: Floats, shares: slice) -> Floats:
    left = game.left[block, shares][:, None]
    chance = wealth + game.log_alpha  # log of the chance to win a Gaussian race
    is_open = (chance >= LEAST_LOG) & (chance < 0.0)
    constant = np.sqrt(-2.0 * np.minimum(np.maximum(chance, LEAST_LOG), 0.0))
    pace = game.left[block, -1] / (game.plan.horizon - game.plan.decisions[:block].sum())
    closing = game.plan.decisions[block] * pace / left
    bets = (1.0 - closing) * hazard(constant) + closing * constant
    bets /= np.sqrt(stake.variance * left)
    skewed = SKEW * bets * (stake.third / stake.variance)
    bets *= 1.0 + np.maximum(np.minimum(skewed, LARGEST_SKEW), -LARGEST_SKEW)
    return np.where(is_open, np.minimum(bets, stake.largest_bet), 0.0)
