"""Wealth of a block bettor: which means the counts of the blocks reject.

Scores are those of `mixture`: with s = 1 where a decision is fully supported, else 0, z
its reward scaled to [0, 1] (the worst where it is missing) and a control c in [0, 1],

    value        d + c e,  d = w z,        e = s (1 - w),  least  c - B c
    improvement  d + c e,  d = (w - 1) z,  e = s (1 - w),  least  -max(1 - c, (B - 1) c)

Wealth against a mean m is multiplied in each block by the product over its decisions of

    1 + bet * (d + c e - m)        bet in [0, .85 / (m - least)]

with bet and c from earlier blocks and planned sizes only. Where s = 0 the improvement's
score can be -1, below that least one: bets on it stay below .99 / (m + 1) too. As
bet >= 0, wealth does not grow on average under any mean <= m, and counts split over
neighbouring cells never raise it (log is concave). Each checkpoint has a share of alpha
as its wealth at the start, which races to the checkpoint and, past it, to the next one;
m is rejected as soon as all of it together, after any block, reaches 1 / alpha (Ville).

Of earlier blocks come the moments of d and e, with 200 pseudo decisions of the planned
law added. With L = log(1 / alpha) and t the decisions planned up to the next checkpoint
c minimises sqrt(2 variance L / t) + .67 (m - least) L / t. The bet is the one of a
Gaussian race (`normal_tail`), turned into the best constant bet as the block's part of
what is left grows, and corrected for the third moment.

Source: intervals-next.md, sections 4 and 8; validity.md 1, 5a and 5f. The second limit
of the improvement's bets is derived here: it keeps its factors positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from flows.intervals.block_plan import Plan
from flows.intervals.block_points import BlockPoints
from flows.intervals.mixture import improvement_scores, value_scores
from flows.intervals.normal_tail import LEAST_LOG, hazard
from flows.intervals.points import Booleans, Floats

Estimand = Literal["value", "improvement"]

PSEUDO_DECISIONS = 200.0
RANGE_PENALTY = 0.67
LARGEST_BET, LARGEST_BET_UNSUPPORTED = 0.85, 0.99
SKEW, LARGEST_SKEW = 0.5, 0.5
# Variance is at least this part of the mean square plus itself.
LEAST_VARIANCE = 0.02
LEAST_REACH = 1e-9
# Controls: multiples of m for the value, plain numbers for the improvement.
VALUE_CONTROLS: Floats = np.linspace(0.0, 1.3, 11)
IMPROVEMENT_CONTROLS: Floats = np.linspace(0.0, 1.0, 21)
# Numbers held at once by one evaluation: an eighth of a megabyte, kept in the cache.
CHUNK = 1 << 14


@dataclass(frozen=True, slots=True)
class Game:
    """Scores, counts and plan of one lower end.

    plain, slope: d and e of each cell, shape (cells,).
    counts: shape (blocks, cells), no more blocks than planned.
    sums: shape (blocks, 10), sums over earlier blocks of 1, d, e, dd, de, ee and of
        a a a, a a b, a b b, b b b, where a - c b is the score of the reward less c.
    left: shape (blocks, checkpoints), decisions planned from the start of each block
        to the checkpoint that each share races to.
    spread: planned mean square of w (value) or w - 1 (improvement).
    mean_reward: what block 0 says of it, in (0, 1); used by the improvement alone.
    """

    is_value: bool
    plan: Plan
    max_weight: float
    log_alpha: float
    plain: Floats
    slope: Floats
    counts: Floats
    sums: Floats
    left: Floats
    spread: float
    mean_reward: float


class Stake(NamedTuple):
    """Control against each mean and what its bet is computed from: shape (means,)."""

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
    mean_reward: float,
) -> Game:
    """The game of one lower end.

    data: blocks in the order of the plan; none that comes after the plan's is seen.
    alpha: error of this end.
    second_moment, mean_reward: what plan and block 0 say of the weights' mean square
        and of the logged rewards; they affect width alone.
    """
    is_value = estimand == "value"
    scores = value_scores if is_value else improvement_scores
    plain = scores(data.cells, 0.0)
    slope = scores(data.cells, 1.0) - plain
    counts = data.counts[: plan.blocks]
    of_control = data.cells.is_supported - slope if is_value else -slope
    return Game(
        is_value,
        plan,
        max_weight,
        math.log(alpha),
        plain,
        slope,
        counts,
        _sums_before(counts, plain, slope, of_control),
        _left(plan),
        second_moment if is_value else max(second_moment - 1.0, 0.05),
        mean_reward,
    )


def _sums_before(counts: Floats, d: Floats, e: Floats, b: Floats) -> Floats:
    """Sums of ten features of the cells over the blocks before each block."""
    squares = [np.ones_like(d), d, e, d * d, d * e, e * e]
    features = np.stack([*squares, d**3, d * d * b, d * b * b, b**3])
    sums = np.zeros((counts.shape[0], len(features)))
    np.cumsum(counts[:-1] @ features.T, axis=0, out=sums[1:])
    return sums


def _left(plan: Plan) -> Floats:
    """Planned decisions up to the next checkpoint at or after each share's own."""
    start = np.concatenate([[0.0], np.cumsum(plan.decisions)])
    looks = np.array(plan.checkpoints)
    block = np.arange(plan.blocks)
    coming = np.searchsorted(looks, block, side="right")
    target = np.maximum(coming[:, None], np.arange(looks.size))
    left: Floats = start[looks[target]] - start[block, None]
    return left


def rejected(game: Game, means: Floats) -> Booleans:
    """Whether wealth against each mean ever reached 1 / alpha: shape (means,).

    means: above the least score of control 0 (0, or -1 for the improvement).
    """
    found = np.zeros(means.size, dtype=np.bool_)
    live = np.arange(means.size)
    log_shares = np.log(np.array(game.plan.shares))[:, None]
    wealth = np.repeat(log_shares, means.size, axis=1)
    for block in range(1, game.counts.shape[0]):
        if not live.size:
            break
        if not game.counts[block].any():
            continue
        wealth += growth(game, block, means[live], wealth)
        is_over = np.logaddexp.reduce(wealth, axis=0) + game.log_alpha >= 0.0
        if is_over.any():
            found[live[is_over]] = True
            live, wealth = live[~is_over], wealth[:, ~is_over]
    return found


def growth(game: Game, block: int, means: Floats, wealth: Floats) -> Floats:
    """How much log wealth grows in one block.

    means: shape (means,).
    wealth: shape (checkpoints, means), log wealth of each share before the block.

    Returns:
        The gain of each share against each mean. Its exponential is at most 1 on
        average when the mean of the scores is at most the one bet against.
    """
    stake = _stake(game, block, means)
    bets = _bets(game, block, stake, wealth)
    cells = np.flatnonzero(game.counts[block])
    counts = game.counts[block, cells]
    plain, slope = game.plain[cells], game.slope[cells]
    grown = np.empty_like(wealth)
    step = max(1, CHUNK // cells.size)
    for start in range(0, means.size, step):
        part = slice(start, start + step)
        gains = stake.control[part, None] * slope
        gains += plain
        gains -= means[part, None]
        for look, bet in enumerate(bets[:, part]):
            terms = bet[:, None] * gains
            grown[look, part] = np.log1p(terms, out=terms) @ counts
    return grown


def _stake(game: Game, block: int, means: Floats) -> Stake:
    """The control against each mean, from the blocks before `block`."""
    n, d, e, dd, de, ee, aaa, aab, abb, bbb = game.sums[block]
    n += PSEUDO_DECISIONS
    if game.is_value:
        reward, unit = means, 1.0
    else:
        reward, unit = np.full_like(means, game.mean_reward), 0.0
    square = (dd + PSEUDO_DECISIONS * game.spread * reward) / n
    cross = (de + PSEUDO_DECISIONS * (unit - game.spread) * reward) / n
    steepness = (ee + PSEUDO_DECISIONS * (game.spread - unit)) / n
    plain = square + means * (means - 2.0 * (d + PSEUDO_DECISIONS * means) / n)
    least = LEAST_VARIANCE * (square + LEAST_VARIANCE)
    tilt = 2.0 * (cross - means * (e / n))

    control, reach = _controls(game, means)
    variance = control * steepness + tilt[:, None]
    variance *= control
    variance += plain[:, None]
    np.maximum(variance, least[:, None], out=variance)
    rate = -game.log_alpha / game.left[block, 0]
    width = np.sqrt(variance)
    width *= math.sqrt(2.0 * rate)
    width += (RANGE_PENALTY * rate) * reach
    best = np.arange(means.size), width.argmin(axis=1)
    c, variance = np.broadcast_to(control, width.shape)[best], variance[best]
    third = (aaa - c * (3.0 * aab - c * (3.0 * abb - c * bbb))) / n
    largest_bet = LARGEST_BET / reach[best]
    if not game.is_value:
        unsupported = LARGEST_BET_UNSUPPORTED / (means + 1.0)
        largest_bet = np.minimum(largest_bet, unsupported)
    return Stake(c, variance, third, largest_bet)


def _controls(game: Game, means: Floats) -> tuple[Floats, Floats]:
    """Controls to choose from and m less the least score.

    Shape (means, controls); one row of controls where they do not depend on m.
    """
    m, high = means[:, None], game.max_weight - 1.0
    if game.is_value:
        control = np.minimum(1.0, m * VALUE_CONTROLS)
        return control, m + high * control
    c = IMPROVEMENT_CONTROLS
    # Means below every score have no reach; any bet rejects them.
    reach = np.maximum(m + np.maximum(1.0 - c, high * c), LEAST_REACH)
    return c[None, :], reach


def _bets(game: Game, block: int, stake: Stake, wealth: Floats) -> Floats:
    """The bet of each share against each mean: shape (checkpoints, means)."""
    left = game.left[block][:, None]
    chance = wealth + game.log_alpha  # log of the chance to win a Gaussian race
    is_open = (chance >= LEAST_LOG) & (chance < 0.0)
    constant = np.sqrt(-2.0 * np.minimum(np.maximum(chance, LEAST_LOG), 0.0))
    closing = game.plan.decisions[block] / left
    bets = (1.0 - closing) * hazard(constant) + closing * constant
    bets /= np.sqrt(stake.variance * left)
    skewed = SKEW * bets * (stake.third / stake.variance)
    bets *= 1.0 + np.maximum(np.minimum(skewed, LARGEST_SKEW), -LARGEST_SKEW)
    return np.where(is_open, np.minimum(bets, stake.largest_bet), 0.0)
