"""Numbers of the interval research and of oloproof 0.1.0a20, to 1e-9 of the range."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from flows.intervals import ESTIMANDS, Points, bounded_mean, identified, mixture

DATA = Path(__file__).parent / "data"
KERNEL_CASES = json.loads((DATA / "oloproof" / "kernel_cases.json").read_text())
NAMES = ("g1_two_actions", "g2_missing", "g3_counts")


def read(name):
    return json.loads((DATA / "intervals" / f"{name}.json").read_text())


def as_points(log):
    """Points of a golden log."""
    low, high = log["reward_range"]
    rows = []
    for decision in log["decisions"]:
        logging, candidate = decision["logging"], decision["target"]
        supported = {a for a, p in logging.items() if p >= log["propensity_floor"]}
        mass = sum(p for a, p in candidate.items() if a not in supported)
        action, reward = decision["action"], decision.get("reward")
        rows.append(
            (
                candidate[action] / logging[action] if action in supported else 0.0,
                0.0 if reward is None else (reward - low) / (high - low),
                reward is None,
                mass == 0,
                float(decision.get("count", 1)),
                mass,
            )
        )
    *columns, mass = map(np.array, zip(*rows, strict=True))
    return Points(*columns, own_unsupported=mass)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("estimand", ["value", "improvement"])
def test_the_mixture_without_controls_agrees_with_the_research(name, estimand):
    case = read(name)
    low, high = case["input"]["reward_range"]

    found = mixture.interval(
        as_points(case["input"]),
        ESTIMANDS[estimand],
        max_weight=1 / case["input"]["propensity_floor"],
        alpha=1 - case["confidence"],
        family=mixture.BARE,
    )

    shift = low if estimand == "value" else 0.0
    ends = [shift + (high - low) * end for end in (found.lower, found.upper)]
    assert ends == pytest.approx(case["expected"][estimand], abs=case["tolerance"])


@pytest.mark.parametrize("name", NAMES)
def test_identified_ranges_agree_with_the_research(name):
    case = read(name)
    points = as_points(case["input"])
    low, high = case["input"]["reward_range"]

    value = identified(points, ESTIMANDS["value"])
    improvement = identified(points, ESTIMANDS["improvement"])

    assert [low + (high - low) * end for end in (value.lower, value.upper)] == (
        pytest.approx(case["expected"]["identified_value_range"], abs=1e-12)
    )
    ends = [(high - low) * end for end in (improvement.lower, improvement.upper)]
    assert ends == (
        pytest.approx(case["expected"]["identified_improvement_range"], abs=1e-12)
    )


@pytest.mark.parametrize("case", KERNEL_CASES["cases"])
def test_compat_agrees_with_the_tool_that_published_it(case):
    low, high = case["range"]
    values, missing = case["values"], case["n_missing"]

    found = bounded_mean(
        np.array(values + [low] * missing, dtype=float),
        np.array(values + [high] * missing, dtype=float),
        np.ones(len(values) + missing),
        value_range=(low, high),
        confidence=case["confidence_level"],
    )

    near = {"abs": 1e-9 * (high - low), "rel": 0}
    assert found.lower == pytest.approx(case["lower"], **near)
    assert found.upper == pytest.approx(case["upper"], **near)
