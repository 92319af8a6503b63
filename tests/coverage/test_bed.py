"""The coverage bed at the size of every change; `large.py` is the one on request.

Few settings, small and far from the border of what the judge lets pass, so that few
replications decide. Seeded one by one: the same numbers on every machine and run.
"""

from __future__ import annotations

import functools

import pytest
from bed import bars, broken, judge, laws
from bed.arriving import arriving
from bed.looks import ALL, OF_ONE, every_night, one_look
from bed.many import appearing
from bed.settings import Setting
from bed.tally import tallied
from bed.worlds import watched

LOOKS = (1, 2, 4, 8, 16, 30)
# Name, what is run and how many times.
SETTINGS = {
    "rare rewards": (one_look(laws.usual(contexts=2, mean=0.05), 200), 500),
    "rewards between 0 and 1": (
        one_look(laws.usual(floor=0.1, contexts=2, is_continuous=True), 150),
        250,
    ),
    "lost and broken": (one_look(laws.hidden_gaps(), 400), 400),
    "sampled": (one_look(laws.sampled(), 200), 450),
    "100 nights": (
        every_night(laws.usual(contexts=2), 100, 8, estimands=("improvement",)),
        250,
    ),
    "reacting nights": (watched("reacting", 30, 100, looks=LOOKS), 75),
    "late rewards": (arriving("open", 8, 100, looks=LOOKS[:3]), 120),
    "appearing candidates": (appearing(16, 10, estimands=("value",)), 110),
}
BROKEN_LOGS = 40
BROKEN = {
    "controls despite gaps": one_look(
        laws.gaps(), 1_000, estimands=ALL, spoil=broken.with_controls_despite_gaps
    ),
    "missing rows dropped": one_look(
        laws.hidden(), 4_000, estimands=ALL, spoil=broken.without_missing_decisions
    ),
    "sampling ignored": one_look(
        laws.sampled(), 20_000, estimands=ALL, spoil=broken.as_if_nothing_was_dropped
    ),
    "rewarded decisions early": arriving("early", 1, 40_000),
}
# Of those bars that a few draws decide.
BARS = [
    "rare, 500",
    "rare, 2,000",
    "rare, 20,000",
    "half, 2,000",
    "half, 20,000",
    "half, 20,000 in 28 nights, night 14",
    "between, 500, off the grid, mixture",
]
DRAWS = 20


@functools.cache
def counted(name):
    run, times = SETTINGS[name]
    setting = Setting(name, "", 0, run, is_compared=False)
    return tallied(setting, 0, times)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_truth_is_covered(name):
    found = {e: (t.covered, t.replications) for e, t in counted(name).items()}

    assert {
        e: numbers for e, numbers in found.items() if not judge.holds(*numbers)
    } == {}


def test_pooled_over_settings_coverage_is_at_its_level():
    tallies = [tally for name in SETTINGS for tally in counted(name).values()]
    covered = sum(tally.covered for tally in tallies)

    assert judge.holds_pooled(covered, sum(tally.replications for tally in tallies))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_estimator_fails_the_bed(name):
    setting = Setting(name, "", 0, BROKEN[name], is_compared=False)
    found = {e: t.covered for e, t in tallied(setting, 0, BROKEN_LOGS).items()}

    assert set(found) >= set(OF_ONE)
    assert {e: n for e, n in found.items() if not judge.fails(n, BROKEN_LOGS)} == {}


@pytest.mark.parametrize("name", BARS)
def test_widths_stay_below_their_bars(name):
    value = tallied(bars.settings()[name], 0, DRAWS)["value"]
    held = {bar: bars.reached(value, bar) for bar in bars.bars() if bar.setting == name}

    assert held
    assert {bar: ratio for bar, ratio in held.items() if ratio > bar.limit} == {}
