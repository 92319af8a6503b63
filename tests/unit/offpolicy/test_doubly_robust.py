"""Doubly robust scores: means whatever a model says, their range, their counts."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest

from flows.offpolicy.cells import Cells
from flows.offpolicy.doubly_robust import count, grid_of_scores
from flows.offpolicy.grid import Grid
from flows.offpolicy.reward_model import Column, RewardModel
from flows.policies.scorable import closed

ACTIONS = ("a", "b", "c")
GRID = Grid(floor=0.1, lowest=0.0, highest=1.0)
# Two contexts by three actions; c is below the floor in the first.
LOGGING = [[0.35, 0.6, 0.05], [0.2, 0.3, 0.5]]
NEW = [[0.5, 0.2, 0.3], [0.7, 0.2, 0.1]]
PAYS = [[0.2, 0.6, 1.0], [0.8, 0.4, 0.0]]
U = (0.3 + 0.0) / 2
MODELS = {
    "nothing": RewardModel(0.0, (), (), (), ()),
    "right": RewardModel(
        0.0,
        (Column("x", ("one", "two")),),
        ACTIONS,
        (0.0, 0.0),
        ((0.0, 0.2, 0.8), (0.0, 0.6, 0.4), (0.0, 1.0, 0.0)),
    ),
    "wrong": RewardModel(0.9, (), ("b",), (), ((-0.8,),)),
}
ENDS = ("lower", "upper")


def law(*, lost=()):
    """Every decision as often as it is likely, of 4,000: shape of a log.

    lost: (context, action, reward) that never arrives.
    """
    rows = []
    for x, a, z in itertools.product(range(2), range(3), (0.0, 1.0)):
        chance = LOGGING[x][a] * (PAYS[x][a] if z else 1.0 - PAYS[x][a])
        row = {
            "x": ["one", "two"][x],
            "action": ACTIONS[a],
            "logging_probabilities": LOGGING[x],
            "new": NEW[x],
            "reward": None if (x, a, z) in lost else z,
        }
        rows += [row] * round(2_000 * chance)
    frame = pl.DataFrame(rows, schema_overrides={"reward": pl.Float64})
    return frame.with_columns(
        decision_id=pl.format("d{}", pl.int_range(pl.len())), sample_probability=1.0
    )


def counts(frame, model="right", candidate="new", grid=GRID):
    model = MODELS[model] if isinstance(model, str) else model
    frames = [frame] if isinstance(frame, pl.DataFrame) else frame
    log = closed([one.lazy() for one in frames], ACTIONS, is_sampled=False)
    floor = grid.tolerated_floor
    scored = {
        "new": log.column("new", "new", floor),
        "uniform": log.uniform("uniform", floor),
        "always b": log.constant("always b", "b", floor),
        "always z": log.constant("always z", "z", floor),
        "first": log.first("first", floor),
    }[candidate]
    return count(
        log, [scored], actions=ACTIONS, model=model, grid=grid, blocks="sub_blocks"
    )


def means(found, grid=GRID):
    """The mean score of each estimand and end, the upper one turned round."""
    cells = {
        name: Cells.of(rows, grid_of_scores(grid))
        for (name,), rows in found.partition_by("score", as_dict=True).items()
    }
    turned = {"lower": 1.0, "upper": -1.0}
    return {
        name: turned[name.split()[1]] * one.mean_weight for name, one in cells.items()
    }


def of(policy):
    return sum(
        policy[x][a] * PAYS[x][a] / 2 for x, a in itertools.product(range(2), range(3))
    )


SUPPORTED = of(NEW) - 0.3 * 1.0 / 2


@pytest.mark.parametrize("model", MODELS)
def test_means_bound_the_truth_by_the_mass_without_support_alone(model):
    found = means(counts(law(), model))
    assert found["value lower"] == pytest.approx(SUPPORTED, abs=1e-5)
    assert found["value upper"] == pytest.approx(SUPPORTED + U, abs=1e-5)
    own = of(LOGGING)
    assert found["improvement lower"] == pytest.approx(SUPPORTED - own, abs=1e-5)
    assert found["improvement upper"] == pytest.approx(SUPPORTED - own + U, abs=1e-5)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("lost", [0.0, 1.0])
def test_a_missing_reward_is_at_its_worst_for_each_end(model, lost):
    # Weights of 3.5 and of 2/3: the candidate takes one more and the other less often.
    gone = ((1, 0, lost), (1, 1, lost))
    found = means(counts(law(lost=gone), model))
    more, less = (LOGGING[1][a] * abs(lost - 1 + PAYS[1][a]) / 2 for a in (0, 1))
    all_known = {"value": SUPPORTED, "improvement": SUPPORTED - of(LOGGING)}
    for estimand, known in all_known.items():
        # What a reward of 1 adds to the score of each.
        one, other = (3.5, 2 / 3) if estimand == "value" else (2.5, -1 / 3)
        lowest = known - lost * more * one
        lowest += less * ((1.0 - lost) * min(other, 0.0) - lost * max(other, 0.0))
        highest = known + U + (1.0 - lost) * more * one
        highest += less * ((1.0 - lost) * max(other, 0.0) - lost * min(other, 0.0))
        assert found[f"{estimand} lower"] == pytest.approx(lowest, abs=1e-5)
        assert found[f"{estimand} upper"] == pytest.approx(highest, abs=1e-5)


def test_without_a_model_scores_are_those_of_importance_weighting():
    frame = law().with_columns(pl.col("reward").replace(0.0, 1.0))
    found = means(counts(frame, "nothing"))
    supported = (0.7 + 1.0) / 2
    assert found["value lower"] == pytest.approx(supported, abs=1e-6)


@pytest.mark.parametrize(
    ("candidate", "value"),
    [
        ("uniform", (0.8 / 3 + 1.2 / 3) / 2),
        ("always b", 0.5),
        ("always z", 0.0),
        ("first", 0.5),
    ],
)
def test_every_kind_of_candidate_has_its_mean_on_supported_actions(candidate, value):
    for model in MODELS:
        found = means(counts(law(), model, candidate))
        assert found["value lower"] == pytest.approx(value, abs=1e-5)


def test_a_candidate_that_acts_as_logged_differs_by_nothing_with_any_model():
    frame = law().with_columns(logging_probabilities=pl.col("new"))
    for model in MODELS:
        found = counts(frame, model, grid=Grid(0.05, 0.0, 1.0))
        rows = found.filter(pl.col("score").str.starts_with("improvement"))
        assert means(rows, Grid(0.05, 0.0, 1.0)) == pytest.approx(
            {f"improvement {end}": 0.0 for end in ENDS}, abs=1e-9
        )
        assert rows["weight_square_part"].sum() == 0


@pytest.mark.parametrize("model", MODELS)
def test_decisions_that_were_dropped_count_by_their_sampling_weight(model):
    grid = Grid(0.1, 0.0, 1.0, least_sample_probability=0.5)
    one, two = law().partition_by("x")
    kept = [one, one, two.with_columns(sample_probability=0.5)]
    log = closed([each.lazy() for each in kept], ACTIONS, is_sampled=True)
    new = log.column("new", "new", grid.tolerated_floor)
    found = count(
        log,
        [new],
        actions=ACTIONS,
        model=MODELS[model],
        grid=grid,
        blocks="sub_blocks",
    )
    assert means(found, grid)["value lower"] == pytest.approx(SUPPORTED, abs=1e-5)


def extremes(floor):
    """Decisions and models at the corners of everything that is possible."""
    size = 3_000
    rng = np.random.default_rng(3)
    logged = rng.dirichlet([0.3] * 3, size)
    new = np.where(rng.random((size, 1)) < 0.5, rng.dirichlet([0.1] * 3, size), logged)
    action = rng.integers(0, 3, size)
    frame = pl.DataFrame(
        {
            "decision_id": [f"d{n}" for n in range(size)],
            "action": np.array(ACTIONS)[action],
            "logging_probabilities": logged.tolist(),
            "new": new.tolist(),
            "reward": rng.choice([0.0, 1.0, 0.5], size),
            "x": [f"{n % 8}" for n in range(size)],
            "sample_probability": 1.0,
        }
    ).with_columns(pl.col("reward").replace(0.5, None))
    expected = np.array(list(itertools.product((0.0, 1.0), repeat=3))).T
    model = RewardModel(
        0.0,
        (Column("x", tuple(str(n) for n in range(8))),),
        ACTIONS,
        (0.0,) * 8,
        tuple((0.0, *one.tolist()) for one in expected),
    )
    return frame, model, Grid(floor, 0.0, 1.0)


@pytest.mark.parametrize("floor", [0.02, 0.1, 0.4, 1.0])
def test_no_score_leaves_its_grid(floor):
    frame, model, grid = extremes(floor)
    found = counts(frame, model, grid=grid)
    outermost = found.filter(pl.col("weight_cell").is_in([-256, 255]))
    # Clipped numbers stand at the very end of an outermost cell.
    at_the_end = pl.col("largest_weight_part") == (1 << 20) * (
        pl.col("weight_cell") > 0
    )
    assert outermost.filter(at_the_end & (floor < 1.0)).height == 0
    assert (
        found.group_by("score").agg(pl.col("decisions").sum())["decisions"].to_list()
        == [frame.height] * 4
    )


def test_partitions_in_any_order_give_the_same_bits():
    frame = law()
    whole = counts(frame)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=5)
    for parts in (1, 7):
        pieces = [shuffled[n::parts] for n in range(parts)]
        assert counts(pieces).equals(whole)


CONTEXTS = {
    "text": pl.Series(["p", None, "", "q"]),
    "category": pl.Series(["p", None, "", "q"], dtype=pl.Categorical),
    "enum": pl.Series(["p", None, "q", "q"], dtype=pl.Enum(["p", "q"])),
    "flag": pl.Series([True, False, None, True]),
    "whole": pl.Series([-1, None, 0, 7], dtype=pl.Int16),
    "number": pl.Series([0.0, -0.0, math.nan, None]),
    "price": pl.Series(["1.5", None, "2.5", "0.0"]).str.to_decimal(scale=1),
}


@pytest.mark.parametrize("kind", CONTEXTS)
def test_predictions_find_their_context_whatever_its_type(kind):
    frame = law()
    size = frame.height
    values = CONTEXTS[kind].gather(np.arange(size) % 4)
    by_number = kind in ("number", "price")
    column = Column("x") if by_number else Column("x", ("p", "q", "true", "7"))
    model = RewardModel(
        0.2, (column,), ACTIONS, (0.1,) * column.width, ((0.0,), (0.1,), (0.2,))
    )
    found = counts(frame.with_columns(x=values), model)
    assert found["weight_cell"].null_count() == 0
    assert found["decisions"].sum() == 4 * size
    assert means(found)["value lower"] == pytest.approx(SUPPORTED, abs=0.2)
