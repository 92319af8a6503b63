"""Laws of the intervals by night, on random nights."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.intervals import ESTIMANDS, Points, night_mixture
from flows.intervals.block_points import BlockPoints
from flows.intervals.estimands import DIFFERENCE

BOUND = 20.0
OPTIONS = {"max_weight": BOUND, "alpha": 0.05}
EVERY = pytest.mark.parametrize("estimand", ESTIMANDS.values(), ids=ESTIMANDS)
COLUMNS = [field.name for field in dataclasses.fields(Points)]
few = settings(max_examples=40, deadline=None)


def fractions_of(top):
    return st.integers(0, 64).map(lambda step: top * step / 64)


ROWS = st.lists(
    st.tuples(
        fractions_of(BOUND),
        fractions_of(1.0),
        st.booleans(),
        st.booleans(),
        st.floats(0.001, 400.0),
        st.sampled_from([1.0, 1.0, 0.5, 0.05]),
        fractions_of(1.0),
        fractions_of(1.0),
    ),
    min_size=1,
    max_size=20,
)
SEEDS = st.integers(0, 2**32 - 1)


def as_points(rows, estimand):
    """Points of one candidate or, for a difference, of two."""
    weight, reward, missing, supported, count, sampling, own, other = map(
        np.array, zip(*rows, strict=True)
    )
    is_pair = estimand is DIFFERENCE
    return Points(
        2 * weight - BOUND if is_pair else weight,
        reward,
        missing,
        supported,
        count,
        sampling,
        np.where(supported, 0.0, own),
        np.where(supported | (not is_pair), 0.0, other),
    )


def as_nights(points, seed, nights=5):
    """Each point's count spread over some nights."""
    shares = np.random.default_rng(seed).dirichlet(np.ones(nights), points.count.size)
    return BlockPoints(points, (shares * points.count[:, None]).T.copy())


def at(nights, where):
    """The nights with only some of their cells, in another order."""
    cells = {name: getattr(nights.cells, name)[where] for name in COLUMNS}
    return BlockPoints(Points(**cells), nights.counts[:, where])


def interval(nights, estimand):
    return night_mixture.interval(nights, estimand, **OPTIONS)


@few
@EVERY
@given(rows=ROWS, seed=SEEDS)
def test_the_order_of_cells_hardly_moves_an_interval(estimand, rows, seed):
    nights = as_nights(as_points(rows, estimand), seed)
    order = np.random.default_rng(seed).permutation(len(rows))

    found = interval(at(nights, order), estimand)

    expected = interval(nights, estimand)
    assert found.lower == pytest.approx(expected.lower, abs=1e-9)
    assert found.upper == pytest.approx(expected.upper, abs=1e-9)


@few
@EVERY
@given(rows=ROWS, seed=SEEDS)
def test_nights_without_decisions_change_no_bit(estimand, rows, seed):
    nights = as_nights(as_points(rows, estimand), seed)
    gaps = np.zeros((10, len(rows)))
    gaps[1::2] = nights.counts

    found = interval(BlockPoints(nights.cells, gaps), estimand)

    assert found == interval(nights, estimand)


@few
@EVERY
@given(rows=ROWS, lost=st.lists(st.booleans(), min_size=20, max_size=20))
def test_losing_a_reward_never_narrows_an_interval_of_one_night(estimand, rows, lost):
    # Of more nights, centres and controls depend on the earlier ones.
    points = as_points(rows, estimand)
    poorer = dataclasses.replace(
        points, is_reward_missing=points.is_reward_missing | np.array(lost[: len(rows)])
    )
    before, after = (BlockPoints(p, p.count[None]) for p in (points, poorer))

    found = interval(after, estimand)

    expected = interval(before, estimand)
    assert found.lower <= expected.lower + 1e-9
    assert found.upper >= expected.upper - 1e-9


@few
@EVERY
@given(rows=ROWS)
def test_mass_split_over_a_grid_never_narrows_an_interval_of_one_night(estimand, rows):
    points = as_points(rows, estimand)
    step = np.minimum(BOUND - np.abs(points.weight), np.abs(points.weight)) / 2
    gap = np.minimum(points.reward, 1.0 - points.reward) / 2
    corners = [
        dataclasses.replace(
            points,
            weight=points.weight + i * step,
            reward=points.reward + j * gap,
            count=points.count / 4,
        )
        for i in (-1, 1)
        for j in (-1, 1)
    ]
    split = Points(
        **{
            name: np.concatenate([getattr(c, name) for c in corners])
            for name in COLUMNS
        }
    )

    found = interval(BlockPoints(split, split.count[None]), estimand)

    before = interval(BlockPoints(points, points.count[None]), estimand)
    assert found.lower <= before.lower + 1e-9
    assert found.upper >= before.upper - 1e-9


@few
@EVERY
@given(rows=ROWS, seed=SEEDS)
def test_sampling_weights_of_one_change_no_bit(estimand, rows, seed):
    points = as_points([(*row[:5], 1.0, *row[6:]) for row in rows], estimand)
    left_out = {name: getattr(points, name) for name in COLUMNS}
    del left_out["sampling_weight"]

    found = interval(as_nights(points, seed), estimand)

    assert found == interval(as_nights(Points(**left_out), seed), estimand)


@few
@given(rows=ROWS, seed=SEEDS)
def test_a_candidate_does_not_differ_from_itself(rows, seed):
    points = as_points(rows, DIFFERENCE)
    same = dataclasses.replace(
        points,
        weight=np.zeros(points.weight.size),
        other_unsupported=points.own_unsupported,
    )

    found = interval(as_nights(same, seed), DIFFERENCE)

    assert found.lower <= 0.0 <= found.upper
    assert found.lower == -found.upper
