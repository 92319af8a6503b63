from __future__ import annotations

import numpy as np
import pytest

from flows.intervals.gaffke import lower_bound


def bound(scores, counts, *, least=0.0, alpha=0.025, weights=None):
    counts = np.array(counts, dtype=float)
    weights = np.ones(counts.size) if weights is None else np.array(weights)
    return lower_bound(np.array(scores), counts, weights, least=least, alpha=alpha)


@pytest.mark.parametrize(
    ("ones", "zeros", "expected"),
    [
        # Clopper and Pearson: quantiles of Beta(ones, zeros + 1).
        (5, 15, 0.08657146910143461),
        (1, 99, 0.00025314603297742064),
        (2, 99_998, 2.422101962703155e-06),
        (5_000, 5_000, 0.4901513805899805),
        (19, 1, 0.7512672372279722),
    ],
)
def test_of_two_values_the_bound_is_the_exact_binomial_one(ones, zeros, expected):
    assert bound([1.0, 0.0], [ones, zeros]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("decisions", [1, 2, 30, 10_000_000])
def test_nothing_but_successes_leaves_a_power_of_the_error(decisions):
    expected = 0.025 ** (1 / decisions)

    assert bound([1.0], [decisions]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("sampling", [1.0, 0.2])
def test_the_bound_is_the_quantile_of_randomly_weighted_scores(sampling):
    scores, counts = np.array([-2.0, 0.1, 0.7, 5.0]), np.array([3.0, 20.0, 9.0, 2.0])
    weights = np.array([1.0, sampling, 1.0, sampling])
    draws = np.random.default_rng(2).gamma(np.append(counts, 1.0), size=(200_000, 5))
    draws *= np.append(weights, 1.0)
    means = draws @ np.append(scores, -3.0) / draws.sum(axis=1)

    found = bound(scores, counts, least=-3.0, weights=weights, alpha=0.1)

    share = float((means <= found).mean())
    assert share == pytest.approx(0.1, abs=3e-3)


def test_a_shift_and_a_scale_move_the_bound_along():
    plain = bound([0.0, 0.3, 1.0], [40, 30, 20])

    moved = bound([-1.0, -0.4, 1.0], [40, 30, 20], least=-1.0)

    assert moved == pytest.approx(2 * plain - 1, abs=1e-12)


def test_a_decision_in_parts_counts_as_whole():
    whole = bound([0.2, 0.9], [30, 10])

    parts = bound([0.2, 0.2, 0.9], [0.001, 29.999, 10])

    assert parts == pytest.approx(whole, abs=1e-12)


def test_straight_and_bent_paths_lead_to_the_same_chance():
    # Here the bent path leads uphill.
    scores, counts = [0.01, 3.0, 2.4], [3_307_714.0, 130.0, 0.01]
    weights = [0.01, 1.0, 0.01]

    found = bound(scores, counts, weights=weights)

    draws = np.random.default_rng(4).gamma([*counts, 1.0], size=(200_000, 4))
    draws *= [*weights, 1.0]
    means = draws @ [*scores, 0.0] / draws.sum(axis=1)
    assert float((means <= found).mean()) == pytest.approx(0.025, abs=2e-3)


def test_scores_at_the_least_say_nothing():
    assert bound([], []) == 0.0
    assert bound([-1.0], [50], least=-1.0) == -1.0


def test_many_cells_are_evaluated_in_parts():
    scores = np.linspace(0.0, 1.0, 70_001)

    found = bound(scores, np.ones(scores.size))

    deviation = np.sqrt(1 / 12 / scores.size)
    assert found == pytest.approx(0.5 - 1.96 * deviation, abs=0.02 * deviation)
