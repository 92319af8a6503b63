"""Many candidates that are to hold together: every interval at once, or a miss.

`hundred`: a hundred candidates at one look with equal shares, as `evaluate` gives them.
`appearing`: candidates that appear night by night, each made from what earlier nights
seemed to say, with shares of a series that never ends (validity.md 10). Each starts on
the night it appears.
"""

from __future__ import annotations

import numpy as np
from bed import laws
from bed.drawing import cells, draw
from bed.looks import OF_ONE, ONE_LOOK, Found, judged, of_counts, sizes_of
from bed.peers import CONFIDENCE

from flows.intervals.block_plan import FIXED_CUTS, POSITIONS, SUB_BLOCKS
from flows.offpolicy.methods import Design, Window
from flows.offpolicy.plan import series_share

APPEARING = (0, 1, 3, 6, 10, 15)


def hundred(decisions, *, candidates=100, estimands=OF_ONE):
    """A run that looks once at many candidates."""
    law = laws.usual(contexts=4, candidates=candidates)
    shares = np.diff(FIXED_CUTS) / POSITIONS
    design = Design("fixed", CONFIDENCE)

    def run(random, *, with_peers=False):  # noqa: ARG001 - as all runs
        drawn = draw(law, random, random.multinomial(decisions, shares))
        zero, found = np.zeros_like(drawn.row), {}
        for number, policy in enumerate(law.candidates):
            counted = cells(law, drawn, [policy], day=zero, block=drawn.row)
            for estimand in estimands:
                made = of_counts(
                    counted, estimand, design, ONE_LOOK, share=1.0 / candidates
                )
                truth = law.truth(estimand, number)
                found.setdefault(estimand, []).append(judged(made, truth))
        return {estimand: together(each) for estimand, each in found.items()}

    return run


def appearing(nights, a_night, *, estimands=OF_ONE):
    """A run by `anytime` with candidates that appear later."""
    law = laws.usual(contexts=4)
    design = Design("anytime", CONFIDENCE)

    def run(random, *, with_peers=False):  # noqa: ARG001 - as all runs
        drawn = draw(law, random, sizes_of(random, nights, a_night))
        day, block = np.divmod(drawn.row, SUB_BLOCKS)
        found = {}
        for place, first in enumerate(APPEARING, 1):
            policy = (
                law.candidates[0] if first == 0 else seeming(law, drawn, day < first)
            )
            truth = float((policy * law.pays).sum() / len(law.pays))
            since = day >= first
            counted = cells(
                law, drawn.where(since), [policy], day=day[since], block=block[since]
            )
            window = Window(first, nights - first, is_from_start=True)
            share = series_share(place)
            for estimand in estimands:
                made = of_counts(counted, estimand, design, window, share=share)
                against = law.logged if estimand == "improvement" else 0.0
                found.setdefault(estimand, []).append(judged(made, truth - against))
        return {estimand: together(each) for estimand, each in found.items()}

    return run


def seeming(law, drawn, which):
    """A candidate that takes what seemed best in some of the decisions."""
    seen = drawn.where(which)
    where = seen.context, seen.action
    earned = np.zeros(law.pays.shape)
    np.add.at(earned, where, seen.count * seen.reward / law.logging[where])
    return laws.greedy(earned.argmax(axis=1))


def together(each):
    """Several intervals as one: held when all are; the mean width."""
    return Found(
        any(one.is_below for one in each),
        any(one.is_above for one in each),
        float(np.mean([one.width for one in each])),
    )
