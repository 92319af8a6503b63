"""From counted cells to points: the corners of the mass split.

At the corners (`flows.offpolicy.grid`) weight, reward and their product have the means
they had in the log up to fixed-point rounding. Masses are integers until the end, so
their sums are exact and the same in any order.

Of the mass without support only each row's sum is known, not where in the cell it lies.
It is given to the corners where it lowers the wealth of bets most: log wealth is
concave in the score, so scores that lie as far apart as the sums allow have the least.
For the test of weights, whose score is w + u, that is to the heaviest corners first;
for the lower end of a difference, whose score is x z - u', to the smallest x z first,
and at its upper end, x z + u, to the largest. Decisions of compared candidates are then
split into some with none and some with only such mass, which lowers wealth too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flows.intervals import Points
from flows.intervals.block_points import BlockPoints
from flows.offpolicy.cells import Cells
from flows.offpolicy.evidence import SUMS, SUPPORT_MISSING
from flows.offpolicy.grid import REWARD_CELLS, UNIT, WEIGHT_CELLS

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
# Ends of weight and reward cells, which number the corners.
WEIGHT_ENDS, REWARD_ENDS = 2 * WEIGHT_CELLS + 1, REWARD_CELLS + 1
CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))
# Whether the mass without support of a candidate and of the other one is 1, else 0.
FLAGS = ((0, 0), (0, 1), (1, 0), (1, 1))


def points(cells: Cells) -> Points:
    """The corners that hold mass, and how much."""
    found = in_blocks(cells, np.zeros_like(cells.block), blocks=1)
    return replace(found.cells, count=found.counts[0])


def in_blocks(cells: Cells, block: Integers, *, blocks: int) -> BlockPoints:
    """The corners that hold mass, and how much in each block.

    block: of each row of cells, from 0 to blocks - 1.
    """
    kept, probability = np.unique(cells.sample_probability, return_inverse=True)
    state = cells.kind * kept.size + probability
    corner = np.stack(
        [
            (cells.weight_cell + WEIGHT_CELLS + i) * REWARD_ENDS + cells.reward_cell + j
            for i, j in CORNERS
        ]
    )
    code = state * len(FLAGS) * WEIGHT_ENDS * REWARD_ENDS + corner
    mass, own = _masses(cells), np.zeros_like(corner)
    if cells.is_pair:
        code, mass = _in_extremes(cells, code, mass)
        own = np.zeros_like(mass)
    elif cells.knows_support:
        own = _given(mass, cells.sums["unsupported_part"], _weights(cells))
    places = np.broadcast_to(block, mass.shape)[mass > 0]
    code, own, mass = code[mass > 0], own[mass > 0], mass[mass > 0]
    codes, cell = np.unique(code, return_inverse=True)
    # Integers below 2^53: these sums are exact in any order.
    counted = np.bincount(
        places * codes.size + cell, mass, minlength=blocks * codes.size
    ).reshape(blocks, codes.size)
    unsupported = np.bincount(cell, own, minlength=codes.size) / counted.sum(axis=0)
    if not cells.knows_support:
        unsupported = np.full(codes.size, cells.unsupported_mean)
    return BlockPoints(_decoded(cells, codes, kept, unsupported), counted / UNIT)


def _masses(cells: Cells) -> Integers:
    """The mass of each row at its corners, in units of 2^-20: shape (4, rows)."""
    n, a, b, ab = (cells.sums[name] for name in SUMS[:4])
    if cells.is_logging:
        a, ab = np.zeros_like(a), np.zeros_like(ab)
    return np.stack([n * UNIT - a - b + ab, b - ab, a - ab, ab])


def _weights(cells: Cells) -> Floats:
    """The weight of each corner: shape (4, rows)."""
    ends = [cells.grid.weight_at(cells.weight_cell + i) for i in (0, 1)]
    return np.stack([ends[i] for i, _ in CORNERS])


def _given(mass: Integers, sums: Integers, rank: Floats) -> Integers:
    """Each row's sum dealt out to its corners, highest rank first: shape (4, rows).

    mass: what each corner can take at most.
    """
    order = np.argsort(-rank, axis=0, kind="stable")
    held = np.take_along_axis(mass, order, axis=0)
    before = np.cumsum(held, axis=0) - held
    dealt = np.clip(sums - before, 0, held)
    given = np.empty_like(mass)
    np.put_along_axis(given, order, dealt, axis=0)
    return given


def _in_extremes(
    cells: Cells, code: Integers, mass: Integers
) -> tuple[Integers, Integers]:
    """Corners of a pair, split by flags: codes and masses of shape (16, rows)."""
    reward = np.stack([(cells.reward_cell + j) / REWARD_CELLS for _, j in CORNERS])
    stake = _weights(cells) * reward
    own = _given(mass, cells.sums["unsupported_part"], stake)
    other = _given(mass, cells.sums["other_unsupported_part"], -stake)
    both = np.minimum(own, other)
    split = (mass - own - other + both, other - both, own - both, both)
    step = WEIGHT_ENDS * REWARD_ENDS
    codes = np.concatenate([code + flag * step for flag in range(len(FLAGS))])
    return codes, np.concatenate(split)


def _decoded(
    cells: Cells, codes: Integers, kept: Floats, unsupported: Floats
) -> Points:
    rest, reward = np.divmod(codes, REWARD_ENDS)
    rest, weight = np.divmod(rest, WEIGHT_ENDS)
    state, flag = np.divmod(rest, len(FLAGS))
    kind, probability = np.divmod(state, kept.size)
    flags = np.array(FLAGS, dtype=np.float64)[flag]
    weights = cells.grid.weight_at(weight - WEIGHT_CELLS)
    is_missing = kind % 2 == 1
    least = cells.grid.least_sample_probability
    return Points(
        weight=np.ones(codes.size) if cells.is_logging else weights,
        reward=np.where(is_missing, 0.0, reward / REWARD_CELLS),
        is_reward_missing=is_missing,
        is_supported=kind < SUPPORT_MISSING,
        count=np.zeros(codes.size),
        sampling_weight=np.minimum(least / kept[probability], 1.0),
        own_unsupported=flags[:, 0] if cells.is_pair else np.minimum(unsupported, 1.0),
        other_unsupported=flags[:, 1],
    )
