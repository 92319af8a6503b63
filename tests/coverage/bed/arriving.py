"""Nights whose last decisions are young: looked at night after night.

Half of a night's decisions come so late that their reward may still be on its way when
the night is looked at. Rewards of 1 arrive at once, 0 is known by the end of the wait.

    mature   a decision counts once its wait is over, rewarded or not (validity.md 6)
    open     late decisions count at once; a reward not known is missing until the wait
             is over (validity.md 7)
    early    broken: of the late decisions the rewarded ones are let in
"""

from __future__ import annotations

import dataclasses

import numpy as np
from bed import laws
from bed.drawing import cells, draw
from bed.looks import OF_ONE, judged, of_counts, policies
from bed.peers import CONFIDENCE

from flows.intervals.block_plan import SUB_BLOCKS
from flows.offpolicy.methods import Design, Window

LATE = 2  # halves of a sub-block


def arriving(rule, nights, a_night, *, looks=None, estimands=OF_ONE):
    """A run by `anytime` that looks at every night, or at some."""
    law = laws.usual(contexts=4)
    design = Design("anytime", CONFIDENCE)
    parts = np.full(SUB_BLOCKS * LATE, 1.0 / SUB_BLOCKS / LATE)

    def run(random, *, with_peers=False):  # noqa: ARG001 - as all runs
        sizes = random.multinomial(np.full(nights, a_night), parts)
        drawn = draw(law, random, sizes.ravel())
        place, is_late = np.divmod(drawn.row, LATE)
        night = place // SUB_BLOCKS
        found = {}
        for look in looks or range(1, nights + 1):
            is_open = (night == look - 1) & (is_late == 1)
            seen = dataclasses.replace(
                drawn, is_missing=is_open & (drawn.reward == 0.0)
            )
            kept = night < look
            if rule == "mature":
                kept &= ~is_open
            elif rule == "early":
                kept &= ~seen.is_missing
            seen, where = seen.where(kept), place[kept]
            for estimand in estimands:
                counted = cells(
                    law,
                    seen,
                    policies(law, estimand),
                    day=where // SUB_BLOCKS,
                    block=where % SUB_BLOCKS,
                )
                window = Window(0, look, is_from_start=True)
                made = of_counts(counted, estimand, design, window)
                one = judged(made, law.truth(estimand))
                found[estimand] = (
                    found[estimand].also(one) if estimand in found else one
                )
        return found

    return run
