"""The reward model: what it learns, what it does not know, and that it can be kept."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import polars as pl
import pytest

from flows.errors import UsageError
from flows.offpolicy import reward_fit
from flows.offpolicy.grid import UNIT
from flows.offpolicy.reward_fit import MOST_LEVELS, SEEN, fit
from flows.offpolicy.reward_model import RewardModel, is_usable, normalised

pytest.importorskip("sklearn")


def rows_of(pays, decisions=10_000, **context):
    """What was seen where `pays` is the mean reward of each row's action."""
    size = len(pays)
    return pl.DataFrame(
        {
            **context,
            "action": ["a", "b"] * (size // 2),
            "decisions": [decisions] * size,
            "reward_units": [round(pay * decisions * UNIT) for pay in pays],
        },
        schema_overrides=SEEN,
    )


def table(**context):
    return pl.DataFrame(context)


@pytest.fixture
def by_device():
    """Action b pays .9 on phones and .1 on desks, action a .3 on both."""
    pays = [0.3, 0.1, 0.3, 0.9]
    return fit(rows_of(pays, device=["desk", "desk", "phone", "phone"]))


def test_effects_of_the_context_under_each_action_are_learnt(by_device):
    found = by_device.predict(table(device=["phone", "desk"]), ["b", "a"])
    assert found == pytest.approx(np.array([[0.9, 0.3], [0.1, 0.3]]), abs=0.01)


def test_numbers_have_slopes_that_end_at_four_deviations():
    position = [float(n) for n in range(40) for _ in range(2)]
    pays = [pay for n in range(40) for pay in (0.5, 0.2 + n / 100)]
    model = fit(rows_of(pays, position=position))

    found = model.predict(table(position=[0.0, 39.0, 1e9, 2e9]), ["b"])[:, 0]

    assert found[:2] == pytest.approx([0.2, 0.59], abs=0.01)
    assert found[2] == found[3]


def test_no_number_is_the_mean_number():
    position = [float(n) for n in range(40) for _ in range(2)]
    pays = [pay for n in range(40) for pay in (0.5, 0.2 + n / 100)]
    model = fit(rows_of(pays, position=position))

    found = model.predict(table(position=[19.5, None, math.nan]), ["b"])[:, 0]

    assert found[1:] == pytest.approx(found[:1].repeat(2))


def test_few_whole_numbers_are_values_each_by_itself():
    pays = [0.5, 0.1, 0.5, 0.8, 0.5, 0.2]
    model = fit(rows_of(pays, slot=[1, 1, 2, 2, 3, 3]))

    found = model.predict(table(slot=[1, 2, 3]), ["b"])[:, 0]

    assert found == pytest.approx([0.1, 0.8, 0.2], abs=0.01)


def test_what_was_never_seen_has_no_effect_of_its_own(by_device):
    found = by_device.predict(table(device=["phone", "watch", None]), ["b", "new"])
    assert found[1].tolist() == found[2].tolist()
    assert 0.1 < found[1, 0] < 0.9
    assert 0.3 < found[0, 1] < 0.9


@pytest.mark.parametrize("device", [[None], [["phone"]]])
def test_a_column_that_is_gone_is_one_without_values(by_device, device):
    found = by_device.predict(table(other=["x"]), ["b"])
    assert found == by_device.predict(table(device=device), ["b"])
    assert found.shape == (1, 1)


def test_only_frequent_values_have_effects():
    names = [f"user {n:03}" for n in range(100) for _ in range(2)]
    counts = [10 + n for n in range(100) for _ in range(2)]
    rows = rows_of([0.5, 0.5] * 100, user=names)
    model = fit(rows.with_columns(decisions=pl.Series(counts)))
    (column,) = model.columns
    assert column.levels == tuple(sorted(names[-2 * MOST_LEVELS :: 2]))


def test_where_effects_would_be_too_many_those_under_an_action_are_left_out(
    monkeypatch,
):
    monkeypatch.setattr(reward_fit, "MOST_EFFECTS", 5)
    pays = [0.3, 0.5, 0.5, 0.7]
    model = fit(rows_of(pays, device=["desk", "desk", "phone", "phone"]))

    found = model.predict(table(device=["desk", "phone"]), ["a", "b"])

    assert [len(own) for own in model.own] == [1, 1]
    assert found.ravel() == pytest.approx(pays, abs=0.01)


def test_predictions_never_leave_the_reward_range():
    position = [float(n) for n in range(40) for _ in range(2)]
    pays = [pay for n in range(40) for pay in (1.0, min(1.0, n / 20))]
    found = fit(rows_of(pays, position=position)).predict(
        table(position=[-1e6, 1e6]), ["a", "b"]
    )
    assert found.min() == 0.0
    assert found.max() == 1.0


def test_a_fit_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(1)
    rows = rows_of(
        rng.random(400),
        decisions=7,
        device=rng.choice(["desk", "phone"], 400).tolist(),
        position=rng.normal(size=400),
    )
    halves = [rows[:150], rows[150:]]
    assert fit(rows.sample(fraction=1, shuffle=True, seed=2)) == fit(rows)
    assert fit(pl.concat(halves[::-1])) == fit(rows)


def test_a_model_that_was_kept_comes_back_to_the_last_bit(by_device):
    kept = json.loads(json.dumps(by_device.content))
    assert RewardModel.read(kept) == by_device


def test_nothing_seen_means_that_nothing_is_expected():
    model = fit(pl.DataFrame(schema=SEEN))
    assert model.predict(table(device=["desk"]), ["a", "b"]).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("position", [[1.0] * 4, [math.inf] * 4, [None] * 4])
def test_numbers_that_tell_nothing_apart_are_left_out(position):
    rows = rows_of([0.3, 0.5] * 2, position=pl.Series(position, dtype=pl.Float64))
    model = fit(rows)
    assert model.columns == ()
    assert model.predict(table(position=[1.0]), ["a"])[0, 0] == pytest.approx(
        0.3, abs=0.01
    )


def test_columns_become_text_or_numbers_of_one_size_or_are_left_out():
    frame = pl.DataFrame(
        {
            "flag": [True],
            "kind": pl.Series(["x"], dtype=pl.Categorical),
            "small": pl.Series([1], dtype=pl.UInt8),
            "large": pl.Series([1], dtype=pl.UInt64),
            "price": pl.Series(["1.5"]).str.to_decimal(scale=1),
            "tags": [["x"]],
        }
    )
    assert normalised(frame).schema == {
        "flag": pl.String,
        "kind": pl.String,
        "small": pl.Int64,
        "large": pl.Float64,
        "price": pl.Float64,
    }
    assert [is_usable(dtype) for dtype in frame.dtypes] == [True] * 5 + [False]


def test_without_its_package_a_fit_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(UsageError, match=r'pip install "untaken\[models\]"'):
        fit(rows_of([0.3, 0.5]))
