"""What a log that passed is said to hold, and what it is warned about."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import polars as pl
import pytest

from flows.decisions import Profile, looks_like_a_cost
from flows.errors import LogError, ViolationsError


def decisions(count=4, **columns):
    """Decisions between a and b; `columns` are lists of values, or one for all."""
    frame = pl.DataFrame(
        {
            "decision_id": [f"d{number}" for number in range(count)],
            "action": "a",
            "actions": [["a", "b"]] * count,
            "logging_probabilities": [[0.5, 0.5]] * count,
            "reward": 1.0,
        }
    )
    return frame.with_columns(
        pl.Series(name, values if isinstance(values, list) else [values] * count)
        for name, values in columns.items()
    )


def test_a_log_that_does_not_say_so_kept_every_decision(checked):
    profile = checked(decisions())
    assert profile.least_sample_probability == 1.0
    assert profile.sample_probability_count == 1
    assert (profile.model_ids, profile.model_id_count) == ((), 0)


def test_the_least_sampling_probability_and_their_number_are_told(checked):
    profile = checked(decisions(sample_probability=[1.0, 0.25, 0.5, 0.25]))
    assert profile.least_sample_probability == 0.25
    assert profile.sample_probability_count == 3


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0 (a drop probability? log 1 minus it)"),
        (-0.0, "0 (a drop probability? log 1 minus it)"),
        (-0.5, "-0.5"),
        (1.5, "1.5"),
        (math.nan, "nan"),
        (None, "null"),
    ],
)
@pytest.mark.parametrize("form", ["lists", "propensity"])
def test_a_sampling_probability_outside_0_to_1_is_refused(checked, form, value, shown):
    rows = decisions(sample_probability=[1.0, value, 1.0, 1.0], propensity=0.5)
    with pytest.raises(ViolationsError) as error:
        checked(rows, probabilities=form)
    (broken,) = error.value.broken
    assert broken.rule == "sample_probability_lies_in_0_1"
    assert [(row.row, row.decision_id, row.value) for row in broken.rows] == [
        (2, "d1", shown)
    ]


@pytest.mark.parametrize("ours", ["sample_probability", "slot", "model_id"])
def test_a_column_that_is_mapped_must_be_there(checked, ours):
    with pytest.raises(LogError, match="column 'kept' is missing"):
        checked(decisions(), columns={ours: "kept"})


def test_a_sampling_probability_that_some_files_lack_is_refused(checked, write_log):
    files = [
        write_log(decisions(), "0.parquet"),
        write_log(decisions(sample_probability=0.5), "1.parquet"),
    ]
    with pytest.raises(LogError, match="'sample_probability' is missing in 1 of 2"):
        checked(None, files=files)


def test_a_sampling_probability_must_be_a_number(checked):
    with pytest.raises(LogError, match="sample_probability must be a number"):
        checked(decisions(sample_probability="often"))


def test_the_models_that_made_decisions_are_told_the_busiest_first(checked):
    profile = checked(decisions(5, model_id=["m2", "m1", "m2", None, "m3"]))
    assert profile.model_ids == ("m2", "m1", "m3")
    assert profile.model_id_count == 3


def test_of_many_models_twenty_are_named_and_all_are_counted(checked):
    models = [f"m{number:02}" for number in range(30)]
    profile = checked(decisions(30, version=models), columns={"model_id": "version"})
    assert profile.model_ids == tuple(models[:20])
    assert profile.model_id_count == 30


def test_files_may_name_their_models_or_not_and_as_they_like(checked, write_log):
    files = [
        write_log(decisions(2), "0.parquet"),
        write_log(decisions(2, decision_id=["x", "y"], model_id=7), "1.parquet"),
        write_log(decisions(2, decision_id=["v", "w"], model_id="m8"), "2.parquet"),
    ]
    profile = checked(None, files=files)
    assert profile.model_ids == ("7", "m8")


def test_a_model_may_be_context(checked):
    profile = checked(decisions(model_id=[1, 1, 2, 2]), context=("model_id",))
    assert profile.model_ids == ("1", "2")


@pytest.mark.parametrize(
    ("rewards", "is_warned"),
    [
        ([0.0, 0.0, -1.0, None], True),
        ([-0.5, -1.0, -1.0, -1.0], True),
        ([0.0, 0.0, 0.0, None], False),
        ([-1.0, 0.0, 1.0, None], False),
        ([None, None, None, None], False),
    ],
)
def test_rewards_that_are_never_above_0_may_be_costs(checked, rewards, is_warned):
    rows = decisions(reward=rewards).with_columns(pl.col("reward").cast(pl.Float64))
    profile = checked(rows, reward_range=(-1.0, 1.0))
    assert [warned.rule for warned in profile.warned] == (
        ["rewards_are_not_costs"] * is_warned
    )
    for warned in profile.warned:
        assert warned.count == sum(reward < 0 for reward in rewards if reward)
        assert "write reward = 0 - cost" in warned.remedy


@pytest.mark.parametrize(
    ("column", "is_cost"),
    [
        ("cost", True),
        ("_label_cost", True),
        ("totalCost", True),
        ("Log-Losses", True),
        ("loss_1", True),
        ("penalty", True),
        ("regret", True),
        ("reward", False),
        ("lossless", False),
        ("costume", False),
        ("clicks", False),
    ],
)
def test_a_reward_may_be_named_like_a_cost(checked, column, is_cost):
    assert looks_like_a_cost(column) == is_cost
    rows = decisions().rename({"reward": column})
    profile = checked(rows, columns={} if column == "reward" else {"reward": column})
    assert [warned.rule for warned in profile.warned] == (
        ["reward_is_not_named_like_a_cost"] * is_cost
    )


def test_a_cost_is_warned_of_once(checked):
    rows = decisions(reward=-1.0).rename({"reward": "cost"})
    profile = checked(rows, reward_range=(-1.0, 0.0), columns={"reward": "cost"})
    (warned,) = profile.warned
    assert "'cost'" in warned.sentence
    assert warned.count == 4


def test_no_zero_is_printed_with_a_sign(checked):
    profile = checked(decisions(reward=-0.0))
    assert math.copysign(1.0, profile.least_reward) == 1.0
    assert math.copysign(1.0, profile.largest_reward) == 1.0
    for rows in (
        decisions(reward=-0.0),
        decisions(logging_probabilities=[[0.9, -0.0]] * 4, reward=0.5),
        decisions(logging_probabilities=[[-0.0, -0.0]] * 4, reward=0.5),
        decisions(new=[[-0.0, 0.5]] * 4, reward=0.5),
    ):
        specs = ["column:new"] * ("new" in rows.columns)
        with pytest.raises(ViolationsError) as error:
            checked(rows, *specs, reward_range=(0.5, 1.0))
        assert "-0.0" not in str(error.value)
        assert all("-0.0" not in rule.rows[0].value for rule in error.value.broken)


def test_the_least_and_the_largest_reward_are_told(checked):
    profile = checked(decisions(reward=[0.25, None, 0.75, 0.5]))
    assert (profile.least_reward, profile.largest_reward) == (0.25, 0.75)
    assert checked(decisions().clear()).least_reward is None


def test_a_profile_is_read_back_from_json(checked):
    rows = decisions(
        model_id=["a", "b", "b", "b"],
        sample_probability=[0.5, 1.0, 1.0, 1.0],
        logging_probabilities=[[1.0, 0.0]] * 4,
    )
    profile = checked(rows)
    assert len(profile.warned) == 1
    assert Profile.read(json.loads(json.dumps(asdict(profile)))) == profile


def test_a_profile_of_an_earlier_version_is_read(checked):
    kept = asdict(checked(decisions()))
    earlier = {name: kept[name] for name in list(kept)[:9]} | {"no_longer": 1}
    assert Profile.read(earlier).decisions == 4
