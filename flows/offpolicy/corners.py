"""From counted cells to points: the corners of the mass split.

At the corners (`flows.offpolicy.grid`) weight, reward and their product have the means
they had in the log up to fixed-point rounding. Masses are integers until the end, so
their sums are exact and the same in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    state = (cells.kind * kept.size + probability) * len(FLAGS)
    found = [
        (
            ((state + flag) * WEIGHT_ENDS + cells.weight_cell + WEIGHT_CELLS + i)
            * REWARD_ENDS
            + cells.reward_cell
            + j,
            mass,
        )
        for (i, j), masses in zip(CORNERS, _masses(cells), strict=True)
        for flag, mass in _in_extremes(cells, masses)
    ]
    code = np.concatenate([codes for codes, _ in found])
    mass = np.concatenate([masses for _, masses in found])
    row = np.tile(np.arange(block.size), len(found))
    holds = mass > 0
    code, mass, row = code[holds], mass[holds], row[holds]
    codes, cell = np.unique(code, return_inverse=True)
    # Integers below 2^53: these sums are exact in any order.
    counted = np.bincount(
        block[row] * codes.size + cell, mass, minlength=blocks * codes.size
    )
    own = _unsupported(cells, cell, mass, row, codes.size)
    return BlockPoints(
        _decoded(cells, codes, kept, own),
        counted.reshape(blocks, codes.size) / UNIT,
    )


def _masses(cells: Cells) -> tuple[Integers, ...]:
    """The mass of each row at each of its four corners, in units of 2^-20."""
    n, a, b, ab = (cells.sums[name] for name in SUMS[:4])
    if cells.is_logging:
        a, ab = np.zeros_like(a), np.zeros_like(ab)
    return n * UNIT - a - b + ab, b - ab, a - ab, ab


def _in_extremes(cells: Cells, mass: Integers) -> Iterator[tuple[int, Integers]]:
    """Of a pair, the mass split into decisions with no and with only unsupported mass.

    Log wealth is concave in it, so the split never raises the wealth.
    """
    if not cells.is_pair:
        yield 0, mass
        return
    n = cells.sums["decisions"] * UNIT
    own = np.minimum(cells.sums["unsupported_part"] / n, 1.0)
    other = np.minimum(cells.sums["other_unsupported_part"] / n, 1.0)
    with_own = np.rint(mass * own).astype(np.int64)
    with_both = np.rint(with_own * other).astype(np.int64)
    with_other = np.rint((mass - with_own) * other).astype(np.int64)
    parts = (
        mass - with_own - with_other,
        with_other,
        with_own - with_both,
        with_both,
    )
    yield from enumerate(parts)


def _unsupported(
    cells: Cells, cell: Integers, mass: Integers, row: Integers, size: int
) -> Floats:
    """Mean unsupported mass of a single candidate at each corner."""
    if not cells.knows_support:
        return np.full(size, cells.unsupported_mean)
    parts = cells.sums["unsupported_part"] / (cells.sums["decisions"] * UNIT)
    found = np.bincount(cell, mass * parts[row], minlength=size)
    total = np.bincount(cell, mass, minlength=size)
    share: Floats = np.minimum(found / np.maximum(total, 1), 1.0)
    return share


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
        own_unsupported=flags[:, 0] if cells.is_pair else unsupported,
        other_unsupported=flags[:, 1],
    )
