from __future__ import annotations

import polars as pl
import pytest

from flows.errors import UntakenError
from flows.offpolicy.evidence import SCHEMA, require_all
from flows.offpolicy.grid import Grid

DESIGN = ("--reward-range", "0", "1", "--floor", "0.2")


def rows(**columns):
    """Two decisions of two actions, with other columns over them."""
    base = {
        "decision_id": ["x", "y"],
        "action": ["a", "b"],
        "actions": [["a", "b"]] * 2,
        "logging_probabilities": [[0.5, 0.5]] * 2,
        "reward": [1.0, 0.0],
    }
    return pl.DataFrame(base | columns, strict=False)


def test_an_id_twice_without_a_slot_is_a_duplicate(untaken, write_log):
    slots = pl.Series([None, None], dtype=pl.String)
    log = rows(decision_id=["x", "x"], slot=slots)
    ran = untaken("evaluate", write_log(log), "--candidate", "uniform", *DESIGN)
    assert "decision_id_is_unique" in ran.refusal()


def test_mass_below_zero_on_an_unlisted_action_is_refused(untaken, write_log):
    entries = [
        [{"action": n, "probability": p} for n, p in (("a", 0.5), ("b", 0.5))]
    ] * 2
    candidate = [
        [
            {"action": n, "probability": p}
            for n, p in (("a", 1.0), ("b", 0.5), ("zz", -0.5))
        ]
    ] * 2
    log = rows(logging_probabilities=entries, new=candidate).drop("actions")
    ran = untaken(
        *("evaluate", write_log(log), "--candidate", "column:new"),
        *("--probabilities", "structs", *DESIGN),
    )
    assert "candidate_probabilities_lie_in_0_1 (column:new)" in ran.refusal()


def test_unsupported_mass_that_rounds_above_one_is_one(untaken, write_log):
    log = rows(
        logging_probabilities=[[0.9, 0.1]] * 2,
        action=["a", "a"],
        new=[[0.0, 1.0000009]] * 2,
    )
    ran = untaken("evaluate", write_log(log), "--candidate", "column:new", *DESIGN)
    assert "lie_in_0_1" in ran.refusal()
    log = log.with_columns(new=pl.Series([[9e-7, 1.0]] * 2))
    ran = untaken(
        *("evaluate", write_log(log), "--candidate", "column:new", *DESIGN, "--json")
    )
    assert ran.code == 0, ran.err
    assert ran.candidates[0]["missing"]["unsupported_probability"] == 1.0


def test_weights_that_contradict_withhold_value_and_improvement(untaken, write_log):
    size = 4000
    log = pl.DataFrame(
        {
            "decision_id": [str(number) for number in range(size)],
            "action": ["a"] * size,
            "actions": [["a", "b"]] * size,
            "logging_probabilities": [[0.5, 0.5]] * size,
            "reward": [1.0] * size,
        }
    )
    ran = untaken(
        *("evaluate", write_log(log), "--candidate", "constant:a", *DESIGN, "--json")
    )
    assert ran.code == 2
    states = {ran.candidates[0][name]["state"] for name in ("value", "improvement")}
    assert states == {"withheld"}
    assert "weights too large" in ran.candidates[0]["assumptions"][0]["finding"]


def test_a_declared_tolerance_widens_every_interval():
    assert Grid(0.2, 0, 1, sum_tolerance=1e-3).slack > 2e-3
    assert Grid(0.2, 0, 1).slack < 1e-5


@pytest.mark.parametrize("value", ["0.01", "0", "-1"])
def test_a_tolerance_that_hides_wrong_distributions_is_refused(
    untaken, write_log, value
):
    ran = untaken(
        *("evaluate", write_log(rows()), "--candidate", "uniform", *DESIGN),
        *("--sum-tolerance", value),
    )
    assert "sum_tolerance" in ran.refusal()


@pytest.mark.parametrize(
    ("lowest", "highest", "floor"),
    [("0", "1", "1e-300"), ("-1e308", "1e308", "0.2"), ("0", "5e-324", "0.2")],
)
def test_numbers_nobody_means_are_refused(untaken, write_log, lowest, highest, floor):
    ran = untaken(
        *("evaluate", write_log(rows()), "--candidate", "uniform"),
        *("--reward-range", lowest, highest, "--floor", floor),
    )
    assert "must" in ran.refusal()


def test_segments_that_look_alike_stay_apart(untaken, write_log):
    log = rows(device=["(null)", None], place=["a, b", "a"], spot=["c", "b, c"])
    for by, expected in (
        (["device"], ["(null)", "\\(null)"]),
        (["place", "spot"], ["a, b\\, c", "a\\, b, c"]),
    ):
        options = [part for name in by for part in ("--by", name)]
        ran = untaken(
            *("evaluate", write_log(log), "--candidate", "uniform", *DESIGN),
            *(*options, "--json"),
        )
        assert [one["segment"] for one in ran.document["segments"]] == expected


def test_a_decision_counted_twice_is_a_fault():
    counts = pl.DataFrame(
        {
            name: ["new"]
            if name == "candidate"
            else [""]
            if dtype == pl.String
            else [2]
            for name, dtype in SCHEMA.items()
        }
    )
    require_all(counts, 2)
    with pytest.raises(UntakenError, match="2 decisions were counted"):
        require_all(counts, 1)
