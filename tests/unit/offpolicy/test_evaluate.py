"""`evaluate`: what it returns, prints and loads."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from flows.offpolicy import OffPolicyImprovement, OffPolicyValue, document, evaluate
from flows.offpolicy.document import rounded
from flows.offpolicy.text import decimals, summary

OPTIONS = {"reward_range": (0, 1), "floor": 0.1}
LOADED = """
import json, sys
from flows.cli import run
code = run(sys.argv[1:])
heavy = ("prefect", "pyarrow", "altair", "pandas", "uvicorn")
print(json.dumps([code, [name for name in heavy if name in sys.modules]]))
"""


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    share = rng.uniform(0.2, 0.8, 200)
    is_a = rng.random(200) < share
    return pl.DataFrame(
        {
            "decision_id": [f"d{number}" for number in range(200)],
            "action": np.where(is_a, "a", "b"),
            "actions": [["a", "b"]] * 200,
            "logging_probabilities": np.stack([share, 1 - share], axis=1).tolist(),
            "reward": (rng.random(200) < 0.3).astype(float),
            "new": [[0.9, 0.1]] * 200,
            "place": ["north", "south"] * 100,
        }
    )


@pytest.fixture
def log(frame, write_log):
    return write_log(frame)


def test_the_estimate_is_the_weighted_mean(frame, log):
    weights = [
        new[actions.index(action)] / logging[actions.index(action)]
        for action, actions, logging, new in frame.select(
            "action", "actions", "logging_probabilities", "new"
        ).iter_rows()
    ]
    scores = np.array(weights) * frame["reward"].to_numpy()
    for method in ("mixture", "compat"):
        found = evaluate(log, candidates=["column:new"], method=method, **OPTIONS)
        (candidate,) = found.candidates
        assert candidate.value.estimate == pytest.approx(scores.mean(), abs=1e-6)
        assert candidate.improvement.estimate == pytest.approx(
            scores.mean() - frame["reward"].mean(), abs=1e-6
        )
        assert candidate.value.lower < scores.mean() < candidate.value.upper


def test_criteria_of_evaluation_suites_give_the_same_estimates(log):
    found = evaluate(log, candidates=["column:new"], **OPTIONS).candidates[0]
    for criterion, expected in (
        (OffPolicyValue((0, 1), 0.1), found.value),
        (OffPolicyImprovement((0, 1), 0.1), found.improvement),
    ):
        assert criterion.evaluate(log, "column:new") == expected


def test_a_cut_adds_up_and_does_not_touch_the_headline(log):
    plain = evaluate(log, candidates=["column:new"], **OPTIONS)
    cut = evaluate(log, candidates=["column:new"], by=["place"], **OPTIONS)
    assert cut.candidates == plain.candidates
    assert list(cut.segments) == ["north", "south"]
    parts = [inside[0] for inside in cut.segments.values()]
    assert [part.finding.decisions for part in parts] == [100, 100]
    mean = sum(part.value.estimate for part in parts) / 2
    assert mean == pytest.approx(cut.candidates[0].value.estimate, abs=1e-6)


def test_several_candidates_share_the_error_but_not_by_compat(log):
    specs = ["column:new", "uniform", "first"]
    for method, is_wider in (("mixture", True), ("compat", False)):
        alone, together = (
            evaluate(log, candidates=some, method=method, **OPTIONS).candidates[0].value
            for some in (specs[:1], specs)
        )
        assert (together.upper - together.lower > alone.upper - alone.lower) == is_wider


def test_the_document_holds_all_that_goes_along_with_a_number(log, untaken):
    ran = untaken(
        *("evaluate", log, "--candidate", "column:new", "--candidate", "uniform"),
        *("--reward-range", 0, 1, "--floor", 0.1, "--by", "place", "--json"),
    )
    made = ran.document
    assert list(made) == [
        *("schema", "log", "reward_range", "propensity_floor"),
        *("least_sample_probability", "method", "confidence", "logging", "drift"),
        *("logging_policy", "candidates", "ranking", "pairs", "by", "segments"),
        *("frequencies", "warnings"),
    ]
    assert [entry["candidate"] for entry in made["candidates"]] == [
        "column:new",
        "uniform",
    ]
    for entry in made["candidates"]:
        for estimand in ("value", "improvement"):
            assert set(entry[estimand]) == {
                *("estimate", "lower", "upper", "identified_lower"),
                *("identified_upper", "method", "confidence", "look", "assumes"),
                "state",
            }
            assert entry[estimand]["look"] == "single look"
        assert set(entry["missing"]) == {
            *("reward", "support", "both", "unsupported_probability"),
        }
        assert len(entry["assumptions"]) == 4
        assert {one["status"] for one in entry["assumptions"]} == {
            "checked",
            "cannot be checked",
        }
        assert set(entry["diagnostics"]) == {
            *("mean_weight", "expected_mean_weight", "effective_sample_size"),
            *("largest_weight", "top_share", "unknown_actions"),
        }
    assert made == json.loads(
        json.dumps(
            document(
                evaluate(
                    log, candidates=["column:new", "uniform"], by=["place"], **OPTIONS
                )
            )
        )
    )


def test_actions_taken_more_often_than_logged_are_named(frame, write_log):
    many = pl.concat([frame] * 40).with_columns(
        decision_id=pl.int_range(pl.len()).cast(pl.String)
    )
    fitting = evaluate(write_log(many), candidates=["column:new"], **OPTIONS)
    assert document(fitting)["frequencies"] == {"actions": 2, "deviating": []}
    assert "chance allows" not in summary(fitting)
    always = many.with_columns(action=pl.lit("a"))
    found = evaluate(write_log(always), candidates=["column:new"], **OPTIONS)
    told = document(found)["frequencies"]
    assert [one["action"] for one in told["deviating"]] == ["a", "b"]
    assert told["deviating"][0]["logged"] == 8_000
    assert "action b was taken 0 times, its logged probabilities say" in summary(found)


def test_numbers_of_a_document_are_finite_or_null():
    found = rounded({"a": [math.nan, math.inf, 1 / 3, 3], "b": (True, None, "x")})
    assert found == {"a": [None, None, 0.333333333333, 3], "b": [True, None, "x"]}


def test_printed_ends_are_rounded_outward(log):
    found = evaluate(log, candidates=["column:new"], **OPTIONS)
    value = found.candidates[0].value
    line = next(row for row in summary(found).splitlines() if row.startswith("column"))
    low, high = map(float, re.search(r"\[(\S+), (\S+)\]", line).groups())
    assert low <= value.lower < low + 0.011
    assert high - 0.011 < value.upper <= high


@pytest.mark.parametrize(
    ("width", "shown"), [(2.0, 1), (0.5, 2), (0.051, 3), (120.0, 0), (0.0, 4)]
)
def test_two_digits_of_a_width_are_shown(width, shown):
    assert decimals(width) == shown


def test_a_log_without_ids_and_times_is_one_window(frame, write_log):
    bare = frame.drop("decision_id", "place")
    found = evaluate(write_log(bare), candidates=["column:new"], **OPTIONS)
    assert found.profile.first_at is None
    assert found.profile.decisions == 200
    assert found.design.used == "mixture"
    with_ids = evaluate(
        write_log(frame), candidates=["column:new"], method="mixture", **OPTIONS
    )
    assert found.candidates == with_ids.candidates


def test_rows_below_the_floor_and_above_it_may_stand_side_by_side(frame, write_log):
    """An action of 0.001 that was logged, and taken by the candidate, is missing."""
    rare = pl.DataFrame(
        {
            "decision_id": ["rare"],
            "action": ["a"],
            "actions": [["a", "b"]],
            "logging_probabilities": [[0.001, 0.999]],
            "reward": [1.0],
            "new": [[0.9, 0.1]],
            "place": ["north"],
        }
    )
    log = write_log(pl.concat([frame, rare]))
    for method in ("mixture", "compat"):
        found = evaluate(
            log, candidates=["column:new", "logging"], method=method, **OPTIONS
        )
        new, logging = found.candidates
        assert new.finding.missing.support == 1
        assert new.finding.diagnostics.largest_weight <= 10
        assert logging.finding.missing.support == 0
        mean = (frame["reward"].sum() + 1) / 201
        assert logging.value.estimate == pytest.approx(mean, abs=1e-6)
        assert logging.value.upper <= 1


@pytest.mark.parametrize("reward", [0.5, 2.0])
def test_the_command_loads_neither_prefect_nor_pyarrow(frame, write_log, reward):
    log = write_log(frame.with_columns(reward=reward))
    look_up = write_log(
        pl.DataFrame(
            {
                "place": ["north", "south"],
                "actions": [["a", "b"]] * 2,
                "probabilities": [[0.5, 0.5]] * 2,
            }
        ),
        "look_up.parquet",
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", LOADED, "evaluate", log),
            *("--candidate", "column:new", "--candidate", look_up),
            *("--reward-range", "0", "1", "--floor", "0.1", "--context", "place"),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    code, loaded = json.loads(done.stdout.splitlines()[-1])
    assert code == (0 if reward <= 1 else 2)
    assert loaded == []
