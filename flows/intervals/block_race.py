"""The race of means to be rejected: wealth of a block bettor, block after block.

A range of means (floor, top] is bet against at its top. Any mean m of it could have
made the same bets: they depend on earlier blocks alone, and its factors are the larger
ones, as bet >= 0. The top is rejected as soon as the wealth of all shares together,
after any row, reaches 1 / alpha (Ville); every mean of the range is rejected with it.

Each checkpoint has a share of alpha as its wealth at the start, which races to the
checkpoint. Past it, it races to the next one: beside that one's share, or, in a plan of
nights, pooled with it. There a share starts to bet when its checkpoint is among the
next six, which saves time and costs less than .5 % of width.

In a plan of nights the log wealth of each share is kept at both edges of a range. The
log of a product of terms linear in m is concave, so between the edges it is at least
linear; the log of the shares' sum is then convex, so at least its tangent at the top.
Where that reaches 1 / alpha the range is rejected from its floor on (`reached`).

There ranges are also split, at blocks that the plan alone decides: as soon as decisions
have doubled, ranges around the estimate are cut to a tenth or two of its error at the
next such block. A part starts with its range's wealth at its own edges. So the ranges
are as fine as the data ask for, whether the log ends after one night or after ten
years, while block 0, which sets the first ones, may be a thousandth of a night.

If a mean m is the truth, let its wealth be the one of the ranges that hold it, each at
its time. That wealth does not grow on average, whatever ranges are split, as long as
earlier blocks decide: m is rejected with probability at most alpha.

Source: validity.md 5a; intervals-next.md, section 4. Edges, splits and the pool are
derived here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from flows.intervals.block_bets import growth, stakes
from flows.intervals.block_game import Game, Owners
from flows.intervals.points import Booleans, Floats

# Shares bet only when their checkpoint is among the next ones.
AHEAD = 6
STEP, DOUBLED = 0.1, 2.0
NEAR_ERRORS, MOST_PARTS = 8.0, 64
# exp of more overflows; it is far beyond any threshold.
MOST_LOG = 700.0
LEAST_RISE = 1e-12


class Ranges(NamedTuple):
    """Ranges of means, ascending within each end: arrays of shape (ranges,).

    reached: means from the floor to here are rejected.
    """

    floor: Floats
    top: Floats
    reached: Floats
    owner: Owners

    def where(self, kept: Booleans) -> Ranges:
        """Some of the ranges."""
        return Ranges(
            self.floor[kept], self.top[kept], self.reached[kept], self.owner[kept]
        )


def race(game: Game, ranges: Ranges) -> dict[int, float]:
    """How far up the first range of each end that is not rejected is rejected.

    ranges: tops above the least score of control 0.

    Returns:
        A number for each end; none when all its ranges are rejected.
    """
    plan, steps = game.plan, splits(game)
    log_shares = np.log(np.array(plan.shares))
    shares = slice(0, AHEAD if plan.is_nightly else log_shares.size)
    wealth = _start(log_shares[shares], ranges, edges=2 if plan.is_nightly else 1)
    for block in range(1, game.blocks):
        if not ranges.top.size:
            break
        if plan.is_nightly and block in plan.checkpoints:
            wealth = _pooled(wealth, log_shares[shares.stop :][:1])
            shares = slice(shares.start + 1, shares.stop + 1)
        if block in steps:
            parts = _parts(game, block, ranges, shares.start, steps[block])
            ranges, wealth = _split(ranges, wealth, parts)
        if not game.rows(block).any():
            continue
        edges = np.stack([ranges.top, ranges.floor])[: len(wealth)]
        path = growth(game, block, edges, ranges.owner, wealth[0], shares)
        path += wealth
        waiting = math.fsum(plan.shares[shares.stop :])
        reached = _reached(ranges, path, waiting, -game.log_alpha)
        ranges, wealth = ranges._replace(reached=reached), path[-1]
        kept = reached < ranges.top
        if not kept.all():
            ranges, wealth = ranges.where(kept), wealth[..., kept]
    owners, first = np.unique(ranges.owner, return_index=True)
    return dict(zip(owners.tolist(), ranges.reached[first].tolist(), strict=True))


def _start(log_shares: Floats, ranges: Ranges, *, edges: int) -> Floats:
    """Log wealth before the first bet: shape (edges, shares, ranges)."""
    wealth = np.empty((edges, log_shares.size, ranges.top.size))
    wealth[:] = log_shares[:, None]
    return wealth


def _reached(ranges: Ranges, path: Floats, waiting: float, threshold: float) -> Floats:
    """How far up each range is rejected after these rows.

    path: shape (rows, edges, shares, ranges), log wealth.
    waiting: the shares that do not bet yet.
    """
    held = np.exp(np.minimum(path[:, 0], MOST_LOG))
    total = held.sum(axis=1) + waiting
    lacking = threshold - np.log(total)
    if path.shape[1] == 1:
        return np.where((lacking <= 0.0).any(axis=0), ranges.top, ranges.floor)
    held *= path[:, 1] - path[:, 0]
    rise = np.maximum(held.sum(axis=1) / total, LEAST_RISE)
    part = np.minimum(np.maximum((lacking / rise).min(axis=0), 0.0), 1.0)
    best = ranges.top - part * (ranges.top - ranges.floor)
    reached: Floats = np.where(part > 0.0, np.maximum(ranges.reached, best), ranges.top)
    return reached


def _pooled(wealth: Floats, next_share: Floats) -> Floats:
    """The first share's wealth added to the second's; the next share joins in.

    Between the edges the sum of two wealths is at least the tangent at the top.
    """
    top = np.logaddexp(wealth[0, 0], wealth[0, 1])
    rise = wealth[1, :2] - wealth[0, :2]
    slope = (np.exp(wealth[0, :2] - top) * rise).sum(axis=0)
    pool = np.stack([top, top + slope])[:, None]
    joins = np.broadcast_to(
        next_share[None, :, None], (2, next_share.size, wealth.shape[2])
    )
    return np.concatenate([pool, wealth[:, 2:], joins], axis=1)


def splits(game: Game) -> dict[int, float]:
    """Blocks before which ranges are split, and how much decisions then grow.

    Block 0 stands for the first ranges. The factor is the one up to the next split, or
    the last checkpoint.
    """
    plan = game.plan
    if not plan.is_nightly:
        return {}
    done = np.cumsum(plan.decisions[: plan.blocks])
    blocks = [0]
    while (found := int(np.searchsorted(done, DOUBLED * done[blocks[-1]]))) < done.size:
        blocks.append(found)
    sizes = done[[*blocks, -1]]
    factors = (sizes[1:] / sizes[:-1]).tolist()
    return {
        block + 1 if block else 0: factor
        for block, factor in zip(blocks, factors, strict=True)
    }


def _parts(
    game: Game, block: int, ranges: Ranges, first_share: int, grows: float
) -> Owners:
    """Into how many parts each range is cut."""
    width = ranges.top - ranges.floor
    parts = np.ones(width.size, dtype=np.intp)
    for end in np.unique(ranges.owner).tolist():
        middle, error = _estimate(game, block, end, first_share)
        reach = NEAR_ERRORS * error
        is_near = (ranges.top > middle - reach) & (ranges.floor < middle + reach)
        is_near &= ranges.owner == end
        count = (width[is_near] / (STEP * error / math.sqrt(grows))).astype(np.intp)
        parts[is_near] = np.clip(count, 1, MOST_PARTS)
    return parts


def _estimate(
    game: Game, block: int, end: int, first_share: int
) -> tuple[float, float]:
    """Estimate and standard error from the blocks before `block`."""
    n, mass, _ = np.maximum(game.seen[block], 1.0).tolist()
    d, e, _, _, _, de, ee = game.sums[block, :7, end].tolist()
    control = min(max(-de / ee, 0.0), 1.0) if ee > 0.0 else 0.0
    middle = (d + control * e) / mass
    means = np.array([max(middle, 1.0 / n) if game.is_scaled else middle])
    stake = stakes(game, block, means, np.array([end]), first_share)
    return middle, math.sqrt(float(stake.variance[0]) * n) / mass


def _split(ranges: Ranges, wealth: Floats, parts: Owners) -> tuple[Ranges, Floats]:
    """Equal parts of ranges, each with the wealth of its range at its edges."""
    if parts.max() == 1:
        return ranges, wealth
    of = np.repeat(np.arange(parts.size), parts)
    size = parts[of]
    place = np.arange(of.size) - (np.cumsum(parts) - parts)[of]
    step = (ranges.top - ranges.floor)[of] / size
    floor = ranges.floor[of] + place * step
    top = np.where(place == size - 1, ranges.top[of], floor + step)
    reached = np.maximum(ranges.reached[of], floor)
    base, rise = wealth[0][:, of], (wealth[1] - wealth[0])[:, of]
    edges = [base + rise * ((size - place - i) / size) for i in (1, 0)]
    kept = reached < top
    found = Ranges(floor, top, reached, ranges.owner[of])
    return found.where(kept), np.stack(edges)[..., kept]
