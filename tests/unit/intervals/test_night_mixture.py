from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from flows.intervals import ESTIMANDS, Interval, Points, night_mixture
from flows.intervals.block_points import BlockPoints
from flows.intervals.estimands import DIFFERENCE, IMPROVEMENT, VALUE

EVERY = pytest.mark.parametrize("estimand", ESTIMANDS.values(), ids=ESTIMANDS)
OPTIONS = {"max_weight": 4.0, "alpha": 0.05}


def cells_of(*rows, **others):
    """Rows of weight, reward (None is missing), is_supported."""
    weight, reward, supported = zip(*rows, strict=True)
    return Points(
        np.array(weight, dtype=float),
        np.array([0.0 if r is None else r for r in reward], dtype=float),
        np.array([r is None for r in reward]),
        np.array(supported),
        np.zeros(len(rows)),
        **{name: np.array(column) for name, column in others.items()},
    )


CELLS = cells_of(*[(w, z, True) for w in (0.5, 1.5) for z in (0.0, 1.0)])


def nights_of(cells, *counts):
    return BlockPoints(cells, np.array(counts, dtype=float))


def paid(share, decisions=10_000):
    """A night of which this share of decisions earned 1, whatever their weight."""
    return np.array([1 - share, share, 1 - share, share]) * decisions / 2


def interval(data, estimand, **options):
    return night_mixture.interval(data, estimand, **{**OPTIONS, **options})


def log_wealth(data, mean):
    """The bets on a value, decision by decision, as the module describes them."""
    bets, log_prior = night_mixture._bets(0.9, 4.0)  # noqa: SLF001
    members = []
    for guess in night_mixture.GUESSES:
        for bet, prior in zip(bets, np.exp(log_prior), strict=True):
            log, seen = 0.0, []
            for start, stop in ((0, 1), (1, 2), (2, 4)):
                weight = np.array([w for w, _, n in seen for _ in range(n)])
                reward = np.array([z for _, z, n in seen for _ in range(n)])
                size = weight.size + 10
                score = weight * reward
                centre = (10 * guess + score.sum()) / size
                slope = 1 - weight
                control = 30 * guess - (slope * (score - centre)).sum()
                control = np.clip(control / (30 + (slope**2).sum()), 0, 1)
                centre = np.clip(centre + control * slope.sum() / size, 0, 1)
                control = min(control, (0.9 / bet - centre) / 3)
                for night in data.counts[start:stop]:
                    for w, z, n in zip(
                        data.cells.weight, data.cells.reward, night, strict=True
                    ):
                        gain = 1 + bet * (w * (z - control) + control - centre)
                        log += n * (math.log(gain) - bet * (mean - centre))
                        seen.append((w, z, int(n)))
            members.append(prior / 3 * math.exp(log))
    return math.log(sum(members))


def test_the_lower_end_is_where_the_wealth_reaches_its_threshold():
    counts = np.random.default_rng(5).integers(0, 9, (4, 4))
    data = nights_of(CELLS, *counts)

    found = interval(data, VALUE).lower

    assert 0.0 < found < 1.0
    assert log_wealth(data, found) == pytest.approx(math.log(40), abs=1e-6)


@EVERY
def test_without_decisions_everything_is_possible(estimand):
    for data in (nights_of(CELLS, np.zeros(4)), BlockPoints(CELLS, np.zeros((0, 4)))):
        assert interval(data, estimand) == estimand.possible


def test_long_logs_give_narrow_intervals_around_the_average():
    data = nights_of(CELLS, *[paid(0.4, 1e7)] * 28)

    value, improvement = interval(data, VALUE), interval(data, IMPROVEMENT)

    assert value.lower < 0.4 < value.upper
    assert improvement.lower < 0.0 < improvement.upper
    assert max(value.width, improvement.width) < 1e-3


def test_the_target_moves_so_an_earlier_interval_may_exclude_a_later_average():
    nights = [paid(0.2)] * 10 + [paid(0.8)] * 30

    early = interval(nights_of(CELLS, *nights[:10]), VALUE)
    late = interval(nights_of(CELLS, *nights), VALUE)

    assert early.lower < 0.2 < early.upper
    assert late.lower < (10 * 0.2 + 30 * 0.8) / 40 < late.upper
    assert early.intersect(late).is_empty


def test_less_error_allowed_means_a_wider_interval():
    data = nights_of(CELLS, *[paid(0.5, 200)] * 5)

    strict, loose = (interval(data, VALUE, alpha=alpha) for alpha in (0.001, 0.1))

    assert strict.lower < loose.lower
    assert strict.upper > loose.upper


def test_unsupported_mass_leaves_room_above_a_value():
    cells = dataclasses.replace(
        CELLS, weight=CELLS.weight / 2, is_supported=np.zeros(4, dtype=bool)
    )

    found = interval(nights_of(cells, *[paid(0.5, 1e7)] * 9), VALUE)

    assert (found.lower, found.upper) == pytest.approx((0.25, 0.75), abs=1e-3)


def test_unsupported_mass_of_either_candidate_opens_its_end_of_a_difference():
    cells = cells_of(
        *[(w, z, False) for w in (-1.0, 1.0) for z in (0.0, 1.0)],
        own_unsupported=[0.1] * 4,
        other_unsupported=[0.2] * 4,
    )

    found = interval(nights_of(cells, *[paid(0.5, 1e7)] * 9), DIFFERENCE)

    assert (found.lower, found.upper) == pytest.approx((-0.2, 0.1), abs=1e-3)


def test_candidates_that_change_places_change_the_sign_of_their_difference():
    cells = cells_of((2.5, 1.0, True), (-1.5, 0.0, True), (-0.5, None, False))
    data = nights_of(cells, [90, 70, 4], [100, 60, 8])

    found = interval(BlockPoints(DIFFERENCE.mirrored(cells), data.counts), DIFFERENCE)

    there = interval(data, DIFFERENCE)
    assert found == Interval(-there.upper, -there.lower)


def test_a_candidate_that_equals_another_differs_by_nothing_at_all_in_the_end():
    cells = cells_of((0.0, 0.0, True), (0.0, 1.0, True))

    found = interval(nights_of(cells, *[[5e6, 5e6]] * 9), DIFFERENCE)

    assert found.lower == -found.upper
    assert 0.0 < found.width < 1e-3


def test_weights_that_contradict_the_log_empty_the_interval():
    cells = dataclasses.replace(CELLS, weight=np.full(4, 2.0))

    assert interval(nights_of(cells, *[paid(0.5)] * 9), VALUE).is_empty


@pytest.mark.parametrize("estimand", [VALUE, IMPROVEMENT])
def test_a_floor_of_one_allows_no_weight_but_one(estimand):
    cells = dataclasses.replace(CELLS, weight=np.ones(4))

    found = interval(nights_of(cells, *[paid(0.6)] * 9), estimand, max_weight=1.0)

    truth = 0.6 if estimand is VALUE else 0.0
    assert found.lower < truth < found.upper
    assert found.width < 0.05


def test_a_sampled_log_is_about_the_decisions_it_was_drawn_from():
    # Nights earn .2 and .6 in turn; of rewards of 0, a quarter was kept.
    shares, kept = [0.2, 0.6] * 20, np.array([0.25, 1.0, 0.25, 1.0])
    nights = [paid(share, 1e5) * kept for share in shares]
    sampled = dataclasses.replace(CELLS, sampling_weight=0.25 / kept)

    found = interval(nights_of(sampled, *nights), VALUE)
    ignored = interval(nights_of(CELLS, *nights), VALUE)

    assert found.lower < 0.4 < found.upper
    assert found.width < 0.02
    assert ignored.lower > 0.5


@EVERY
def test_sampling_all_alike_costs_little(estimand):
    weights = CELLS.weight - estimand.is_signed
    cells = dataclasses.replace(CELLS, weight=weights)
    halved = dataclasses.replace(cells, sampling_weight=np.full(4, 0.5))
    nights = [paid(0.5)] * 20

    found = interval(nights_of(halved, *nights), estimand)

    expected = interval(nights_of(cells, *nights), estimand)
    assert expected.width < found.width < 1.3 * expected.width


@EVERY
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha 0.0 lies outside"),
        ({"alpha": 1.0}, "alpha 1.0 lies outside"),
        ({"max_weight": 0.9}, "not a finite number >= 1"),
        ({"max_weight": 1.2}, "weight 1.5 exceeds max_weight 1.2"),
    ],
)
def test_what_cannot_be_meant_is_refused(estimand, options, message):
    with pytest.raises(ValueError, match=message):
        interval(nights_of(CELLS, paid(0.5)), estimand, **options)


@pytest.mark.parametrize("largest", [0.9, 0.04])
def test_the_bets_descend_and_spend_a_prior_of_one(largest):
    bets, log_prior = night_mixture._bets(largest, 20.0)  # noqa: SLF001

    assert bets[0] == largest
    assert (np.diff(bets) < 0).all()
    assert np.exp(log_prior).sum() == pytest.approx(1.0)
