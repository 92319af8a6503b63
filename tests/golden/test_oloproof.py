"""`compat` gives the numbers of oloproof 0.1.0a20, through the public `evaluate`.

Bounds agree to 1e-9 of the score range, estimates to 1e-12, and so do the counts of
decisions that are missing. We differ on purpose where that tool

- crashes: NaN is refused with its row (exit 2), not an internal error (exit 5);
- hides a bad row: a reward out of range is refused even where the candidate has no
  support and the reward would never be read;
- shows an estimate after a stop: what is refused gives no number;
- ends with 3 because its gate had too little evidence: `evaluate` has no gate, so that
  a log with an estimate ends with 0 and one without any reward with 3.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest

from flows.errors import LogError, PolicyError
from flows.offpolicy import evaluate

DATA = Path(__file__).parent / "data" / "oloproof"
LOGS = (
    "example_600",
    "missing_reward_40",
    "floor_violation_60",
    "five_actions_300",
    "all_rewards_missing_5",
    "one_row",
    "target_equals_logging_200",
    "single_action_floor_1",
)
EDGES = json.loads((DATA / "edge_cases.json").read_text())
LEVELS = json.loads((DATA / "confidence_levels.json").read_text())
REFUSED_BY_US_ALONE = {"reward_nan", "prob_nan", "floor_violation_and_bad_reward"}
# A Parquet column has one type: a value of another makes the column one of it.
TYPES = {
    "reward_string": {"reward": pl.String},
    "prob_string": {"logging_probabilities": pl.List(pl.String)},
    "prob_bool": {"logging_probabilities": pl.List(pl.Boolean)},
}
ESTIMANDS = ("value", "improvement")


def read(name):
    return json.loads((DATA / f"{name}.json").read_text())


def compat(log, candidate, config, confidence=0.95):
    return evaluate(
        log,
        candidates=[candidate],
        reward_range=tuple(config["reward_range"]),
        floor=config["propensity_floor"],
        method="compat",
        confidence=confidence,
    )


def require_equal(found, estimate, interval, score_range):
    width = score_range[1] - score_range[0]
    assert found.method == "compat"
    assert found.estimate == pytest.approx(estimate, abs=1e-12, rel=0)
    near = {"abs": 1e-9 * width, "rel": 0}
    assert found.lower == pytest.approx(interval["lower"], **near)
    assert found.upper == pytest.approx(interval["upper"], **near)


def missing_count(evaluated):
    missing = evaluated.finding.missing
    return missing.reward + missing.support + missing.both


@pytest.mark.parametrize("name", LOGS)
def test_every_log_gives_the_numbers_of_the_tool(name, laid_out):
    golden = read(name)
    log, candidate = laid_out(golden["rows"], reward=pl.Float64)

    found = compat(log, candidate, golden["config"])

    (evaluated,) = found.candidates
    for estimand in ESTIMANDS:
        metric = golden["result"]["metrics"][f"off_policy_{estimand}"]
        estimate = evaluated.finding.of(estimand)
        assert evaluated.finding.decisions == metric["n_total"]
        assert missing_count(evaluated) == metric["n_missing"]
        if metric["estimate"] is None:
            assert estimate.state == "all_rewards_missing"
            assert (estimate.estimate, estimate.lower, estimate.upper) == (None,) * 3
        else:
            require_equal(
                estimate, metric["estimate"], metric["interval"], metric["range"]
            )
    assert found.exit_code == (3 if name == "all_rewards_missing_5" else 0)


@pytest.mark.parametrize("level", LEVELS)
def test_every_confidence_gives_the_numbers_of_the_tool(level, laid_out):
    name, confidence = level.split("@")
    golden = read(name)
    log, candidate = laid_out(golden["rows"])

    found = compat(log, candidate, golden["config"], float(confidence))

    for estimand in ESTIMANDS:
        metric = golden["result"]["metrics"][f"off_policy_{estimand}"]
        expected = LEVELS[level][f"off_policy_{estimand}"]
        estimate = found.candidates[0].finding.of(estimand)
        require_equal(estimate, *expected, metric["range"])
        assert estimate.confidence == float(confidence)


@pytest.mark.parametrize("name", EDGES["cases"])
def test_every_edge_ends_as_in_the_tool_or_better(name, laid_out):
    case, config = EDGES["cases"][name], EDGES["config"]
    log, candidate = laid_out(case["rows"], **TYPES.get(name, {"reward": pl.Float64}))

    if case["exit_code"] == 2 or name in REFUSED_BY_US_ALONE:
        with pytest.raises((LogError, PolicyError)) as refused:
            compat(log, candidate, config)
        assert refused.value.exit_code == 2
        return
    found = compat(log, candidate, config)

    (evaluated,) = found.candidates
    assert found.exit_code == 0
    assert missing_count(evaluated) == case["n_missing"]
    measured = evaluated.finding.decisions - missing_count(evaluated)
    assert measured == case["n_observed"]
    score_range = (0.0, 1.0 / config["propensity_floor"])
    require_equal(evaluated.value, case["estimate"], case["interval"], score_range)


def test_all_cases_of_the_tool_are_here():
    assert sum(len(case["rows"]) == 3 for case in EDGES["cases"].values()) == 31
    assert {
        name for name, case in EDGES["cases"].items() if case["exit_code"] == 5
    } == {
        "reward_nan",
        "prob_nan",
    }
    assert {path.stem for path in DATA.glob("*.json")} == {
        *LOGS,
        "confidence_levels",
        "edge_cases",
        "kernel_cases",
    }


def test_two_bad_rows_are_both_told(laid_out):
    log, candidate = laid_out(EDGES["cases"]["two_bad_rows"]["rows"], reward=pl.Float64)
    with pytest.raises(LogError, match=r"(?s)reward_is_in_range \(2 rows\).*1\.5.*7"):
        compat(log, candidate, EDGES["config"])


def test_a_name_that_the_log_never_lists_is_told_with_the_nearest(write_log):
    rows = EDGES["cases"]["target_unknown_name"]["rows"]
    log = write_log(
        [
            {
                "decision_id": row["id"],
                "action": row["expected"]["action"],
                "actions": list(row["expected"]["logging_probabilities"]),
                "logging_probabilities": list(
                    row["expected"]["logging_probabilities"].values()
                ),
                "reward": float(row["expected"]["reward"]),
            }
            for row in rows
        ]
    )
    table = write_log(
        [
            {"decision_id": row["id"], "action": action, "probability": probability}
            for row in rows
            for action, probability in row["input"]["target"].items()
        ],
        "candidate.parquet",
    )
    (evaluated,) = compat(log, str(table), EDGES["config"]).candidates
    assert evaluated.unknown_actions == ("Small",)
    assert math.isclose(evaluated.value.estimate, 0.35714285714285715, abs_tol=1e-12)
