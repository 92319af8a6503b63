from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from flows.intervals import ESTIMANDS, Points
from flows.intervals.block_bets import growth
from flows.intervals.block_game import prepare
from flows.intervals.block_grid import means as first_means
from flows.intervals.block_plan import nightly_plan
from flows.intervals.block_points import BlockPoints
from flows.intervals.block_race import Ranges, _pooled, _reached, race, splits
from flows.intervals.blocks import anytime

BOUND = 3.0
PLAN, _ = nightly_plan(40, horizon_nights=4, sub_blocks=2)
STEADY = dataclasses.replace(PLAN, is_nightly=False)
SHARES = slice(0, 4)
# Two contexts: both actions supported (weights 2/5 and 3), or mass without support.
# A reward is missing in the last two cells; every other cell is kept half as often.
SINGLE = Points(
    np.array([0.4, 0.4, 3.0, 3.0, 0.0, 0.5, 0.4, 3.0]),
    np.array([0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0]),
    np.array([False] * 6 + [True] * 2),
    np.array([True] * 4 + [False] * 2 + [True] * 2),
    np.zeros(8),
)
PAIR = dataclasses.replace(
    SINGLE,
    weight=np.array([-0.6, -0.6, 2.0, 2.0, -3.0, 0.5, -0.6, 2.0]),
    other_unsupported=np.array([0.0] * 4 + [1.0, 0.0] + [0.0] * 2),
)
# E[w] = 1 and E[x] = 0 within the supported cells: 10 times in 13 the first weight.
LAW = np.array([4, 4, 1.2, 1.2, 1.5, 1.5, 2, 0.6])
KEPT = np.where(np.arange(8) % 2, 0.5, 1.0)


def case(estimand, *, is_sampled=False):
    """Cells and the probability of each in the log."""
    cells = PAIR if estimand == "difference" else SINGLE
    law = LAW * KEPT if is_sampled else LAW
    if is_sampled:
        cells = dataclasses.replace(cells, sampling_weight=0.5 / KEPT)
    return cells, law / law.sum()


def make_game(estimand, counts, plan=PLAN, cells=None):
    cells = case(estimand)[0] if cells is None else cells
    data = BlockPoints(cells, counts)
    return prepare(data, ESTIMANDS[estimand], plan, max_weight=BOUND, alpha=0.05)


def drawn(seed, size=20, law=None):
    law = LAW / LAW.sum() if law is None else law
    rows = int(PLAN.rows[-1])
    return np.random.default_rng(seed).multinomial(size, law, rows).astype(float)


def mean_of(estimand, cells, law):
    mass = law * cells.sampling_weight
    return float(mass @ ESTIMANDS[estimand].scores(cells, 0.0)) / mass.sum()


def grown(game, block, means, wealth):
    owner = np.zeros(means.size, dtype=np.intp)
    return growth(game, block, means[None], owner, wealth, SHARES)[-1, 0]


@pytest.mark.parametrize("is_sampled", [False, True])
@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("seed", range(4))
def test_wealth_does_not_grow_on_average_under_means_up_to_the_one_bet_on(
    estimand, seed, is_sampled
):
    cells, law = case(estimand, is_sampled=is_sampled)
    mean = mean_of(estimand, cells, law)
    tops = np.array([mean, mean + 0.01, mean + 0.2])
    edges = np.stack([tops, np.array([mean, mean, mean + 0.1])])
    wealth = np.log(np.random.default_rng(seed).uniform(0.01, 5, (4, 3)))
    counts, owner, factors = drawn(seed, law=law), np.zeros(3, dtype=np.intp), []
    row = PLAN.rows[4]
    for cell in range(8):
        counts[row] = np.arange(8) == cell
        game = make_game(estimand, counts, cells=cells)
        factors.append(np.exp(growth(game, 4, edges, owner, wealth, SHARES)[0]))

    average = np.tensordot(law, np.array(factors), axes=1)
    assert (average <= 1 + 1e-12).all()
    assert np.isfinite(factors).all()
    assert (np.array(factors) > 0).all()


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("plan", [PLAN, STEADY])
def test_the_size_of_a_block_does_not_move_its_bets(estimand, plan):
    counts = drawn(7)
    double = counts.copy()
    double[PLAN.rows[3] : PLAN.rows[4]] *= 2
    means, wealth = np.linspace(0.05, 0.9, 20), np.full((4, 20), -2.0)

    once, twice = (
        grown(make_game(estimand, c, plan), 3, means, wealth) for c in (counts, double)
    )

    assert twice == pytest.approx(2 * once)
    assert not np.allclose(once, 0)


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("plan", [PLAN, STEADY])
def test_later_blocks_do_not_move_a_bet(estimand, plan):
    counts = drawn(8)
    is_later = np.arange(len(counts))[:, None] >= PLAN.rows[4]
    other = np.where(is_later, drawn(9), counts)
    means, wealth = np.linspace(0.05, 0.9, 20), np.full((4, 20), -2.0)

    found = [
        grown(make_game(estimand, c, plan), 3, means, wealth) for c in (counts, other)
    ]

    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_mass_split_over_neighbours_never_raises_the_wealth(estimand):
    cells, _ = case(estimand)
    low, high = cells.weight[[0, 2]]
    middle = dataclasses.replace(
        cells,
        weight=np.where(np.arange(8) == 0, 0.75 * low + 0.25 * high, cells.weight),
    )
    row = int(PLAN.rows[2])
    whole = np.zeros((row + 1, 8))
    split = whole.copy()
    whole[row, 0] = 1.0
    split[row, [0, 2]] = 0.75, 0.25
    means, wealth = np.linspace(0.05, 0.9, 20), np.full((4, 20), -2.0)

    apart = grown(make_game(estimand, split), 2, means, wealth)
    together = grown(make_game(estimand, whole, cells=middle), 2, means, wealth)

    assert (apart <= together + 1e-15).all()


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_a_share_without_hope_or_need_does_not_bet(estimand):
    means = np.array([0.3])
    game = make_game(estimand, drawn(3))

    broke = grown(game, 2, means, np.full((4, 1), -80.0))
    won = grown(game, 2, means, np.full((4, 1), -game.log_alpha))

    assert (broke == 0).all()
    assert (won == 0).all()


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("plan", [PLAN, STEADY])
def test_means_far_below_the_scores_are_rejected_and_those_above_are_not(
    estimand, plan
):
    cells, law = case(estimand)
    counts = np.tile(np.rint(200 * law), (int(PLAN.rows[-1]), 1))
    mean = mean_of(estimand, cells, law)
    game = make_game(estimand, counts, plan)
    tops = np.array([mean - 0.2, mean + 0.05])
    owner = np.zeros(2, dtype=np.intp)

    found = race(game, Ranges(tops - 0.01, tops, tops - 0.01, owner))
    below = race(game, Ranges(tops[:1] - 0.01, tops[:1], tops[:1] - 0.01, owner[:1]))

    assert mean - 0.2 <= found[0] < mean + 0.05
    assert below == {}


def test_within_a_range_and_a_pool_wealth_is_never_overstated():
    random = np.random.default_rng(5)
    top = random.normal(-1, 1, (3, 40))
    wealth = np.stack([top, top + random.uniform(0, 2, top.shape)])
    pool = _pooled(wealth, np.array([-4.0]))
    ranges = Ranges(np.zeros(40), np.ones(40), np.zeros(40), np.zeros(40, int))
    reached = _reached(ranges, wealth[None], 0.1, 0.5)

    for part in (0.0, 0.3, 0.9, 1.0):
        shares = np.exp(wealth[0] + part * (wealth[1] - wealth[0]))
        line = pool[0, 0] + part * (pool[1, 0] - pool[0, 0])
        assert (line <= np.log(shares[:2].sum(axis=0)) + 1e-12).all()
    assert pool.shape == (2, 3, 40)
    assert (pool[:, 2] == -4.0).all()
    at_reached = np.exp(wealth[0] + (1 - reached) * (wealth[1] - wealth[0]))
    inside = (reached > 0) & (reached < 1)
    assert inside.any()
    assert (np.log(at_reached.sum(axis=0) + 0.1)[inside] >= 0.5 - 1e-12).all()


def test_ranges_are_split_whenever_decisions_have_doubled():
    plan, _ = nightly_plan(8, horizon_nights=28)
    data = BlockPoints(SINGLE, np.ones((int(plan.rows[-1]), 8)))
    game = prepare(data, ESTIMANDS["value"], plan, max_weight=BOUND, alpha=0.05)
    done = np.cumsum(plan.decisions)

    found = splits(game)

    blocks = list(found)
    assert blocks[0] == 0
    sizes = [1.0, *(done[block - 1] for block in blocks[1:]), done[-1]]
    assert all(b >= 2 * a for a, b in itertools.pairwise(sizes[:-1]))
    assert list(found.values()) == pytest.approx(np.divide(sizes[1:], sizes[:-1]))
    steady = dataclasses.replace(plan, is_nightly=False)
    assert splits(dataclasses.replace(game, plan=steady)) == {}


def test_first_means_ascend_to_about_one_whatever_block_0_holds():
    for first in (0.0, 1.0, 1e6):
        counts = np.zeros((2, 8))
        counts[0, :4] = first
        for estimand in ESTIMANDS:
            for plan in (PLAN, STEADY):
                game = make_game(estimand, counts, plan)
                found = first_means(game, 0)
                steps = np.diff(found)
                assert (steps > 0).all()
                assert 0 <= 1 - found[-1] <= steps[-1]
                assert found.size < 20_000


def test_among_all_logs_that_can_be_the_truth_is_lost_at_most_as_often_as_allowed():
    """Every sequence of five decisions, one a night, weighed exactly."""
    cells = Points(
        np.array([0.4, 0.4, 3.0, 3.0]),
        np.array([0.0, 1.0, 0.0, 1.0]),
        np.zeros(4, dtype=bool),
        np.ones(4, dtype=bool),
        np.zeros(4),
    )
    law = np.array([10, 10, 3, 3]) / 26
    plan, _ = nightly_plan(1, horizon_nights=5, sub_blocks=1)
    lost = [0.0, 0.0]
    for log in itertools.product(range(4), repeat=5):
        counts = np.eye(4)[list(log)]
        found = anytime(
            BlockPoints(cells, counts),
            ESTIMANDS["value"],
            plan=plan,
            max_weight=BOUND,
            alpha=0.9,
        )
        chance = law[list(log)].prod()
        lost[0] += chance * (found.lower > 0.5)
        lost[1] += chance * (found.upper < 0.5)

    assert max(lost) <= 0.45
    assert min(lost) > 0.0
