from __future__ import annotations

import numpy as np
import pytest

from flows.intervals import Points, contradicts

BOUND = 20.0


def points_of(weight, count):
    weight = np.array(weight, dtype=float)
    anything = np.zeros(weight.size, dtype=bool)
    return Points(weight, np.zeros(weight.size), anything, ~anything, np.array(count))


def drawn(scale, decisions=20_000):
    """Weights 2 and 1/2 that average `scale`."""
    return points_of([2.0 * scale, 0.5 * scale], [decisions / 3, decisions * 2 / 3])


@pytest.mark.parametrize(
    ("scale", "expected"),
    [(1.0, None), (1.25, "weights too large"), (0.8, "weights too small")],
)
def test_a_mean_weight_away_from_one_is_noticed(scale, expected):
    assert contradicts(drawn(scale), np.zeros(2), max_weight=BOUND) == expected


def test_unsupported_mass_makes_up_for_light_weights():
    mass = np.full(2, 0.2)

    assert contradicts(drawn(0.8), mass, max_weight=BOUND) is None
    assert contradicts(drawn(1.0), mass, max_weight=BOUND) == "weights too large"


def test_few_decisions_contradict_nothing():
    assert contradicts(drawn(1.25, 30), np.zeros(2), max_weight=BOUND) is None


def test_no_decision_contradicts_nothing():
    empty = points_of([1.0], [0.0])

    assert contradicts(empty, np.zeros(1), max_weight=BOUND) is None


def test_true_weights_hardly_ever_raise_an_alarm():
    share = np.array([0.05, 0.45, 0.5])
    weight = np.array([10.0, 1.0, 0.1])  # average 1
    counts = np.random.default_rng(3).multinomial(2_000, share, 400)

    alarms = sum(
        contradicts(points_of(weight, c.astype(float)), np.zeros(3), max_weight=BOUND)
        is not None
        for c in counts
    )

    assert alarms <= 2


@pytest.mark.parametrize(
    ("mass", "message"),
    [(np.zeros(3), "differ in shape"), (np.array([0.0, 1.5]), "leaves")],
)
def test_a_mass_that_cannot_be_one_is_refused(mass, message):
    with pytest.raises(ValueError, match=message):
        contradicts(drawn(1.0), mass, max_weight=BOUND)


def test_a_weight_above_the_bound_is_refused():
    with pytest.raises(ValueError, match="exceeds max_weight"):
        contradicts(drawn(1.0), np.zeros(2), max_weight=1.5)
