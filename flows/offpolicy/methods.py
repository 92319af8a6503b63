"""How an interval is made, and under which looks it holds.

    fixed     79 hash blocks of one data set                          single look
    anytime   eight hash sub-blocks of each night
                since the start, in time order, with checkpoints      every look
                another window, one look at its end, in any order     single look
    mixture   constant bets, without blocks                           every look
              in its night-level form for adaptive logging and drift  every look
    compat    the interval another tool publishes                     every look

Hash blocks need a logging policy that does not react to rewards within a block, and a
constant mean. `logging = "adaptive"` (between nights), `"reacting"` (within one) and
`drift` therefore switch value and improvement to the night-level mixture, whatever the
declared method: its target is the running average of what the policies would have
earned, and it holds at every look (validity.md 5c and 11). `compat` is never switched.

A window other than "since the start" has a beginning that moves, so its interval is
true for the one look (validity.md 9).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from flows.intervals import Estimand, Interval, block_plan, mixture, night_mixture
from flows.intervals.blocks import anytime, fixed
from flows.offpolicy.blocks import Blocks
from flows.offpolicy.cells import Cells
from flows.offpolicy.corners import in_blocks, points

Method = Literal["fixed", "anytime", "mixture", "compat"]
METHODS: tuple[Method, ...] = get_args(Method)
Logging = Literal["fixed", "adaptive", "reacting"]
EVERY_LOOK = "every look"
SINGLE_LOOK = "single look"
# Neither a gate nor the headline may rest on it.
EXPLORATORY = "exploratory"
CONSTANT_MEAN = "constant_mean"
RUNNING_AVERAGE = "running_average"


@dataclass(frozen=True, slots=True)
class Design:
    """How intervals are made; declared before the first look.

    horizon_nights: of `anytime`: the night of the last checkpoint; None: checkpoints at
        doubling nights. It affects width alone.
    is_drifting: the mean reward of decisions may change.
    """

    method: Method
    confidence: float
    logging: Logging = "fixed"
    is_drifting: bool = False
    horizon_nights: int | None = None

    @property
    def is_by_night(self) -> bool:
        """Whether intervals are those of the night-level mixture."""
        is_constant = self.logging == "fixed" and not self.is_drifting
        return self.method != "compat" and not is_constant

    @property
    def used(self) -> Method:
        """The method that intervals are made by."""
        return "mixture" if self.is_by_night else self.method

    @property
    def assumes(self) -> str:
        """What the intervals assume of the mean: constant, or nothing."""
        return RUNNING_AVERAGE if self.is_by_night else CONSTANT_MEAN

    @property
    def blocks(self) -> Blocks:
        """How evidence of nights is cut."""
        return "hash_blocks" if self.used == "fixed" else "sub_blocks"


@dataclass(frozen=True, slots=True)
class Window:
    """The nights an estimate looks at.

    first: the first one, in days since 1970; nights: how many, empty ones included.
    is_from_start: whether the beginning is fixed, so that every look may be taken.
    """

    first: int
    nights: int
    is_from_start: bool


def look_of(design: Design, window: Window) -> str:
    """Under which looks an interval of the window holds."""
    if window.is_from_start and design.used != "fixed":
        return EVERY_LOOK
    return SINGLE_LOOK


def interval(
    cells: Cells,
    estimand: Estimand,
    *,
    design: Design,
    window: Window,
    alpha: float,
) -> Interval:
    """Interval of an estimand, rewards scaled to [0, 1]; by any method but `compat`.

    cells: rows of the window alone; at least one decision.
    alpha: total error in (0, 1).
    Returns: the interval, empty when the weights contradict the logged probabilities.
    """
    bound = cells.max_weight
    if design.is_by_night:
        nights = in_blocks(cells, cells.day - window.first, blocks=window.nights)
        return night_mixture.interval(nights, estimand, max_weight=bound, alpha=alpha)
    if design.used == "mixture":
        return mixture.interval(points(cells), estimand, max_weight=bound, alpha=alpha)
    if design.used == "fixed":
        plan = block_plan.fixed_plan(cells.decisions)
        hashed = in_blocks(cells, cells.block, blocks=plan.decisions.size)
        return fixed(hashed, estimand, plan=plan, max_weight=bound, alpha=alpha)
    return _of_nights(cells, estimand, design, window, alpha)


def looks(
    cells: Cells, design: Design, window: Window
) -> tuple[block_plan.Plan, block_plan.Positions]:
    """The declared looks from the start, and the row of each night and sub-block."""
    is_first = (cells.day == window.first) & (cells.block == 0)
    seen = int(cells.sums["decisions"][is_first].sum())
    return block_plan.nightly_plan(
        max(seen, 1) * block_plan.SUB_BLOCKS, horizon_nights=design.horizon_nights
    )


def _of_nights(
    cells: Cells, estimand: Estimand, design: Design, window: Window, alpha: float
) -> Interval:
    """By nights in time order: at every look since the start, else at one look.

    Since the start the size of a night is planned from block 0 alone, the first eighth
    of the first night, which is never bet on (validity.md 5a); at one look the size of
    the window is known.
    """
    night, block, bound = cells.day - window.first, cells.block, cells.max_weight
    if window.is_from_start:
        plan, row = looks(cells, design, window)
    else:
        plan, row = block_plan.window_plan(cells.decisions, nights=window.nights)
    # After the last checkpoint nothing is bet, so nothing changes.
    inside = night < len(row)
    nights = row[: window.nights]
    blocks = in_blocks(
        cells.where(inside),
        row[night[inside], block[inside]],
        blocks=int(nights.max()) + 1,
    )
    bet = anytime if window.is_from_start else fixed
    return bet(blocks, estimand, plan=plan, max_weight=bound, alpha=alpha)
