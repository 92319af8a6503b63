from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flows.intervals import Points, contradicts

BOUND = 20.0


def points_of(weight, count, mass=0.0):
    weight = np.array(weight, dtype=float)
    no = np.zeros(weight.size, dtype=bool)
    return Points(
        weight,
        np.zeros(weight.size),
        no,
        ~no,
        np.array(count),
        own_unsupported=np.full(weight.size, mass),
    )


def drawn(scale, decisions=20_000, mass=0.0):
    """Weights 2 and 1/2 that average `scale`."""
    counts = [decisions / 3, decisions * 2 / 3]
    return points_of([2.0 * scale, 0.5 * scale], counts, mass)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [(1.0, None), (1.25, "weights too large"), (0.8, "weights too small")],
)
def test_a_mean_weight_away_from_one_is_noticed(scale, expected):
    assert contradicts(drawn(scale), max_weight=BOUND) == expected


def test_unsupported_mass_makes_up_for_light_weights():
    light, heavy = drawn(0.8, mass=0.2), drawn(1.0, mass=0.2)

    assert contradicts(light, max_weight=BOUND) is None
    assert contradicts(heavy, max_weight=BOUND) == "weights too large"


@pytest.mark.parametrize(
    ("scale", "expected"),
    [(1.0, None), (1.25, "weights too large"), (0.1, None)],
)
@pytest.mark.parametrize("mass", [0.0, 1.0])
def test_where_support_is_unknown_weights_are_never_too_small(scale, expected, mass):
    points = drawn(scale, mass=mass)

    found = contradicts(points, max_weight=BOUND, is_support_known=False)

    assert found == expected


@pytest.mark.parametrize(
    ("scale", "expected"),
    [(1.0, None), (1.25, "weights too large"), (0.8, "weights too small")],
)
def test_weights_are_averaged_over_all_decisions_of_a_sampled_log(scale, expected):
    # A quarter of the decisions with small weights was kept.
    full = drawn(scale, 80_000)
    points = dataclasses.replace(
        full,
        count=full.count * np.array([1.0, 0.25]),
        sampling_weight=np.array([0.25, 1.0]),
    )
    ignored = dataclasses.replace(points, sampling_weight=np.ones(2))

    assert contradicts(points, max_weight=BOUND) == expected
    assert contradicts(ignored, max_weight=BOUND) == "weights too large"


def test_few_decisions_contradict_nothing():
    assert contradicts(drawn(1.25, 30), max_weight=BOUND) is None


def test_no_decision_contradicts_nothing():
    empty = points_of([1.0], [0.0])

    assert contradicts(empty, max_weight=BOUND) is None


def test_true_weights_hardly_ever_raise_an_alarm():
    share = np.array([0.05, 0.45, 0.5])
    weight = np.array([10.0, 1.0, 0.1])  # average 1
    counts = np.random.default_rng(3).multinomial(2_000, share, 400)

    alarms = sum(
        contradicts(points_of(weight, c.astype(float)), max_weight=BOUND) is not None
        for c in counts
    )

    assert alarms <= 2


def test_a_weight_above_the_bound_is_refused():
    with pytest.raises(ValueError, match="exceeds max_weight"):
        contradicts(drawn(1.0), max_weight=1.5)
