from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist

import numpy as np
import pytest

from flows.intervals import ESTIMANDS, Points, identified
from flows.intervals.approximate import (
    APPROXIMATE,
    CONJECTURED,
    WITHHELD,
    second_lines,
)

BOUND, ALPHA = 4.0, 0.05
OPTIONS = {"max_weight": BOUND, "alpha": ALPHA, "floor": 1 / BOUND}
Z = NormalDist().inv_cdf(1 - ALPHA / 2)
METHODS = ("empirical_likelihood", "gaffke", "normal", "normal_self_normalised")
BOTH = pytest.mark.parametrize("estimand", ["value", "improvement"])
EVERY = pytest.mark.parametrize("method", METHODS)
# The plain normal line does not use the mean weight.
BALANCED = pytest.mark.parametrize("method", [m for m in METHODS if m != "normal"])
MIRRORED = {"value": lambda end: 1 - end, "improvement": lambda end: -end}


def make_points(*rows, **others):
    """Rows of weight, reward (None is missing), is_supported, count."""
    weight, reward, supported, count = zip(*rows, strict=True)
    return Points(
        np.array(weight, dtype=float),
        np.array([0.0 if r is None else r for r in reward], dtype=float),
        np.array([r is None for r in reward]),
        np.array(supported),
        np.array(count, dtype=float),
        **{name: np.array(numbers) for name, numbers in others.items()},
    )


# Mean weight 1.
TRUTH = {"value": 19 / 30, "improvement": 1 / 15}
COMPLETE = make_points(
    (0.5, 0.0, True, 300),
    (0.5, 1.0, True, 300),
    (2.0, 0.0, True, 60),
    (2.0, 0.5, True, 60),
    (2.0, 1.0, True, 180),
)
# Of a tenth of the decisions the reward is lost.
LOST = make_points(
    (0.5, 0.0, True, 250),
    (0.5, 1.0, True, 290),
    (0.5, None, True, 60),
    (2.0, 0.0, True, 120),
    (2.0, 1.0, True, 140),
    (2.0, None, True, 40),
)
# A third of the decisions put a quarter of the candidate's mass below the floor.
GAPPY = make_points(
    (0.5, 0.0, True, 200),
    (0.5, 1.0, True, 200),
    (2.0, 1.0, True, 200),
    (0.5, 0.0, False, 200),
    (1.25, 1.0, False, 100),
    own_unsupported=[0.0, 0.0, 0.0, 0.25, 0.25],
)
NOTHING = make_points((1.0, 0.0, True, 0))


def times(points, factor):
    return dataclasses.replace(points, count=points.count * factor)


def ends(points, estimand, method, **options):
    lines = second_lines(points, estimand, **OPTIONS | options)
    line = next(line for line in lines if line.method == method)
    return line.lower, line.upper


@BOTH
def test_lines_come_in_one_order_and_say_what_they_are(estimand):
    lines = second_lines(COMPLETE, estimand, **OPTIONS)

    assert [line.method for line in lines] == list(METHODS)
    labels = [APPROXIMATE, CONJECTURED, APPROXIMATE, APPROXIMATE]
    assert [line.label for line in lines] == labels


@BOTH
@pytest.mark.parametrize("points", [COMPLETE, LOST, GAPPY], ids="clg")
def test_the_order_of_rows_and_splitting_them_changes_no_bit(points, estimand):
    rows = np.random.default_rng(1).permutation(
        np.tile(np.arange(points.count.size), 2)
    )
    names = [field.name for field in dataclasses.fields(Points)]
    turned = {name: getattr(points, name)[rows] for name in names}

    found = second_lines(
        Points(**turned | {"count": turned["count"] / 2}), estimand, **OPTIONS
    )

    assert found == second_lines(points, estimand, **OPTIONS)


@BOTH
def test_the_normal_line_is_mean_and_standard_errors(estimand):
    stake = COMPLETE.weight - (estimand == "improvement")
    scores = np.repeat(stake * COMPLETE.reward, COMPLETE.count.astype(int))

    found = ends(COMPLETE, estimand, "normal")

    error = scores.std(ddof=1) / math.sqrt(scores.size)
    expected = (scores.mean() - Z * error, scores.mean() + Z * error)
    assert found == pytest.approx(expected, abs=1e-12)


@BOTH
def test_the_self_normalised_line_recomputes_the_ratio(estimand):
    heavy = dataclasses.replace(COMPLETE, weight=COMPLETE.weight * 1.2)
    w, z = (
        np.repeat(column, COMPLETE.count.astype(int))
        for column in (heavy.weight, heavy.reward)
    )
    is_improvement = estimand == "improvement"

    found = ends(heavy, estimand, "normal_self_normalised")

    ratio = (w * z).sum() / w.sum()
    influence = w / w.mean() * (z - ratio) - is_improvement * (z - z.mean())
    middle = ratio - is_improvement * z.mean()
    error = influence.std(ddof=1) / math.sqrt(w.size)
    expected = (middle - Z * error, middle + Z * error)
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_constant_reward_has_no_self_normalised_error():
    constant = dataclasses.replace(COMPLETE, reward=np.full(5, 0.7))

    found = ends(constant, "value", "normal_self_normalised")

    assert found == pytest.approx((0.7, 0.7), abs=1e-12)


@BOTH
def test_a_long_log_turns_empirical_likelihood_into_the_best_control(estimand):
    long = times(COMPLETE, 1e4)
    weight, share = long.weight - 1.0, long.count / long.count.sum()
    scores = (long.weight - (estimand == "improvement")) * long.reward
    covariance = np.cov(scores, weight, aweights=share, ddof=0)

    lower, upper = ends(long, estimand, "empirical_likelihood")

    rest = covariance[0, 0] - covariance[0, 1] ** 2 / covariance[1, 1]
    error = math.sqrt(rest / long.count.sum())
    assert upper - lower == pytest.approx(2 * Z * error, rel=1e-3)


@EVERY
def test_without_importance_weights_rewards_are_a_plain_sample(method):
    plain = make_points((1.0, 1.0, True, 60), (1.0, 0.0, True, 40))

    found = ends(plain, "value", method, max_weight=1.0, floor=1.0)

    expected = {
        # Where 2 n KL(.6, m) is the chi-square quantile.
        "empirical_likelihood": (0.5023480995166307, 0.6925889487431472),
        # The exact binomial bounds of Clopper and Pearson.
        "gaffke": (0.4972091504223347, 0.6967052312971226),
        "normal": (0.5034980443508683, 0.6965019556491316),
        "normal_self_normalised": (0.5034980443508683, 0.6965019556491316),
    }
    assert found == pytest.approx(expected[method], abs=1e-9)


@BOTH
@BALANCED
def test_mirrored_rewards_mirror_the_line(method, estimand):
    lower, upper = ends(COMPLETE, estimand, method)

    mirror = dataclasses.replace(COMPLETE, reward=1 - COMPLETE.reward)

    expected = [MIRRORED[estimand](end) for end in (upper, lower)]
    found = ends(mirror, estimand, method)
    assert found == pytest.approx(expected, abs=1e-9)


@BOTH
@EVERY
@pytest.mark.parametrize("points", [COMPLETE, LOST, GAPPY], ids="clg")
def test_ends_of_a_long_log_are_those_of_the_identified_range(points, method, estimand):
    whole = identified(points, ESTIMANDS[estimand])

    found = ends(times(points, 1e8), estimand, method)

    assert found == pytest.approx((whole.lower, whole.upper), abs=2e-5)
    assert found[0] < whole.lower <= whole.upper < found[1]


@BOTH
@EVERY
def test_sampling_weights_make_the_answer_a_ratio(method, estimand):
    # Of decisions with a heavy weight, one in ten was kept.
    kept = dataclasses.replace(
        COMPLETE,
        count=COMPLETE.count * [1e8, 1e8, 1e7, 1e7, 1e7],
        sampling_weight=np.array([0.1, 0.1, 1.0, 1.0, 1.0]),
    )

    lower, upper = ends(kept, estimand, method)

    assert lower < TRUTH[estimand] < upper
    assert upper - lower < 1e-4


@BOTH
@EVERY
def test_equal_sampling_weights_change_nothing(method, estimand):
    found = ends(
        dataclasses.replace(COMPLETE, sampling_weight=np.full(5, 1.0)), estimand, method
    )

    assert found == ends(COMPLETE, estimand, method)


@BOTH
@EVERY
def test_less_error_allowed_means_wider_lines(method, estimand):
    lower, upper = ends(COMPLETE, estimand, method, alpha=0.001)

    inner = ends(COMPLETE, estimand, method)

    assert lower < inner[0] < inner[1] < upper


@pytest.mark.parametrize(("decisions", "is_shown"), [(98, False), (100, True)])
def test_a_short_log_shows_the_conjecture_alone(decisions, is_shown):
    log = make_points((0.5, 1.0, True, decisions / 2), (1.5, 0.0, True, decisions / 2))

    lines = second_lines(log, "value", **OPTIONS)

    shown = {line.method for line in lines if line.lower is not None}
    assert shown == (set(METHODS) if is_shown else {"gaffke"})
    labels = {line.label for line in lines}
    assert labels == {CONJECTURED, APPROXIMATE if is_shown else WITHHELD}


@pytest.mark.parametrize(
    ("estimand", "possible"), [("value", (0.0, 1.0)), ("improvement", (-1.0, 1.0))]
)
def test_without_decisions_the_conjecture_allows_everything(estimand, possible):
    assert ends(NOTHING, estimand, "gaffke") == possible
    assert ends(NOTHING, estimand, "normal") == (None, None)


@BOTH
def test_no_line_leaves_what_is_possible(estimand):
    best = make_points((0.5, 1.0, True, 590), (2.0, 1.0, True, 310))
    least = 0.0 if estimand == "value" else -1.0

    for line in second_lines(best, estimand, **OPTIONS):
        assert least <= line.lower
        assert line.upper <= 1.0


def test_weights_that_contradict_the_log_empty_the_lines_of_one_sum():
    heavy = make_points((2.0, 1.0, True, 5_000), (2.0, 0.8, True, 5_000))

    lower, upper = ends(heavy, "value", "normal")

    assert lower > upper


def test_no_supported_weight_leaves_no_ratio():
    idle = make_points((0.0, 1.0, True, 900), (1.0, 0.0, False, 100))

    assert ends(idle, "value", "normal_self_normalised") == (None, None)


@BOTH
@BALANCED
def test_decisions_without_known_support_are_left_out_of_the_balance(method, estimand):
    unknown = dataclasses.replace(COMPLETE, is_supported=np.zeros(5, dtype=bool))

    lower, upper = ends(unknown, estimand, method)

    known = ends(COMPLETE, estimand, method)
    assert upper - lower >= known[1] - known[0] - 1e-9


def test_lines_cover_a_known_truth_about_as_often_as_they_say():
    law = COMPLETE.count / COMPLETE.decisions
    logs = np.random.default_rng(8).multinomial(400, law, 200)
    covered = dict.fromkeys(METHODS, 0)

    for counts in logs:
        drawn = dataclasses.replace(COMPLETE, count=counts.astype(float))
        for line in second_lines(drawn, "value", **OPTIONS):
            covered[line.method] += line.lower <= TRUTH["value"] <= line.upper

    assert all(182 <= number <= 200 for number in covered.values()), covered


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0.0}, "alpha 0.0 lies outside"),
        ({"alpha": 1.0}, "alpha 1.0 lies outside"),
        ({"floor": 0.0}, "floor 0.0 lies outside"),
        ({"floor": 1.1}, "floor 1.1 lies outside"),
        ({"max_weight": 0.9}, "not a finite number >= 1"),
        ({"max_weight": 1.2}, "weight 2.0 exceeds max_weight 1.2"),
        ({"estimand": "difference"}, "'difference' is neither value nor improvement"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        second_lines(COMPLETE, **{"estimand": "value", **OPTIONS, **arguments})
