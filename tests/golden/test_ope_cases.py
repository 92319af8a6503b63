"""Public reports about other tools, each reduced to a few rows: ours must be right.

`IDS` lists the cases; the last test fails when one has no test, or has one that is
skipped or expected to fail. `(p, r, q)` below are the logging probability, the reward
and the candidate's probability of the logged action.
"""

from __future__ import annotations

import inspect
import math
import sys

import numpy as np
import polars as pl
import pytest

IDS = (
    *("C01", "C02", "C04", "C06", "C07", "C08", "C09", "C10", "C11", "C13", "C15"),
    *("C17", "C19", "C20", "C21", "C22", "C23", "C25", "C27"),
)
UNIT = ("--reward-range", 0, 1)
NEW = ("--candidate", "column:new")


def two_actions(rows):
    """Decisions between the logged action `a` and another, from (p, r, q)."""
    return [
        {
            "decision_id": f"d{number}",
            "action": "a",
            "actions": ["a", "b"],
            "logging_probabilities": [p, 1 - p],
            "reward": r,
            "new": [q, 1 - q],
        }
        for number, (p, r, q) in enumerate(rows)
    ]


def one(ran):
    assert ran.code == 0, ran.err
    (candidate,) = ran.candidates
    return candidate


@pytest.mark.parametrize("method", ["mixture", "compat"])
def test_c01_estimates_are_weighted_means_with_an_interval_of_their_own(
    untaken, write_log, method
):
    """IPS is 1.125, above the range; no self-normalised number stands beside it."""
    log = write_log(
        two_actions([(0.25, 1, 1), (0.5, 0, 0.25), (0.5, 1, 0.25), (0.25, 0, 0)] * 50)
    )
    ran = untaken(
        "evaluate", log, *NEW, *UNIT, "--floor", 0.25, "--method", method, "--json"
    )
    value = one(ran)["value"]
    assert value["estimate"] == pytest.approx(1.125, abs=1e-6)
    assert value["method"] == method
    assert value["lower"] < 0.9 < value["upper"]
    if method == "mixture":
        assert value["upper"] <= 1
    assert "snips" not in ran.out.lower()


def test_c02_log_probabilities_are_refused_with_a_hint(untaken, write_log):
    rows = two_actions([(0.5, 1, 0.5)])
    rows[0]["logging_probabilities"] = [-0.357, -1.204]
    message = untaken(
        "evaluate", write_log(rows), *NEW, *UNIT, "--floor", 0.1
    ).refusal()
    assert "probabilities_lie_in_0_1 (1 row)" in message
    assert "row 1, decision d0: [-0.357, -1.204]" in message
    assert "these look like log-probabilities: exp() sums to 1" in message


def test_c04_densities_are_refused_with_a_hint(untaken, write_log):
    rows = two_actions([(0.5, 1, 0.5)])
    rows[0]["logging_probabilities"] = [2.1529, 7.99]
    message = untaken(
        "evaluate", write_log(rows), *NEW, *UNIT, "--floor", 0.1
    ).refusal()
    assert "[2.1529, 7.99] (a density? continuous actions need binning)" in message


def test_c06_rounded_probabilities_have_a_declared_tolerance(untaken, write_log):
    def log(count, p):
        names = [f"a{n}" for n in range(count)]
        row = {
            "action": "a0",
            "actions": names,
            "logging_probabilities": [p] * count,
            "reward": 1.0,
        }
        return write_log([row], f"of_{count}.parquet")

    command = ("--candidate", "uniform", *UNIT, "--floor", 0.01)
    thirds, many = log(3, 0.333333), log(55, 0.0181818)

    message = untaken("evaluate", thirds, *command).refusal()
    assert "probabilities_sum_to_one" in message
    assert "sum 0.999999" in message
    assert "sum_tolerance" in message

    looser = untaken("evaluate", thirds, *command, "--sum-tolerance", 1e-5, "--json")
    assert looser.code == 0
    deviation = looser.document["log"]["sum_deviation"]
    assert deviation == pytest.approx(1e-6, rel=1e-6)

    edge = untaken("evaluate", many, *command, "--json")
    assert edge.code == 0
    assert edge.document["log"]["sum_deviation"] == pytest.approx(1e-6, rel=1e-6)


def test_c07_a_deterministic_logger_is_told_and_bounded(untaken, write_log):
    rows = two_actions([(1.0, 1, 0.5), (1.0, 0, 0.5)])
    rows[1] |= {"action": "b", "logging_probabilities": [0.0, 1.0]}
    ran = untaken("evaluate", write_log(rows), *NEW, *UNIT, "--floor", 0.1, "--json")
    candidate = one(ran)
    (warning,) = ran.document["warnings"]
    assert warning["rule"] == "logging_policy_explores"
    assert warning["count"] == 2
    assert candidate["missing"]["support"] == 2
    assert candidate["missing"]["unsupported_probability"] == pytest.approx(0.5)
    value = candidate["value"]
    assert value["identified_lower"] == pytest.approx(0.25, abs=1e-6)
    assert value["identified_upper"] == pytest.approx(0.75, abs=1e-6)
    assert 0 <= value["lower"] <= 0.25
    assert 0.75 <= value["upper"] <= 1


def test_c08_an_action_of_probability_0_cannot_have_been_drawn(untaken, write_log):
    log = write_log(two_actions([(0.0, 1, 0.5), (0.5, 1, 0.5)]))
    message = untaken("evaluate", log, *NEW, *UNIT, "--floor", 0.1).refusal()
    assert "logged_action_was_possible (1 row)" in message
    assert f"{log}, row 1, decision d0: a has probability 0" in message

    fine = write_log(two_actions([(1.0, 1, 1.0), (0.5, 1, 1.0)]), "fine.parquet")
    ran = untaken("evaluate", fine, *NEW, *UNIT, "--floor", 0.1, "--json")
    assert one(ran)["missing"]["support"] == 0


def test_c09_nan_is_refused_and_null_is_missing(untaken, write_log):
    nan = math.nan
    command = (*NEW, *UNIT, "--floor", 0.1)

    probability = write_log(
        two_actions([(nan, 1.0, 0.5), (0.5, 1.0, 0.5)]), "p.parquet"
    )
    message = untaken("evaluate", probability, *command).refusal()
    assert "row 1, decision d0" in message
    assert "NaN is not a probability" in message

    reward = write_log(two_actions([(0.5, nan, 0.5), (0.5, 1.0, 0.5)]), "r.parquet")
    message = untaken("evaluate", reward, *command).refusal()
    assert "reward_is_in_range (1 row)" in message
    assert "row 1, decision d0: nan" in message
    assert "null, not NaN" in message

    null = write_log(two_actions([(0.5, None, 0.5), (0.5, 1.0, 0.5)]), "n.parquet")
    assert one(untaken("evaluate", null, *command, "--json"))["missing"]["reward"] == 1


def test_c10_a_missing_column_is_named_with_those_found(untaken, write_log):
    log = write_log(
        pl.DataFrame(two_actions([(0.5, 1, 0.5)])).rename(
            {"logging_probabilities": "action_prob"}
        )
    )
    message = untaken("evaluate", log, *NEW, *UNIT, "--floor", 0.1).refusal()
    assert str(log) in message
    assert "'logging_probabilities' is missing" in message
    assert "decision_id, action, actions, action_prob, reward, new" in message

    rows = two_actions([(0.5, 1, 0.5), (0.5, 1, 0.5)])
    rows[1]["logging_probabilities"] = None
    log = write_log(rows)
    message = untaken("evaluate", log, *NEW, *UNIT, "--floor", 0.1).refusal()
    assert f"{log}, row 2, decision d1: null" in message


def test_c11_names_match_exactly_and_an_unseen_one_is_told(untaken, write_log):
    log = write_log(
        [
            {
                "decision_id": f"d{n}",
                "action": "act1",
                "actions": ["act0", "act1"],
                "logging_probabilities": [0.5, 0.5],
                "reward": 1.0,
            }
            for n in range(3)
        ]
    )
    table = write_log(
        [
            {
                "decision_id": f"d{n}",
                "actions": ["act1", "act2"],
                "probabilities": [0.5, 0.5],
            }
            for n in range(3)
        ],
        "candidate.parquet",
    )
    command = ("evaluate", log, "--candidate", table, *UNIT, "--floor", 0.1)
    candidate = one(untaken(*command, "--json"))
    assert candidate["missing"]["support"] == 3
    (unknown,) = candidate["diagnostics"]["unknown_actions"]
    assert unknown["action"] == "act2"
    assert unknown["nearest"] in {"act0", "act1"}
    assert "action act2 is never listed in the log; did you mean act" in (
        untaken(*command).out
    )


def test_c13_an_estimate_outside_the_range_is_kept_and_said(untaken, write_log):
    log = write_log(two_actions([(0.5, 1, 1.0), (0.5, 1, 1.0), (0.5, 0, 0.5)]))
    command = ("evaluate", log, *NEW, *UNIT, "--floor", 0.5)
    value = one(untaken(*command, "--json"))["value"]
    assert value["estimate"] == pytest.approx(4 / 3, abs=1e-6)
    assert 0 <= value["lower"] <= value["upper"] <= 1
    assert "estimate lies outside the reward range" in untaken(*command).out


def test_c15_every_number_names_its_one_method(untaken, write_log):
    rows = two_actions([(0.5, 1, 0.8), (0.5, 0, 0.3)])
    log = write_log([row | {"kind": "x"} for row in rows])
    for method in ("mixture", "compat"):
        ran = untaken(
            *("evaluate", log, *NEW, "--candidate", "uniform", *UNIT, "--floor", 0.1),
            *("--by", "kind"),
            *("--method", method, "--json"),
        )
        estimates = [ran.document["logging_policy"]["value"]]
        (segment,) = ran.document["segments"]
        for candidate in (*ran.candidates, *segment["candidates"]):
            estimates += [candidate["value"], candidate["improvement"]]
        assert {estimate["method"] for estimate in estimates} == {method}
        assert ran.document["method"] == method
        assert ran.document["schema"] == "untaken.evaluate/1"


@pytest.mark.parametrize("method", ["mixture", "compat"])
def test_c17_negative_rewards_are_shifted_by_the_range(untaken, write_log, method):
    rows = [(0.5, -1.0, 0.8), (0.5, 1.0, 0.2), (0.5, 0.0, 0.8), (0.5, 1.0, 0.8)]
    ran = untaken(
        *("evaluate", write_log(two_actions(rows)), *NEW, "--reward-range", -1, 1),
        *("--floor", 0.2, "--method", method, "--json"),
    )
    candidate = one(ran)
    assert candidate["value"]["estimate"] == pytest.approx(0.40, abs=1e-6)
    assert candidate["improvement"]["estimate"] == pytest.approx(0.15, abs=1e-6)


def test_c19_diagnostics_show_what_an_estimate_rests_on(untaken, write_log):
    rows = two_actions([(0.999, 0, 0.5)] * 199 + [(0.001, 1, 0.5)])
    ran = untaken("evaluate", write_log(rows), *NEW, *UNIT, "--floor", 0.001, "--json")
    diagnostics = ran.candidates[0]["diagnostics"]
    weights = np.array([0.5 / 0.999] * 199 + [0.5 / 0.001])
    size = weights.sum() ** 2 / (weights**2).sum()
    assert diagnostics["effective_sample_size"] == pytest.approx(size, rel=1e-3)
    assert diagnostics["effective_sample_size"] < 2
    assert diagnostics["largest_weight"] == pytest.approx(500, rel=1e-6)
    assert diagnostics["top_share"] == pytest.approx(1.0)
    assert diagnostics["mean_weight"] == pytest.approx(weights.mean(), rel=1e-6)


def test_c20_a_log_without_propensities_is_refused_with_the_reason(untaken, write_log):
    log = write_log(
        pl.DataFrame(two_actions([(0.5, 1, 0.5)])).drop("logging_probabilities")
    )
    message = untaken("evaluate", log, *NEW, *UNIT, "--floor", 0.1).refusal()
    assert "log them when the decision is made" in message
    assert "cannot be estimated afterwards" in message


def test_c21_candidates_join_by_id_never_by_position(untaken, write_log):
    log = write_log(two_actions([(0.5, 1, 0.0), (0.5, 0, 0.0), (0.5, 1, 0.0)]))
    table = pl.DataFrame(
        {
            "decision_id": ["d0", "d1", "d2"],
            "actions": [["a", "b"]] * 3,
            "probabilities": [[1.0, 0.0], [0.5, 0.5], [0.2, 0.8]],
        }
    )
    results = [
        untaken(
            *("evaluate", log, "--candidate", write_log(rows, "t.parquet")),
            *(*UNIT, "--floor", 0.1, "--json"),
        )
        for rows in (table, table.reverse())
    ]
    assert results[0].out == results[1].out
    assert one(results[0])["value"]["estimate"] == pytest.approx(2.4 / 3, abs=1e-6)

    other = table.with_columns(decision_id=pl.Series(["d0", "e1", "e2"]))
    message = untaken(
        *("evaluate", log, "--candidate", write_log(other, "t.parquet")),
        *(*UNIT, "--floor", 0.1),
    ).refusal()
    assert "2 decisions have no entry" in message
    assert "2 of 3 entries belong to no decision" in message


def test_c22_columns_are_mapped_by_configuration(untaken, write_log):
    rows = pl.DataFrame(two_actions([(0.5, 1, 0.8), (0.25, 0, 0.3)]))
    theirs = {
        "decision_id": "id",
        "action": "a",
        "actions": "arms",
        "logging_probabilities": "pscore",
        "reward": "click",
    }
    command = (*NEW, *UNIT, "--floor", 0.2, "--json")
    plain = untaken("evaluate", write_log(rows), *command)
    mapping = [f"--column={ours}={name}" for ours, name in theirs.items()]
    log = write_log(rows.rename(theirs), "theirs.parquet")
    assert untaken("evaluate", log, *command, *mapping).out == plain.out


def test_c23_evidence_of_partitions_merges_to_the_same_bits(evidence_of, write_log):
    from flows.offpolicy.evidence import merge

    rng = np.random.default_rng(23)
    frame = pl.DataFrame(two_actions(rng.uniform(0.05, 0.95, (100, 3)).tolist()))
    whole = evidence_of(write_log(frame, "whole.parquet"))
    parts = [
        evidence_of(write_log(frame[start : start + size], f"{start}.parquet"))
        for start, size in ((0, 13), (13, 50), (63, 37))
    ]
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    assert merge(pl.concat(parts)).equals(whole)
    assert merge(pl.concat(parts[::-1])).equals(whole)
    assert evidence_of(write_log(shuffled, "shuffled.parquet")).equals(whole)


def test_c25_the_same_rows_in_any_order_give_the_same_bytes(untaken, write_log):
    rng = np.random.default_rng(25)
    frame = pl.DataFrame(two_actions(rng.uniform(0.05, 0.95, (40, 3)).tolist()))
    shuffled = frame.sample(n=40, shuffle=True, seed=2)
    outputs = {
        untaken(
            *("evaluate", write_log(rows), *NEW, *UNIT, "--floor", 0.05),
            *("--method", method, "--json"),
        ).out
        for rows in (frame, frame, frame.reverse(), shuffled)
        for method in ("mixture", "compat")
    }
    assert len(outputs) == 2


def test_c27_the_floor_is_tolerant_and_in_compat_exact(untaken, write_log):
    rows = two_actions([(0.7 + 1e-12, 1, 0.5), (0.7, 0, 0.5)])
    command = ("evaluate", write_log(rows), *NEW, *UNIT, "--floor", 0.3, "--json")
    assert one(untaken(*command))["missing"]["support"] == 0
    exact = one(untaken(*command, "--method", "compat"))
    assert exact["missing"]["support"] == 1


def test_every_case_has_a_test_that_runs():
    module = sys.modules[__name__]
    tests = [
        (name, function)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if name.startswith("test_c")
    ]
    assert {name[5:8].upper() for name, _ in tests} == set(IDS)
    assert not hasattr(module, "pytestmark")
    for name, function in tests:
        marks = {mark.name for mark in getattr(function, "pytestmark", [])}
        assert not marks & {"skip", "skipif", "xfail"}, name
        source = inspect.getsource(function)
        assert "pytest.skip" not in source, name
        assert "pytest.xfail" not in source, name
        assert "importorskip" not in source, name
