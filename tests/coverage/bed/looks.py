"""Intervals of drawn decisions, as `evaluate` and `nightly` make them.

A run draws decisions from a generator and returns, by estimand, what was found.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from bed.drawing import cells, draw
from bed.peers import CONFIDENCE, widths

from flows.intervals import ESTIMANDS
from flows.intervals.block_plan import FIXED_CUTS, POSITIONS, SUB_BLOCKS
from flows.offpolicy.corners import points
from flows.offpolicy.methods import Design, Window, interval

OF_ONE = ("value", "improvement")
ALL = (*OF_ONE, "difference")
ONE_LOOK = Window(0, 1, is_from_start=False)


@dataclasses.dataclass(frozen=True)
class Found:
    """What became of one truth in one replication.

    is_below, is_above: it lay, at any look, below the lower or above the upper end.
    width: of the last interval. peers: widths by peer; empty where nobody asked.
    """

    is_below: bool
    is_above: bool
    width: float
    peers: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def is_held(self):
        return not (self.is_below or self.is_above)

    def also(self, later):
        """Both looks together."""
        return dataclasses.replace(
            later,
            is_below=self.is_below or later.is_below,
            is_above=self.is_above or later.is_above,
        )


def judged(found, truth, **peers):
    """An interval held against the truth; an empty one leaves it out on a side."""
    is_below, is_above = bool(truth < found.lower), bool(truth > found.upper)
    return Found(is_below, is_above, float(found.width), peers)


def of_counts(counted, estimand, design, window, *, share=1.0):
    """The interval of counted cells, with a share of the error."""
    return interval(
        counted,
        ESTIMANDS[estimand],
        design=design,
        window=window,
        alpha=(1.0 - CONFIDENCE) * share,
    )


def policies(law, estimand):
    """The candidates that an estimand is about."""
    return law.candidates[: 2 if estimand == "difference" else 1]


def one_look(law, decisions, *, method="fixed", estimands=OF_ONE, spoil=None):
    """A run that looks once, as `evaluate` does.

    spoil: one of `bed.broken`.
    """
    shares = np.diff(FIXED_CUTS) / POSITIONS
    design = Design(method, CONFIDENCE)

    def run(random, *, with_peers=False):
        drawn = draw(law, random, random.multinomial(decisions, shares))
        found = {}
        for estimand in estimands:
            of = policies(law, estimand)
            zero = np.zeros_like(drawn.row)
            counted = cells(law, drawn, of, day=zero, block=drawn.row)
            if spoil is not None:
                counted = spoil(counted)
            peers = peers_of(law, counted, estimand) if with_peers else {}
            made = of_counts(counted, estimand, design, ONE_LOOK)
            found[estimand] = judged(made, law.truth(estimand), **peers)
        return found

    return run


def peers_of(law, counted, estimand):
    """Widths of the peers on the same counts; none where decisions are missing."""
    if not law.is_complete:
        return {}
    return widths(
        points(counted),
        estimand,
        floor=law.floor,
        max_weight=counted.max_weight,
    )


def sizes_of(random, nights, a_night):
    """Decisions of each night's sub-blocks, one after the other; traffic varies."""
    traffic = random.poisson(a_night * random.uniform(0.7, 1.3, nights))
    return random.multinomial(traffic, np.full(SUB_BLOCKS, 1.0 / SUB_BLOCKS)).ravel()


def every_night(law, nights, a_night, *, horizon=None, estimands=OF_ONE):
    """A run by `anytime` from the first night to the last.

    One interval says it all: an end once reached is never taken back, so a truth that
    was ever left out stays left out.
    """
    design = Design("anytime", CONFIDENCE, horizon_nights=horizon)
    window = Window(0, nights, is_from_start=True)

    def run(random, *, with_peers=False):
        drawn = draw(law, random, sizes_of(random, nights, a_night))
        day, block = np.divmod(drawn.row, SUB_BLOCKS)
        found = {}
        for estimand in estimands:
            of = policies(law, estimand)
            counted = cells(law, drawn, of, day=day, block=block)
            peers = peers_of(law, counted, estimand) if with_peers else {}
            made = of_counts(counted, estimand, design, window)
            found[estimand] = judged(made, law.truth(estimand), **peers)
        return found

    return run
