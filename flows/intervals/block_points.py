"""Counted points of several blocks that share one set of cells.

Bets are fixed within a block, so each block is seen through its counts alone; the order
of decisions inside it does not matter. Cells stand in one canonical order and counts of
a cell are added in ascending order, so results do not depend on the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flows.intervals.points import KEYS, Floats, Points, groups


@dataclass(frozen=True, slots=True)
class BlockPoints:
    """Cells and how many decisions of each block fall into each cell.

    cells: points whose counts are ignored.
    counts: shape (blocks, cells), not negative; fractional where mass was split. Where
        a plan cuts blocks into rows, shape (rows, cells).

    Raises:
        ValueError: counts has another shape, a negative number or one not finite.
    """

    cells: Points
    counts: Floats

    def __post_init__(self) -> None:
        shape = self.counts.shape
        if len(shape) != 2 or shape[1] != self.cells.weight.size:  # noqa: PLR2004
            raise ValueError(f"counts {shape}, cells {self.cells.weight.shape}")
        if not ((self.counts >= 0) & np.isfinite(self.counts)).all():
            raise ValueError("counts holds a number that is negative or not finite")


def in_blocks(
    points: Points, block: NDArray[np.integer], *, blocks: int
) -> BlockPoints:
    """Gathers points of any order into blocks.

    block: shape (points,), the block of each point, from 0.
    blocks: how many there are, empty ones included.

    Raises:
        ValueError: block has another shape or leaves [0, blocks).
    """
    if block.shape != points.weight.shape:
        raise ValueError("block and points differ in shape")
    if block.size and not 0 <= block.min() <= block.max() < blocks:
        raise ValueError(f"a block lies outside [0, {blocks})")
    # Adding 0 turns -0.0, which sorts equal to 0.0, into 0.0, and a mark into 0 or 1.
    keys = {name: getattr(points, name) + 0.0 for name in KEYS}
    keys["reward"] = np.where(points.is_reward_missing, 0.0, keys["reward"])
    order, starts = groups(keys, points.count)
    cell = np.zeros(order.size, dtype=np.intp)
    cell[starts[1:]] = 1
    first = order[starts]
    counts = np.zeros((blocks, first.size))
    np.add.at(counts, (block[order], np.cumsum(cell)), points.count[order])
    columns = {name: key[first] for name, key in keys.items()}
    for name in ("is_reward_missing", "is_supported"):
        columns[name] = columns[name] > 0.0
    return BlockPoints(Points(count=counts.sum(axis=0), **columns), counts)
