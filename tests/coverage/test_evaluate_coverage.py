"""Coverage of the whole way from a Parquet log to an interval, and what it refuses.

Every small log is written, opened, checked, counted and estimated by `evaluate`. The
rest of the bed draws counted cells instead of logs; here it is held against a log.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from bed import judge, laws, logs
from bed.drawing import cells, draw
from bed.looks import ALL, ONE_LOOK, of_counts, policies
from bed.peers import CONFIDENCE
from bed.settings import Setting
from bed.tally import tallied

from flows.offpolicy.blocks import block
from flows.offpolicy.estimate import WITHHELD
from flows.offpolicy.methods import Design

LOGS, DECISIONS = 90, 200
DRAWN = {
    "lost and broken": laws.hidden_gaps(),
    "sampled": laws.sampled(),
    "rewards between 0 and 1": laws.usual(contexts=2, is_continuous=True),
}
SPAN = logs.HIGHEST - logs.LOWEST
# `evaluate` widens by the fixed-point rounding.
SLACK = 5e-5


def test_logs_on_disk_give_intervals_that_cover_the_truth():
    setting = Setting("", "", 0, logs.on_disk(laws.hidden_gaps(), DECISIONS))

    found = {e: t.covered for e, t in tallied(setting, 0, LOGS).items()}

    assert {e: n for e, n in found.items() if not judge.holds(n, LOGS)} == {}


@pytest.mark.parametrize("method", ["fixed", "mixture"])
@pytest.mark.parametrize("name", DRAWN)
def test_drawn_cells_give_the_interval_of_the_log(name, method, tmp_path):
    law, random = DRAWN[name], np.random.default_rng(3)
    drawn = draw(law, random, [400])
    # An entry a decision, as in the file.
    each = drawn.where(np.repeat(np.arange(drawn.row.size), drawn.count))
    each = dataclasses.replace(each, count=np.ones_like(each.count))
    log = logs.frame(law, each, random)
    log.write_parquet(tmp_path / "log.parquet")

    evaluated = logs.estimates(
        law, tmp_path / "log.parquet", estimands=ALL, method=method
    )

    hashed = log.select(block("hash_blocks")).to_series().to_numpy()
    day, design = np.zeros_like(hashed), Design(method, CONFIDENCE)
    for estimand, found in evaluated.items():
        of, share = policies(law, estimand), 1.0 if estimand == "difference" else 0.5
        counted = cells(law, each, of, day=day, block=hashed)
        made = of_counts(counted, estimand, design, ONE_LOOK, share=share)
        lowest = logs.LOWEST if estimand == "value" else 0.0
        ends = [lowest + SPAN * end for end in (made.lower, made.upper)]
        assert [found.lower, found.upper] == pytest.approx(ends, abs=SLACK)


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_weights_off_by_a_quarter_are_found_out(factor, tmp_path):
    law = laws.usual(floor=0.1, contexts=2)
    # What the candidate likes is taken more, or less, often than the log says.
    tilt = np.where(law.candidates[0] > law.logging, factor**2, 1.0)
    tilted = law.logging * tilt
    tilted /= tilted.sum(axis=1, keepdims=True)
    random, states = np.random.default_rng(10), []
    for _ in range(6):
        drawn = draw(dataclasses.replace(law, logging=tilted), random, [8_000])
        logs.frame(law, drawn, random).write_parquet(tmp_path / "log.parquet")
        found = logs.estimates(law, tmp_path / "log.parquet")
        states += [one.state for one in found.values()]

    assert states == [WITHHELD] * len(states)
