"""The retired service's rule is told from the evidence of a night."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest

from flows import steps
from flows.job import load
from flows.warehouse import estimates, service_rule

FIRST, LAST = dt.date(2024, 5, 1), dt.date(2024, 5, 3)


@pytest.fixture(scope="module")
def place(place_at, tmp_path_factory):
    """Three days: rewards from -1 to 1, some missing, some decisions dropped."""
    place = place_at(tmp_path_factory.mktemp("service") / "place")
    place.job(candidates='new = "column:new"\nonline = "logging"')
    text = place.file.read_text().replace("[0.0, 1.0]", "[-1.0, 1.0]")
    place.file.write_text(
        text.replace("[candidates]", "least_sample_probability = 0.5\n[candidates]")
    )
    return place


@pytest.fixture(scope="module")
def log(place):
    rng = np.random.default_rng(5)
    actions, size = ["a", "b", "c"], 400
    logged = rng.dirichlet(np.ones(3), 3 * size) * 0.7 + 0.1
    taken = (logged.cumsum(1) < rng.random((3 * size, 1))).sum(1).clip(0, 2)
    rewards = rng.choice([-1.0, 0.25, 1.0, np.nan], 3 * size)
    start = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
    rows = pl.DataFrame(
        {
            "decision_id": [f"{row}" for row in range(3 * size)],
            "decided_at": [
                start + dt.timedelta(seconds=row * 86_400 // size)
                for row in range(3 * size)
            ],
            "action": [actions[a] for a in taken],
            "actions": [actions] * (3 * size),
            "logging_probabilities": logged.tolist(),
            "reward": pl.Series(rewards).fill_nan(None),
            "sample_probability": rng.choice([0.5, 1.0], 3 * size),
            "device": ["desk"] * (3 * size),
            "new": rng.dirichlet(np.ones(3), 3 * size).tolist(),
        }
    )
    place.write(rows, "log.parquet")
    return rows


@pytest.fixture(scope="module")
def sums(place, log):  # noqa: ARG001 - the log has to be there
    steps.estimate(place.judged())
    made = estimates.made_nights(place.folder())
    return service_rule.read(place.folder(), load(place.file), made)


def by_hand(rows, name):
    """Value and half-width, a decision at a time."""
    x, s = [], []
    for row in rows.rows(named=True):
        a = row["actions"].index(row["action"])
        w = 1.0 if name == "logging" else row[name][a] / row["logging_probabilities"][a]
        x.append(w * (row["reward"] or 0.0))
        s.append(0.5 / row["sample_probability"])
    x, s = np.array(x), np.array(s)
    value = (s * x).sum() / s.sum()
    squares = ((s * (x - value)) ** 2).sum() * x.size / (x.size - 1)
    return value, 1.959964 * math.sqrt(squares) / s.sum()


@pytest.mark.parametrize("first", [FIRST, dt.date(2024, 5, 2)])
def test_value_and_ends_are_those_of_the_log(sums, log, first):
    found = service_rule.told(sums, {"new": first, "online": first}, LAST)
    rows = log.filter(pl.col("decided_at").dt.date() >= first)
    new, online = found.rows(named=True)
    value, half = by_hand(rows, "new")
    assert new["value"] == pytest.approx(value, abs=1e-6)
    assert new["upper"] - new["value"] == pytest.approx(half, rel=0.01)
    assert new["value"] - new["lower"] == pytest.approx(half, rel=0.01)
    value, half = by_hand(rows, "logging")
    assert new["online_value"] == pytest.approx(value, abs=1e-6)
    assert online["upper"] - online["value"] == pytest.approx(half, rel=0.01)
    assert not online["would_switch"]


def test_days_after_the_night_are_not_looked_at(sums, log):
    night = dt.date(2024, 5, 2)
    (found,) = service_rule.told(sums, {"new": FIRST}, night).rows(named=True)
    value, _ = by_hand(log.filter(pl.col("decided_at").dt.date() <= night), "new")
    assert found["value"] == pytest.approx(value, abs=1e-6)


def test_what_has_no_second_decision_has_no_row(sums):
    after = LAST + dt.timedelta(1)
    assert service_rule.told(sums, {"new": after, "gone": FIRST}, after).is_empty()
