"""draft"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from flows.intervals.block_bets import AHEAD, Game, growth, stakes
from flows.intervals.points import Floats

MOST_LOG = 700.0
STEP_BELOW = 0.15
WINDOW = 8.0
MOST_PARTS = 64
RATIO = 2.0


def race(game: Game, floors: Floats, means: Floats, sizes: Sequence[int]) -> list[float | None]:
    """The floor of the first cell of each end that is not rejected."""
    plan, sizes = game.plan, list(sizes)
    looks = np.array(plan.checkpoints)
    log_shares = np.log(np.array(plan.shares))
    last = min(AHEAD + 1, looks.size) if plan.is_nightly else looks.size
    shares = slice(0, last)
    edges = 2 if plan.is_nightly else 1
    wealth = np.empty((edges, last, means.size))
    wealth[:] = log_shares[shares, None]
    reached = floors
    refinements = refined_at(game)
    for block in range(1, game.blocks):
        if not means.size:
            break
        if plan.is_nightly and block in plan.checkpoints:
            last = shares.stop
            pooled = np.logaddexp(wealth[:, :1], wealth[:, 1:2])
            more = [pooled, wealth[:, 2:]]
            if last < looks.size:
                more.append(np.full((edges, 1, means.size), log_shares[last]))
            wealth = np.concatenate(more, axis=1)
            shares = slice(shares.start + 1, min(last + 1, looks.size))
        if block in refinements:
            parts = _parts(game, block, floors, means, sizes, shares, refinements[block])
            if parts.max() > 1:
                floors, means, wealth, reached, sizes = _split(floors, means, wealth, reached, sizes, parts)
        rows = game.counts[plan.rows[block] : plan.rows[block + 1]]
        if not rows.any():
            continue
        path = growth(game, block, (means, floors)[:edges], sizes, wealth[0], shares)
        np.cumsum(path, axis=1, out=path)
        path += wealth[:, None]
        wealth = path[:, -1]
        rest = sum(plan.shares[shares.stop :])
        held = np.exp(np.minimum(path[0], MOST_LOG))
        total = held.sum(axis=1) + rest
        lacking = -np.log(total) - game.log_alpha
        if edges == 2:
            rise = path[1] - path[0]
            rise *= held
            rise = rise.sum(axis=1) / total
            part = lacking / np.maximum(rise, 1e-12)
            best = means - np.minimum(part.min(axis=0), 1.0) * (means - floors)
            reached = np.maximum(reached, best)
        kept = (lacking > 0).all(axis=0)
        if not kept.all():
            means, floors, reached, wealth = means[kept], floors[kept], reached[kept], wealth[..., kept]
            sizes = _counts(kept, sizes)
    found: list[float | None] = []
    start = 0
    for size in sizes:
        found.append(float(reached[start]) if size else None)
        start += size
    return found


def _counts(kept, sizes):
    stops = np.cumsum(sizes)
    return [int(kept[a:b].sum()) for a, b in zip(stops - sizes, stops)]


def refined_at(game: Game) -> dict[int, float]:
    """Blocks before which cells are split, and by how much decisions grow to the next."""
    plan = game.plan
    if not plan.is_nightly:
        return {}
    done = np.cumsum(plan.decisions[: plan.blocks])
    blocks, last = [], done[0]
    for block in range(1, plan.blocks):
        if done[block - 1] * (1 + 1e-9) >= RATIO * last:
            blocks.append(block)
            last = done[block - 1]
    nexts = [*(done[b - 1] for b in blocks[1:]), done[-1]]
    return {b: float(n / done[b - 1]) for b, n in zip(blocks, nexts, strict=True)}


def first_times(plan):
    done = np.cumsum(plan.decisions[: plan.blocks])
    later = done[done * (1 + 1e-9) >= RATIO * done[0]]
    return float(later[0] / done[0]) if later.size else 1.0


def _parts(game, block, floors, means, sizes, shares, times):
    parts = np.ones(means.size, dtype=np.int64)
    n, v, _ = game.seen[block]
    if not n:
        return parts
    start = 0
    for i, (end, size) in enumerate(zip(game.ends, sizes, strict=True)):
        if size:
            where = slice(start, start + size)
            d, e, _, _, _, de, ee = end.sums[block][:7]
            c = min(max(-de / ee, 0.0), 1.0) if ee else 0.0
            middle = max((d + c * e) / v, means[start] * .5 if game.estimand.returned else -.999)
            one = [0] * len(sizes)
            one[i] = 1
            variance = float(stakes(game, block, np.array([max(middle, 1.0 / n) if game.estimand.returned else middle]), one, shares).variance[0])
            error = math.sqrt(variance / n) * n / v
            step = STEP_BELOW * error / math.sqrt(times)
            near = (means[where] > middle - WINDOW * error) & (floors[where] < middle + WINDOW * error)
            count = np.floor((means[where] - floors[where]) / step)
            parts[where] = np.where(near, np.clip(count, 1, MOST_PARTS), 1)
        start += size
    return parts


def _split(floors, means, wealth, reached, sizes, parts):
    cell = np.repeat(np.arange(parts.size), parts)
    place = np.arange(cell.size) - (np.cumsum(parts) - parts)[cell]
    width = ((means - floors) / parts)[cell]
    new_floors = floors[cell] + place * width
    is_last = place == parts[cell] - 1
    new_means = np.where(is_last, means[cell], new_floors + width)
    low = (parts[cell] - place) / parts[cell]
    high = (parts[cell] - place - 1) / parts[cell]
    rise = (wealth[1] - wealth[0])[:, cell]
    base = wealth[0][:, cell]
    new = np.stack([base + high * rise, base + low * rise])
    reached = np.maximum(reached[cell], new_floors)
    kept = reached < new_means
    sizes = _counts(kept, _sums(parts, sizes))
    return new_floors[kept], new_means[kept], new[..., kept], reached[kept], sizes


def _sums(parts, sizes):
    stops = np.cumsum(sizes)
    return [int(parts[a:b].sum()) for a, b in zip(stops - sizes, stops)]
