"""Wealth of a block bettor: what the counts of a block do to it.

Scores are those of `estimands`, written d + c e for a control c in [0, 1], and v is the
sampling weight. Wealth against a mean m is multiplied in each block by the product over
its decisions of

    1 + bet * v (d + c e - m)      bet in [0, .85 / (m - least score)]

with bet and c from earlier blocks and planned sizes only. Where candidate mass is
unsupported the score can be lower than the least one with support: bets stay below
.99 / (m - that one) too. As bet >= 0 wealth does not grow on average under any mean <=
m, and counts split over neighbouring cells never raise it (log is concave).

Of earlier blocks come the moments of v d and v e, with 200 pseudo decisions of the
planned law added. With L = log(1 / alpha) and t the decisions planned up to the next
checkpoint c minimises sqrt(2 variance L / t) + .67 (m - least score) L / t. The bet is
the one of a Gaussian race (`normal_tail`) to the checkpoint of each share of alpha,
turned into the best constant bet as the block's part of what is left grows, and
corrected for the third moment.

Source: intervals-next.md, sections 4 and 8; validity.md 1, 5a, 5f and 13. The limit of
bets on unsupported decisions is derived here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from flows.intervals.block_game import PSEUDO_DECISIONS, Game, Owners
from flows.intervals.normal_tail import LEAST_LOG, hazard
from flows.intervals.points import Floats

RANGE_PENALTY = 0.67
LARGEST_BET, LARGEST_BET_UNSUPPORTED = 0.85, 0.99
SKEW, LARGEST_SKEW = 0.5, 0.5
# Variance is at least this part of the mean square plus itself.
LEAST_VARIANCE = 0.02
LEAST_REACH = 1e-9
# Controls: multiples of m for the value, plain numbers for the others.
VALUE_CONTROLS: Floats = np.linspace(0.0, 1.3, 11)
OTHER_CONTROLS: Floats = np.linspace(0.0, 1.0, 21)
# Numbers held at once by one evaluation: half a megabyte, kept in the cache.
CHUNK = 1 << 16


class Stake(NamedTuple):
    """Control against each mean and what its bet is computed from: shape (means,)."""

    control: Floats
    variance: Floats
    third: Floats
    largest_bet: Floats


def growth(
    game: Game,
    block: int,
    edges: Floats,
    owner: Owners,
    wealth: Floats,
    shares: slice,
) -> Floats:
    """How much log wealth grows from the start of a block to each of its rows.

    edges: shape (edges, means): the means bet against and, below each, any others
        against which the same bets count.
    owner: shape (means,), which end each mean belongs to.
    wealth: shape (shares, means), log wealth of each share against the first edge.
    shares: which of the plan's they are.

    Returns:
        The gain of each share: shape (rows, edges, shares, means). Its exponential is
        at most 1 on average when the mean of the scores is at most the edge.
    """
    stake = stakes(game, block, edges[0], owner, shares.start)
    bets = _bets(game, block, stake, wealth, shares)
    rows = game.rows(block)
    cells = np.flatnonzero(rows.any(axis=0))
    counts, mass = rows[:, cells].T, game.mass[cells]
    plain, slope = game.plain[:, cells], game.slope[:, cells]
    grown = np.empty((len(rows), len(edges), *wealth.shape))
    of_mean = len(edges) * len(bets) * max(cells.size, 1)
    step = min(max(1, CHUNK // of_mean), owner.size)
    scratch = np.empty(step * of_mean)
    for start in range(0, owner.size, step):
        part = slice(start, start + step)
        scores = stake.control[part, None] * slope[owner[part]]
        scores += plain[owner[part]]
        gains = scores - edges[:, part, None] * mass
        shape = (len(edges), len(bets), *scores.shape)
        terms = scratch[: math.prod(shape)].reshape(shape)
        np.multiply(bets[:, part, None], gains[:, None], out=terms)
        np.log1p(terms, out=terms)
        # One product of two matrices is twice as fast as one for each share.
        summed = terms.reshape(-1, cells.size) @ counts
        grown[..., part] = summed.reshape(*shape[:3], -1).transpose(3, 0, 1, 2)
    return np.cumsum(grown, axis=0, out=grown)


def stakes(
    game: Game, block: int, means: Floats, owner: Owners, first_share: int
) -> Stake:
    """The control against each mean, from the blocks before `block`.

    first_share: the share whose race sets the price of a control.
    """
    n = game.seen[block, 0] + PSEUDO_DECISIONS
    control, reach = _controls(game, means)
    variance = _variances(game, block, means, owner, control)
    rate = -game.log_alpha / game.left[block, first_share]
    width = np.sqrt(variance)
    width *= math.sqrt(2.0 * rate)
    width += (RANGE_PENALTY * rate) * reach
    pick = width.argmin(axis=1)
    row = np.arange(means.size)
    c = control[row if game.is_scaled else 0, pick]
    aaa, aab, abb, bbb = game.sums[block, 7:][:, owner]
    third = (aaa - c * (3.0 * aab - c * (3.0 * abb - c * bbb))) / n
    unsupported = means - game.estimand.least_unsupported(game.max_weight)
    # A mean that no score lies below leaves any bet open.
    unsupported = np.maximum(unsupported, LEAST_REACH)
    largest_bet = np.minimum(
        LARGEST_BET / reach[row, pick], LARGEST_BET_UNSUPPORTED / unsupported
    )
    return Stake(c, variance[row, pick], third, largest_bet)


def _controls(game: Game, means: Floats) -> tuple[Floats, Floats]:
    """Controls to choose from and m less the least score.

    Shape (means, controls); one row of controls where they do not depend on m.
    """
    m = means[:, None]
    if game.is_scaled:
        control = np.minimum(1.0, m * VALUE_CONTROLS)
        return control, m + (game.max_weight - 1.0) * control
    least = [game.estimand.least(c, game.max_weight) for c in OTHER_CONTROLS.tolist()]
    # Means below every score have no reach; any bet rejects them.
    return OTHER_CONTROLS[None, :], np.maximum(m - np.array(least), LEAST_REACH)


def _variances(
    game: Game, block: int, means: Floats, owner: Owners, control: Floats
) -> Floats:
    """Mean squares of v (d + c e - m), not too small: shape (means, controls)."""
    n, _, vv = game.seen[block]
    n += PSEUDO_DECISIONS
    d, e, dd, de, ee = game.sums[block, 2:7][:, owner]
    pseudo, unit = game.pseudo, game.estimand.returned
    reward = means if game.is_scaled else game.planned_rewards[owner]
    square = (dd + pseudo * game.spread * reward) / n
    cross = (de + pseudo * (unit - game.spread) * reward) / n
    steepness = (ee + pseudo * (game.spread - unit)) / n
    plain = square + means * (
        means * ((vv + pseudo) / n) - 2.0 * (d + pseudo * means) / n
    )
    tilt = 2.0 * (cross - means * (e / n))
    least = LEAST_VARIANCE * (square + LEAST_VARIANCE * (pseudo / PSEUDO_DECISIONS))
    variance: Floats = control * steepness[:, None] + tilt[:, None]
    variance *= control
    variance += plain[:, None]
    np.maximum(variance, least[:, None], out=variance)
    return variance


def _bets(
    game: Game, block: int, stake: Stake, wealth: Floats, shares: slice
) -> Floats:
    """The bet of each share against each mean: shape (shares, means)."""
    left, closing = game.left[block, shares, None], game.closing[block, shares, None]
    chance = wealth + game.log_alpha  # log of the chance to win a Gaussian race
    is_open = (chance >= LEAST_LOG) & (chance < 0.0)
    constant = np.sqrt(-2.0 * np.minimum(np.maximum(chance, LEAST_LOG), 0.0))
    bets = (1.0 - closing) * hazard(constant) + closing * constant
    bets /= np.sqrt(stake.variance * left)
    skewed = SKEW * bets * (stake.third / stake.variance)
    bets *= 1.0 + np.maximum(np.minimum(skewed, LARGEST_SKEW), -LARGEST_SKEW)
    return np.where(is_open, np.minimum(bets, stake.largest_bet), 0.0)
