"""Bars for widths, and the draws they are measured on.

Widths are means over draws, a ratio is one of means; `never` is the widest ratio of any
draw. `normal` is the plain normal interval, `likelihood` empirical likelihood, neither
of which holds for few decisions; compat is cut to what is possible.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from bed import laws
from bed.drawing import cells, draw
from bed.looks import OF_ONE, ONE_LOOK, every_night, judged, of_counts, one_look
from bed.settings import DECISIONS, REWARDS, Setting

from flows.intervals import ESTIMANDS, Points, mixture
from flows.intervals.block_plan import FIXED_CUTS, POSITIONS, fixed_plan
from flows.intervals.block_points import in_blocks
from flows.intervals.blocks import fixed
from flows.offpolicy.methods import Design

LARGE = (*DECISIONS, 2_000_000)
AGAINST_NORMAL = {
    "rare": {2_000: 1.30, 20_000: 1.12, 200_000: 1.08},
    "half": {2_000: 0.75, 20_000: 0.70, 200_000: 0.68},
    "between": {2_000: 0.50, 20_000: 0.42, 200_000: 0.40},
}
AGAINST_LIKELIHOOD = 1.10
LEAST_FLOORED = 1_000
HORIZON, AT_NIGHTS = 28, {28: 1.30, 14: 1.45, 7: 1.60}
OPEN_AGAINST_LIKELIHOOD, OPEN_AGAINST_COMPAT = 1.6, 1.15
OPEN_NIGHTS = (28, 42, 56, 80, 112)
LOSS = 1.001
GRID_METHODS = ("fixed", "mixture")
ALPHA = 0.05


@dataclasses.dataclass(frozen=True)
class Bar:
    """A limit for the ratio of widths in a setting.

    peer: what it is held against. never: the widest ratio counts, not that of means.
    """

    setting: str
    peer: str
    limit: float
    never: bool = False


def settings():
    """The draws, by name; widths of the last look."""
    found = {}
    for reward, options in REWARDS.items():
        for decisions in LARGE:
            run = one_look(laws.usual(**options), decisions)
            name = f"{reward}, {decisions:,}"
            found[name] = Setting(name, "fixed", decisions, run, few(decisions))
            for method in GRID_METHODS if decisions in (500, 20_000) else ():
                run = against_exact(laws.usual(**options), decisions, method)
                name = f"{reward}, {decisions:,}, off the grid, {method}"
                found[name] = Setting(name, method, decisions, run)
        for decisions in (20_000, 200_000):
            for night in AT_NIGHTS:
                pace = decisions // HORIZON
                run = every_night(laws.usual(**options), night, pace, horizon=HORIZON)
                name = f"{reward}, {decisions:,} in 28 nights, night {night}"
                found[name] = Setting(name, "anytime, horizon", pace * night, run)
        for night in OPEN_NIGHTS:
            pace = 20_000 // OPEN_NIGHTS[0]
            run = every_night(laws.usual(**options), night, pace)
            name = f"{reward}, {pace} a night, night {night}"
            found[name] = Setting(name, "anytime", pace * night, run)
        for decisions in (500, 2_000):
            run = every_night(laws.usual(**options), 28, decisions // 28)
            name = f"{reward}, {decisions:,} in 28 nights"
            found[name] = Setting(name, "anytime", decisions, run)
    return found


def few(decisions):
    """Draws of two million rewards between 0 and 1 take seconds each."""
    return 0.1 if decisions > 200_000 else 1.0


def bars():
    """Every bar, in the order of the report."""
    for reward in REWARDS:
        for decisions in LARGE:
            name = f"{reward}, {decisions:,}"
            yield Bar(name, "compat", 1.0, never=True)
            if decisions in AGAINST_NORMAL[reward]:
                yield Bar(name, "normal", AGAINST_NORMAL[reward][decisions])
            if decisions * 0.05 >= LEAST_FLOORED:
                yield Bar(name, "likelihood", AGAINST_LIKELIHOOD)
    for name, one in settings().items():
        if one.method == "anytime, horizon":
            yield Bar(name, "likelihood", AT_NIGHTS[int(name.rsplit(" ", 1)[1])])
        elif one.method == "anytime":
            if one.decisions >= 20_000 - 28:
                yield Bar(name, "likelihood", OPEN_AGAINST_LIKELIHOOD)
            yield Bar(name, "compat", OPEN_AGAINST_COMPAT)
        elif "off the grid" in name:
            yield Bar(name, "exact", LOSS)


def reached(tally, bar):
    """What a bar is held against."""
    if bar.never:
        return tally.widest.get(bar.peer, math.nan)
    return tally.against(bar.peer)


def against_exact(law, decisions, method):
    """A run whose peer is the interval of the decisions themselves, without a grid."""
    shares = np.diff(FIXED_CUTS) / POSITIONS
    plan, design = fixed_plan(decisions), Design(method, 1.0 - ALPHA)

    def run(random, *, with_peers=False):  # noqa: ARG001 - as all runs
        drawn = draw(law, random, random.multinomial(decisions, shares))
        of, zero = law.candidates[:1], np.zeros_like(drawn.row)
        counted = cells(law, drawn, of, day=zero, block=drawn.row)
        points = exactly(law, drawn)
        options = {"max_weight": counted.max_weight, "alpha": ALPHA}
        found = {}
        for estimand in OF_ONE:
            one = ESTIMANDS[estimand]
            if method == "fixed":
                blocks = in_blocks(points, drawn.row, blocks=plan.decisions.size)
                exact = fixed(blocks, one, plan=plan, **options)
            else:
                exact = mixture.interval(points, one, **options)
            made = of_counts(counted, estimand, design, ONE_LOOK)
            found[estimand] = judged(made, law.truth(estimand), exact=exact.width)
        return found

    return run


def exactly(law, drawn):
    """The decisions as points that no grid has touched."""
    where = drawn.context, drawn.action
    yes = np.ones(drawn.row.size, dtype=bool)
    return Points(
        law.candidates[0][where] / law.logging[where],
        drawn.reward,
        ~yes,
        yes,
        drawn.count.astype(float),
    )
