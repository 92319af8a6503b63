"""Methods, looks, pairs, sampled logs and largest weights in `evaluate`."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from flows.errors import LogError, PolicyError, UsageError
from flows.offpolicy import evaluate
from flows.offpolicy.document import document
from flows.offpolicy.methods import Design, Window, look_of
from flows.offpolicy.ranking import ranking
from flows.offpolicy.text import summary
from flows.policies import parse

OPTIONS = {"reward_range": (0, 1), "floor": 0.1}


@pytest.fixture
def frame():
    """1,000 decisions of four days; `good` takes the better action, `bad` the other."""
    rng = np.random.default_rng(11)
    share = rng.uniform(0.3, 0.7, 1000)
    is_a = rng.random(1000) < share
    reward = rng.random(1000) < np.where(is_a, 0.8, 0.2)
    start = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
    times = [start + dt.timedelta(minutes=5 * n) for n in range(1000)]
    return pl.DataFrame(
        {
            "decision_id": [f"d{number}" for number in range(1000)],
            "decided_at": times,
            "action": np.where(is_a, "a", "b"),
            "actions": [["a", "b"]] * 1000,
            "logging_probabilities": np.stack([share, 1 - share], axis=1).tolist(),
            "reward": reward.astype(float),
            "good": [[0.9, 0.1]] * 1000,
            "bad": [[0.1, 0.9]] * 1000,
        }
    )


@pytest.fixture
def log(frame, write_log):
    return write_log(frame)


def ends(estimate):
    return estimate.lower, estimate.upper


def test_one_look_by_hash_blocks_is_the_usual_method(log):
    found = evaluate(log, candidates=["column:good"], **OPTIONS).candidates[0]
    assert (found.value.method, found.value.look) == ("fixed", "single look")
    assert found.value.assumes == "constant_mean"
    assert found.value.lower < 0.74 < found.value.upper
    mixture = evaluate(log, candidates=["column:good"], method="mixture", **OPTIONS)
    wide = mixture.candidates[0].value
    assert wide.look == "every look"
    assert wide.estimate == found.value.estimate
    assert found.value.upper - found.value.lower < wide.upper - wide.lower


def test_what_a_log_cannot_carry_is_refused(frame, write_log):
    without_ids = write_log(frame.drop("decision_id"), "a.parquet")
    without_times = write_log(frame.drop("decided_at"), "b.parquet")
    with pytest.raises(UsageError, match="fixed needs decision_id"):
        evaluate(without_ids, candidates=["uniform"], method="fixed", **OPTIONS)
    with pytest.raises(UsageError, match="need decided_at"):
        evaluate(without_times, candidates=["uniform"], logging="adaptive", **OPTIONS)
    with pytest.raises(UsageError, match="untaken nightly"):
        evaluate(without_times, candidates=["uniform"], method="anytime", **OPTIONS)


@pytest.mark.parametrize(
    "declared",
    [{"logging": "adaptive"}, {"logging": "reacting"}, {"drift": True}],
    ids=["adaptive", "reacting", "drift"],
)
def test_what_may_move_switches_both_estimands_to_the_night_level(log, declared):
    found = evaluate(log, candidates=["column:good"], **declared, **OPTIONS)
    for estimate in found.candidates[0].finding.estimates:
        assert (estimate.method, estimate.look) == ("mixture", "every look")
        assert estimate.assumes == "running_average"
    kept = found.candidates[0].assumptions[2]
    assert kept.finding.startswith("not assumed")
    assert ends(found.candidates[0].value) != ends(
        evaluate(log, candidates=["column:good"], **OPTIONS).candidates[0].value
    )


def test_looks_of_windows_follow_method_and_beginning():
    start, chosen = (Window(0, 7, is_from_start=it) for it in (True, False))
    for method, looks in {
        "fixed": ("single look", "single look"),
        "anytime": ("every look", "single look"),
        "mixture": ("every look", "single look"),
        "compat": ("every look", "single look"),
    }.items():
        design = Design(method, 0.95)
        assert (look_of(design, start), look_of(design, chosen)) == looks


def test_a_difference_is_paired_and_changes_sign_with_its_order(log):
    both = ["column:good", "column:bad"]
    one = evaluate(log, candidates=both, compare=True, **OPTIONS).pairs[0]
    other = evaluate(log, candidates=both[::-1], compare=True, **OPTIONS).pairs[0]
    assert one.difference.estimate == pytest.approx(-other.difference.estimate)
    assert ends(one.difference) == pytest.approx(
        (-other.difference.upper, -other.difference.lower), abs=0.02
    )
    assert one.difference.lower < 0.48 < one.difference.upper
    assert one.difference.lower > 0


def test_against_the_logging_policy_a_difference_is_the_improvement(log):
    options = {**OPTIONS, "method": "mixture"}
    found = evaluate(
        log, candidates=["column:good", "logging"], compare=True, **options
    )
    assert found.pairs[0].difference.estimate == pytest.approx(
        found.candidates[0].improvement.estimate, abs=1e-8
    )


def test_compat_makes_no_differences(log):
    with pytest.raises(UsageError, match="not made by compat"):
        evaluate(
            log,
            candidates=["uniform", "first"],
            method="compat",
            compare=True,
            **OPTIONS,
        )


def test_the_ranking_tells_who_is_certainly_worse(log):
    found = evaluate(log, candidates=["column:bad", "column:good"], **OPTIONS)
    best, middle, worst = found.ranking
    assert (best.candidate, best.best_place, best.worst_place) == ("column:good", 1, 1)
    assert (middle.candidate, middle.worse_than) == ("logging policy", ("column:good",))
    assert worst.worse_than == ("column:good", "logging policy")
    assert "column:bad is certainly worse than column:good" in summary(found)


def test_a_candidate_without_an_interval_may_have_any_place():
    first, second, last = ranking(
        {"a": (0.1, 0.2), "b": (-0.2, 0.0), "c": (None, None)}
    )
    assert (first.candidate, first.best_place, first.worst_place) == ("a", 1, 2)
    assert (second.candidate, second.best_place, second.worst_place) == ("b", 2, 3)
    assert (last.candidate, last.best_place, last.worst_place) == ("c", 1, 3)


def test_second_lines_are_shown_when_asked_for_and_labelled(log):
    plain = evaluate(log, candidates=["column:good"], **OPTIONS)
    assert plain.candidates[0].second_lines == {}
    found = evaluate(log, candidates=["column:good"], second_lines=True, **OPTIONS)
    lines = found.candidates[0].second_lines["value"]
    assert {line.method for line in lines} >= {
        "empirical_likelihood",
        "gaffke",
        "normal",
    }
    assert all(line.label for line in lines)
    assert "no finite-sample guarantee" in summary(found)
    entry = document(found)["candidates"][0]["second_lines"]
    assert set(entry) == {"value", "improvement"}


def test_a_sampled_log_is_a_ratio(write_log):
    """validity.md 13: two rows, probability .5, kept with .1 and 1, give 10/11."""
    rows = pl.DataFrame(
        {
            "decision_id": ["x", "y"],
            "action": ["a", "a"],
            "actions": [["a", "b"]] * 2,
            "logging_probabilities": [[0.5, 0.5]] * 2,
            "reward": [1.0, 0.0],
            "sample_probability": [0.1, 1.0],
        }
    )
    log = write_log(rows)
    options = {**OPTIONS, "method": "mixture"}
    found = evaluate(
        log, candidates=["uniform"], least_sample_probability=0.1, **options
    )
    assert found.candidates[0].value.estimate == pytest.approx(10 / 11)
    with pytest.raises(LogError, match=r"sample_probability 0\.1 lies below"):
        evaluate(log, candidates=["uniform"], **options)


def test_many_sampling_probabilities_are_drawn_to_their_neighbours(frame, write_log):
    kept = np.random.default_rng(4).uniform(0.2, 1.0, frame.height)
    rows = frame.with_columns(sample_probability=kept)
    options = {**OPTIONS, "least_sample_probability": 0.2}
    found = evaluate(write_log(rows), candidates=["column:good"], **options)
    logged = pl.col("logging_probabilities").list.get(0)
    weight = pl.when(pl.col("action") == "a").then(0.9 / logged)
    weight = weight.otherwise(0.1 / (1.0 - logged)) / pl.col("sample_probability")
    ratio = rows.select(
        (weight * pl.col("reward")).sum() / (1.0 / pl.col("sample_probability")).sum()
    ).item()
    assert found.candidates[0].value.estimate == pytest.approx(ratio, abs=0.005)
    shuffled = write_log(rows.sample(fraction=1.0, shuffle=True, seed=1), "s.parquet")
    again = evaluate(shuffled, candidates=["column:good"], **options)
    assert again.candidates == found.candidates
    without_ids = write_log(rows.drop("decision_id"), "w.parquet")
    with pytest.raises(LogError, match="more than 64 need decision_id"):
        evaluate(without_ids, candidates=["uniform"], **options)


def test_a_small_largest_probability_narrows_and_a_false_one_is_refused(log):
    def interval(largest):
        candidate = parse("column:good", largest_probability=largest)
        return evaluate(log, candidates=[candidate], **OPTIONS).candidates[0].value

    declared, unknown = interval(0.9), interval(None)
    assert declared.upper - declared.lower <= unknown.upper - unknown.lower
    assert declared.estimate == unknown.estimate
    with pytest.raises(PolicyError, match=r"largest_probability allows"):
        interval(0.1)


def test_a_uniform_choice_among_listed_actions_needs_no_declaration(frame, write_log):
    log = write_log(frame.with_columns(same=pl.lit([0.5, 0.5])))
    options = {**OPTIONS, "floor": 0.01}
    known = evaluate(log, candidates=["uniform"], **options).candidates[0].value
    unknown = evaluate(log, candidates=["column:same"], **options).candidates[0].value
    assert known.estimate == unknown.estimate
    assert known.upper - known.lower < unknown.upper - unknown.lower
