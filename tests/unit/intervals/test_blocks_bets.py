from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flows.intervals import Points, mixture
from flows.intervals.block_bets import growth, prepare, rejected
from flows.intervals.block_plan import nightly_plan
from flows.intervals.block_points import BlockPoints

BOUND = 3.0
ESTIMANDS = ("value", "improvement")
PLAN = nightly_plan(40, horizon_nights=4, sub_blocks=2)
# Two contexts: both actions supported (weights 2/5 and 3), or mass without support.
CELLS = Points(
    np.array([0.4, 0.4, 3.0, 3.0, 0.0, 0.5, 0.4, 3.0]),
    np.array([0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0]),
    np.array([False] * 6 + [True] * 2),
    np.array([True] * 4 + [False] * 2 + [True] * 2),
    np.zeros(8),
)
# E[w] = 1 within the supported cells: .4 * 10/13 + 3 * 3/13.
LAW = np.array([4, 4, 1.2, 1.2, 1.5, 1.5, 2, 0.6])
LAW /= LAW.sum()


def make_game(estimand, counts, plan=PLAN):
    return prepare(
        BlockPoints(CELLS, counts),
        estimand,
        plan,
        max_weight=BOUND,
        alpha=0.05,
        second_moment=2.0,
        mean_reward=0.5,
    )


def drawn(seed, size=20):
    blocks = (PLAN.blocks, CELLS.weight.size)
    counts = np.random.default_rng(seed).multinomial(size, LAW, blocks[0])
    return counts.astype(float)


def true_mean(estimand):
    scores = getattr(mixture, f"{estimand}_scores")
    return float(LAW @ scores(CELLS, 0.0))


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("seed", range(4))
def test_wealth_does_not_grow_on_average_under_means_up_to_the_one_bet_on(
    estimand, seed
):
    mean = true_mean(estimand)
    means = np.array([mean, mean + 0.01, mean + 0.2])
    wealth = np.log(np.random.default_rng(seed).uniform(0.01, 5, (4, 3)))
    counts = drawn(seed)
    factors = []
    for cell in range(CELLS.weight.size):
        counts[5] = np.arange(CELLS.weight.size) == cell
        factors.append(np.exp(growth(make_game(estimand, counts), 5, means, wealth)))

    average = np.tensordot(LAW, np.array(factors), axes=1)
    assert (average <= 1 + 1e-12).all()
    assert np.isfinite(factors).all()


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_the_size_of_a_block_does_not_move_its_bets(estimand):
    counts = drawn(7)
    double = counts.copy()
    double[3] *= 2
    means, wealth = np.linspace(0.05, 0.9, 20), np.full((4, 20), -2.0)

    once = growth(make_game(estimand, counts), 3, means, wealth)
    twice = growth(make_game(estimand, double), 3, means, wealth)

    assert twice == pytest.approx(2 * once)
    assert not np.allclose(once, 0)


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_later_blocks_do_not_move_a_bet(estimand):
    counts = drawn(8)
    other = np.where(np.arange(PLAN.blocks)[:, None] > 3, drawn(9), counts)
    means, wealth = np.linspace(0.05, 0.9, 20), np.full((4, 20), -2.0)

    found = [growth(make_game(estimand, c), 3, means, wealth) for c in (counts, other)]

    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_mass_split_over_neighbours_never_raises_the_wealth(estimand):
    merged = np.zeros_like(drawn(1))
    merged[2, 5] = 1.0
    split = merged.copy()
    split[2, 5], split[2, 4] = 0.5, 0.5
    middle = dataclasses.replace(
        CELLS, weight=np.where(np.arange(8) == 5, 0.25, CELLS.weight)
    )
    means, wealth = np.linspace(0.05, 0.9, 20), np.full((4, 20), -2.0)
    whole = prepare(
        BlockPoints(middle, merged),
        estimand,
        PLAN,
        max_weight=BOUND,
        alpha=0.05,
        second_moment=2.0,
        mean_reward=0.5,
    )

    apart = growth(make_game(estimand, split), 2, means, wealth)

    assert (apart <= growth(whole, 2, means, wealth) + 1e-15).all()


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_a_share_without_hope_or_need_does_not_bet(estimand):
    means = np.array([0.3])
    game = make_game(estimand, drawn(3))

    broke = growth(game, 2, means, np.full((4, 1), -80.0))
    won = growth(game, 2, means, np.full((4, 1), -game.log_alpha))

    assert (broke == 0).all()
    assert (won == 0).all()


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_means_far_below_the_scores_are_rejected_and_those_above_are_not(estimand):
    counts = np.zeros((PLAN.blocks, CELLS.weight.size))
    counts[:] = np.rint(200 * LAW)
    mean = true_mean(estimand)

    found = rejected(make_game(estimand, counts), np.array([mean - 0.2, mean + 0.05]))

    assert found.tolist() == [True, False]
