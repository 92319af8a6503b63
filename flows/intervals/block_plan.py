"""What a block bettor declares before its first look: blocks, their sizes, its looks.

A plan affects width, never validity: bets use planned sizes and earlier blocks, not the
size of the blocks that come, which may depend on rewards (validity.md 5a and 5d).
Changing a plan after a look starts a new sequence. Bets are fixed within a block, so
blocks shrink, by a share of what is left to the next look, to let a bet close in on the
threshold.

One data set is cut into 79 blocks: block 0 holds 1 %, each of 77 more a tenth of what
is left, the last one the rest (.03 %). The block of a decision comes from the top 16
bits of the 64-bit hash of a constant salt and its id (validity.md 5b).

Nights are cut into eight equal hash sub-blocks, the top three bits of the same hash. In
48 settings equal ones gave intervals 0 to 16 % narrower than shares that fall by .6,
and in three of them 1 to 5 % wider (2,000 to 200,000 decisions in 28 nights, horizon
declared or open, mean reward .05 and .5, looks after nights 2, 7, 14 and 28, 60 logs
each). Sub-blocks are put together into blocks by two plans:

`nightly_plan`, for a look after every night: in time order, a fifth of what is left to
the next checkpoint each. A block may hold several nights and be looked at after each,
as its bets are fixed; 28 nights are 75 blocks instead of 224, ten years 317. With a
tenth intervals were 0 to 2 % narrower, with a quarter 0 to 2 % wider (500 to 200,000
decisions in 28 nights, three laws of reward, 30 logs each).

`window_plan`, for one look at a window: block 0 a hundredth, then a tenth of what is
left each, in an order that no traffic pattern shares: by sub-block first, then by night
in a scattered order. So the first eighth of the blocks has already seen the traffic of
the whole window, and the last ones are no weekend. It takes a logging policy that does
not react to rewards in the window, as `block_of` does (validity.md 5c).

Looks ("checkpoints") share alpha. With a declared horizon: a quarter, a half and three
quarters of the nights, and the end, which gets the most; without one the nights double,
1, 2, 4, 7, 14 and on to 3,584. Between checkpoints an interval is wider, after the last
one it no longer changes. Open-ended, in the Gaussian limit, it has 1.9 times the normal
width on night 1, 1.37 to 1.47 times at the checkpoints from night 7 to 448, at most
1.65 times between them and 1.72 times from then on to night 1,280. Were there no look
after night 112 it would be 5 % narrower up to then.

Source: intervals-next.md, sections 4, 5 and 8; validity.md 5a to 5d. Merged blocks and
the order of a window are derived here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flows.intervals.points import Floats

Positions = NDArray[np.int64]
Blocks = NDArray[np.uint8]

POSITIONS = 1 << 16
FIRST_SHARE, NEXT_SHARE, LAST_SHARE = 0.01, 0.1, 0.0003
SUB_BLOCKS = 8
# Of what is left to the next checkpoint, the share of each block of nights.
NIGHTLY_SHARE = 0.2
QUARTER_SHARES = (0.15, 0.2, 0.2, 0.45)
OPEN_NIGHTS = (1, 2, 4, 7, 14, 28, 56, 112, 224, 448, 896, 1792, 3584)
OPEN_SHARES = (
    *(0.035, 0.05, 0.075, 0.105, 0.125, 0.125, 0.115, 0.1),
    *(0.085, 0.07, 0.06, 0.04, 0.015),
)
# No block of a window is smaller than one of so many parts.
WINDOW_PARTS = 1_000
# Times it, modulo 2^32, neighbouring nights lie far apart (Fibonacci hashing).
SCATTER = 2_654_435_769
ONE_A_BLOCK: Positions = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Plan:
    """Planned blocks and checkpoints.

    decisions: shape (blocks,), decisions planned in each block, positive. Block 0 fixes
        the grid of candidate means and is never bet on.
    checkpoints: how many blocks are complete at each checkpoint, ascending; the last
        is at least 2.
    shares: the part of alpha each checkpoint gets; positive, at most 1 together.
    second_moment: planned mean squared weight, at least 1; None: taken from block 0.
    rows: shape (blocks + 1,), where the counts of each block start, and their number.
        Left out, a block is one row. There is a look after every row.
    is_nightly: blocks are those of nights, whose traffic nobody knows: only the ratios
        of the planned decisions count, their scale is the pace of the blocks so far.

    Raises:
        ValueError: a number is out of its range, or shares and checkpoints differ in
            length.
    """

    decisions: Floats
    checkpoints: tuple[int, ...]
    shares: tuple[float, ...]
    second_moment: float | None = None
    rows: Positions = field(default_factory=lambda: ONE_A_BLOCK)
    is_nightly: bool = False

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
        if self.rows is ONE_A_BLOCK:
            object.__setattr__(self, "rows", np.arange(planned.size + 1))
        if self.rows.shape != (planned.size + 1,) or (np.diff(self.rows) < 1).any():
            raise ValueError("rows does not give every block a row of its own")

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


def checkpoint_shares(horizon_nights: int | None) -> dict[int, float]:
    """The share of the error spent at each checkpoint, by its night from 1, ascending.

    Checkpoints are the quarters of a declared horizon, where shares of quarters that
    fall on one night are added, or doubling nights where there is none.

    Raises:
        ValueError: the horizon is no positive number of nights.
    """
    if horizon_nights is None:
        return dict(zip(OPEN_NIGHTS, OPEN_SHARES, strict=True))
    if horizon_nights < 1:
        raise ValueError(f"horizon of {horizon_nights} nights")
    share_of: dict[int, float] = {}
    for quarter, share in enumerate(QUARTER_SHARES, 1):
        night = -(-horizon_nights * quarter // len(QUARTER_SHARES))
        share_of[night] = share_of.get(night, 0.0) + share
    return share_of


def nightly_plan(
    decisions_a_night: float,
    *,
    horizon_nights: int | None = None,
    sub_blocks: int = SUB_BLOCKS,
) -> tuple[Plan, Positions]:
    """Blocks of nights in time order, and where the counts of each night belong.

    decisions_a_night: expected, positive; bets follow the pace of the log instead, as
        soon as there are decisions.
    horizon_nights: the night of the last look; None: checkpoints at doubling nights.
    sub_blocks: equal hash sub-blocks of each night, at least 1.

    Returns:
        The plan, and the row of counts of each night and sub-block, shape (nights,
        sub_blocks); the nights after the last look have none. A row never holds parts
        of two nights, so a look at the rows up to any night is one of the plan's.

    Raises:
        ValueError: the horizon is no positive number of nights, or leaves one block.
    """
    share_of = checkpoint_shares(horizon_nights)
    looks = [night * sub_blocks for night in share_of]
    ends = _cuts(looks, 1, NIGHTLY_SHARE, 1)
    block = np.repeat(np.arange(ends.size), np.diff(ends, prepend=0))
    night = np.arange(block.size) // sub_blocks
    is_new = np.ones(block.size, dtype=np.bool_)
    is_new[1:] = (np.diff(block) > 0) | (np.diff(night) > 0)
    row = np.cumsum(is_new) - 1
    plan = Plan(
        np.diff(ends, prepend=0) * (decisions_a_night / sub_blocks),
        tuple((np.searchsorted(ends, looks) + 1).tolist()),
        tuple(share_of.values()),
        rows=np.append(row[np.searchsorted(block, np.arange(ends.size))], row[-1] + 1),
        is_nightly=True,
    )
    return plan, row.reshape(-1, sub_blocks)


def window_plan(decisions: float, *, nights: int) -> tuple[Plan, Positions]:
    """Blocks of one look at a window of nights, each of eight hash sub-blocks.

    decisions: expected in the window, positive; bets follow the pace of the log.
    nights: at least 1, those without decisions included.

    Returns:
        The plan, and the row of counts, which is the block, of each night and
        sub-block: shape (nights, 8).
    """
    units = nights * SUB_BLOCKS
    first = max(round(FIRST_SHARE * units), 1)
    ends = _cuts([units], first, NEXT_SHARE, max(units // WINDOW_PARTS, 1))
    sizes = np.diff(ends, prepend=0)
    block = np.repeat(np.arange(sizes.size), sizes).reshape(SUB_BLOCKS, nights)
    place = np.empty((nights, SUB_BLOCKS), dtype=np.int64)
    place[np.argsort(np.arange(nights) * SCATTER % (1 << 32))] = block.T
    planned = sizes * (decisions / units)
    plan = Plan(planned, (sizes.size,), (1.0,), is_nightly=True)
    return plan, place


def _cuts(looks: list[int], first: int, share: float, least: int) -> Positions:
    """Where blocks end, in sub-blocks: each a share of what is left to the next look.

    None is larger than all before it: so much is known when its bets are made.
    first: the size of block 0; least: that of the others, except the last one.
    """
    ends = [first]
    for look in looks:
        while (left := look - ends[-1]) > 0:
            size = max(min(int(share * left), ends[-1]), least)
            ends.append(ends[-1] + min(size, left))
    return np.array(ends)
