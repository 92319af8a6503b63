"""What a block bettor declares before its first look: blocks, their sizes, its looks.

A plan affects width, never validity: bets use the sizes planned here and not those of
the blocks that come, which may depend on rewards (validity.md 5a and 5d). Changing a
plan after a look starts a new sequence.

One data set is cut into 79 blocks: block 0 holds 1 %, each of 77 more a tenth of what
is left, the last one the rest (.03 %). The bets of a block are fixed, so small last
blocks let a bet close in on the threshold. The block of a decision comes from the top
16 bits of the 64-bit hash of a constant salt and its id (validity.md 5b).

Nights, in time order, are cut into eight equal hash sub-blocks: the top three bits of
the same hash. In 48 settings equal ones gave intervals 0 to 16 % narrower than shares
that fall by .6, and in three of them 1 to 5 % wider (2,000 to 200,000 decisions in 28
nights, horizon declared or open, mean reward .05 and .5, looks after nights 2, 7, 14
and 28, 60 logs each).

Looks ("checkpoints") share alpha. With a declared horizon: a quarter, a half and three
quarters of the nights, and the end, which gets the most; without one the nights double
(1, 2, 4, 7, 14, ... 112). Between checkpoints an interval is wider, after the last one
it no longer changes.

Source: intervals-next.md, sections 4, 5 and 8; validity.md 5a to 5d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flows.intervals.points import Floats

Positions = NDArray[np.int64]
Blocks = NDArray[np.uint8]

POSITIONS = 1 << 16
FIRST_SHARE, NEXT_SHARE, LAST_SHARE = 0.01, 0.1, 0.0003
SUB_BLOCKS = 8
QUARTER_SHARES = (0.15, 0.2, 0.2, 0.45)
OPEN_NIGHTS = (1, 2, 4, 7, 14, 28, 56, 112)
OPEN_SHARES = (0.06, 0.08, 0.12, 0.16, 0.18, 0.16, 0.14, 0.10)


@dataclass(frozen=True, slots=True)
class Plan:
    """Planned blocks and checkpoints.

    decisions: shape (blocks,), decisions planned in each block, positive. Block 0 fixes
        the grid of candidate means and is never bet on.
    checkpoints: how many blocks are complete at each checkpoint, ascending; the last
        is at least 2.
    shares: the part of alpha each checkpoint gets; positive, at most 1 together.
    second_moment: planned mean squared weight, at least 1; None: taken from block 0.

    Raises:
        ValueError: a number is out of its range, or shares and checkpoints differ in
            length.
    """

    decisions: Floats
    checkpoints: tuple[int, ...]
    shares: tuple[float, ...]
    second_moment: float | None = None

    def __post_init__(self) -> None:
        planned, looks = self.decisions, self.checkpoints
        if planned.ndim != 1 or not ((planned > 0) & np.isfinite(planned)).all():
            raise ValueError("decisions is not a list of positive numbers")
        if len(self.shares) != len(looks) or not looks:
            raise ValueError(f"{len(self.shares)} shares for {len(looks)} checkpoints")
        if not all(early < late for early, late in pairwise((0, *looks))):
            raise ValueError(f"checkpoints {looks} do not ascend from 1")
        if not 1 < looks[-1] <= planned.size:
            raise ValueError(f"last checkpoint {looks[-1]} of {planned.size} blocks")
        if min(self.shares) <= 0 or math.fsum(self.shares) > 1 + 1e-12:
            raise ValueError(f"shares {self.shares} are not positive parts of 1")
        if self.second_moment is not None and not 1 <= self.second_moment < math.inf:
            raise ValueError(f"second_moment {self.second_moment} is below 1")

    @property
    def blocks(self) -> int:
        """How many blocks are bet on at most, block 0 included."""
        return self.checkpoints[-1]

    @property
    def horizon(self) -> float:
        """Decisions planned up to the last checkpoint."""
        return float(self.decisions[: self.blocks].sum())


def _fixed_cuts() -> Positions:
    """Where each block starts among the positions, and their number at the end."""
    shares, rest = [FIRST_SHARE], 1.0 - FIRST_SHARE
    while rest > LAST_SHARE:
        shares.append(rest * NEXT_SHARE)
        rest *= 1.0 - NEXT_SHARE
    ends = np.rint(np.cumsum([*shares, rest]) * POSITIONS).astype(np.int64)
    return np.concatenate([np.zeros(1, np.int64), ends])


# Shape (80,), from 0 to 65,536; no block is empty.
FIXED_CUTS = _fixed_cuts()
# Shape (65,536,), the block of each position: what a look-up gathers from.
FIXED_BLOCKS: Blocks = np.repeat(
    np.arange(FIXED_CUTS.size - 1, dtype=np.uint8), np.diff(FIXED_CUTS)
)


def block_of(hashes: NDArray[np.uint64]) -> Blocks:
    """The block of each decision of one data set, from 0 to 78.

    hashes: shape (decisions,), of a salt that never changes and the id; the top 16 bits
        are the position.
    """
    blocks: Blocks = FIXED_BLOCKS[hashes >> np.uint64(48)]
    return blocks


def fixed_plan(decisions: float, *, second_moment: float | None = None) -> Plan:
    """Blocks of one data set, looked at once; `block_of` tells them apart.

    decisions: how many the data set holds.
    """
    planned = decisions * np.diff(FIXED_CUTS) / POSITIONS
    return Plan(planned, (planned.size,), (1.0,), second_moment)


def nightly_plan(
    decisions_a_night: float,
    *,
    horizon_nights: int | None = None,
    sub_blocks: int = SUB_BLOCKS,
    second_moment: float | None = None,
) -> Plan:
    """Blocks of nights, in time order, each cut into equal hash sub-blocks.

    decisions_a_night: expected, positive; wrong by a factor of two it costs 2 to 10 %
        of width at the horizon.
    horizon_nights: the night of the last look; None: checkpoints at doubling nights.
    sub_blocks: of each night, at least 1; 1 where the logging policy reacts within a
        night (validity.md 5c).

    Raises:
        ValueError: the horizon is no positive number of nights, or leaves one block.
    """
    if horizon_nights is None:
        share_of = dict(zip(OPEN_NIGHTS, OPEN_SHARES, strict=True))
    else:
        share_of = _quarters(horizon_nights)
    return Plan(
        np.full(max(share_of) * sub_blocks, decisions_a_night / sub_blocks),
        tuple(nights * sub_blocks for nights in share_of),
        tuple(share_of.values()),
        second_moment,
    )


def _quarters(nights: int) -> dict[int, float]:
    """Share of each quarter's night; quarters that fall on one night are added."""
    if nights < 1:
        raise ValueError(f"horizon of {nights} nights")
    share_of: dict[int, float] = {}
    for quarter, share in enumerate(QUARTER_SHARES, 1):
        night = -(-nights * quarter // len(QUARTER_SHARES))
        share_of[night] = share_of.get(night, 0.0) + share
    return share_of
