"""The advice of 000, said where it applies and nowhere else."""

from __future__ import annotations

import pytest

from flows.rewards import Counts, Delays, Factor, Rewards
from flows.rewards.advice import advise

QUIET = Counts(
    decisions=1000,
    observed=900,
    default=100,
    timely=900,
    late=10,
    zeros=500,
    ones=300,
    events=910,
)


def warned(counts=QUIET, delay=120.0, names=(), *, is_loaded_at=True, **declared):
    settings = {"wait_seconds": 600, "reward_range": (0.0, 1.0), "default": 0.0}
    found = advise(
        Rewards(("rewards/*.parquet",), **settings | declared),
        counts,
        Delays(delay / 4, delay, delay * 2),
        names=names,
        is_loaded_at=is_loaded_at,
    )
    return {one.rule: f"{one.sentence} {one.remedy}" for one in found}


def test_a_sound_declaration_is_met_with_silence():
    assert warned() == {}


def test_the_wait_is_at_least_twice_the_99th_percentile():
    assert warned(delay=300.0) == {}
    said = warned(delay=301.0)["wait_is_twice_the_delay"]
    assert "it is 10 minutes; 99 % of rewards take at most 5.02 minutes" in said
    assert "wait about 10 minutes" in said


def test_a_wait_far_longer_than_needed_is_told():
    assert warned(wait_seconds=86_400, delay=4400.0) == {}
    said = warned(wait_seconds=86_400, delay=3600.0)["wait_is_no_longer_than_needed"]
    assert "2 hours would do" in said


def test_few_rewards_say_nothing_of_the_wait():
    assert warned(Counts(timely=50, late=40), delay=599.0) == {}


def test_an_unusual_wait_is_told():
    assert [*warned(wait_seconds=900)] == ["wait_is_a_usual_one"]


@pytest.mark.parametrize(
    ("counts", "rule"),
    [
        (Counts(observed=1000, zeros=990), "rewards_are_not_nearly_all_0"),
        (Counts(observed=10, default=990, zeros=1), "rewards_are_not_nearly_all_0"),
        (Counts(observed=1000, ones=990), "rewards_are_not_nearly_all_1"),
    ],
)
def test_rewards_that_hardly_differ_are_told(counts, rule):
    assert [*warned(counts)] == [rule]


def test_decisions_without_reward_are_no_zeros():
    assert warned(Counts(observed=100, missing=9900, zeros=50), default=None) == {}


@pytest.mark.parametrize(
    "declared",
    [
        {"factors": (Factor("clicked", 1.0, "kind = 'open'"),)},
        {"factors": (Factor("top item", 1.0, "kind = 'click'"),)},
        {"columns": {"reward": "click_count"}},
        {"names": ("clicks",)},
    ],
)
def test_clicks_as_the_only_factor_are_told(declared):
    assert [*warned(**declared)] == ["clicks_are_not_the_only_factor"]


def test_clicks_among_other_factors_are_fine():
    factors = (Factor("click", 0.5, "a"), Factor("watched", 0.5, "b"))
    assert warned(factors=factors) == {}
    assert warned(names=("click", "watched")) == {}
    assert warned(columns={"reward": "clickstream_value"}) == {}


def test_a_negative_range_is_declared_as_intended():
    wide = {"reward_range": (-1.0, 1.0)}
    assert [*warned(**wide)] == ["negative_rewards_are_intended"]
    assert warned(**wide, negative_is_intended=True) == {}


def test_factors_beyond_the_range_are_told():
    both = (Factor("a", 0.75, "x"), Factor("b", 0.5, "y"))
    assert [*warned(factors=both)] == ["factors_fit_the_range"]
    grouped = (Factor("a", 0.75, "x", "g"), Factor("b", 0.5, "y", "g"))
    assert warned(factors=grouped) == {}


def test_rewards_that_name_other_actions_are_told():
    counts = Counts(observed=900, timely=900, wrong_item=900, zeros=500)
    assert [*warned(counts)] == ["rewards_name_the_chosen_action"]


def test_rewards_without_load_time_are_told():
    assert [*warned(is_loaded_at=False)] == ["rewards_say_when_they_were_loaded"]


def test_a_day_without_any_reward_is_told():
    counts = Counts(decisions=100, default=100)
    rewards = Rewards(("r",), 600, (0.0, 1.0), default=0.0)
    assert "rewards_arrived" in {one.rule for one in advise(rewards, counts, None)}
    few = Counts(decisions=99, default=99)
    assert "rewards_arrived" not in {one.rule for one in advise(rewards, few, None)}
