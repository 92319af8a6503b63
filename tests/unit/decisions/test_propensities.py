"""A log with the probability of the logged action alone: what is read, what refused."""

from __future__ import annotations

import datetime as dt
import math

import polars as pl
import pytest

from flows.errors import LogError, PolicyError, UsageError, ViolationsError

NOON = dt.datetime(2019, 11, 30, 12, tzinfo=dt.UTC)
FORM = {"probabilities": "propensity"}
DECLARED = FORM | {"actions": ("a", "b")}


def decisions(count=3, **changes):
    """Decisions between a and b; `changes` replace the column of the second one."""
    rows = [
        {
            "decision_id": f"d{number}",
            "decided_at": NOON,
            "action": "a",
            "propensity": 0.5,
            "reward": 1.0,
            "age": 30.0,
            "alone": 0.25,
            "picked": "b",
        }
        for number in range(count)
    ]
    rows[1] |= changes
    return rows


def test_a_log_of_propensities_is_read(checked):
    profile = checked(decisions(action="b"), **FORM)
    assert profile.decisions == 3
    assert profile.actions is None
    assert profile.action_names == ("a", "b")
    assert profile.action_count == 2
    assert profile.sum_deviation == 0.0


def test_declared_actions_are_those_of_every_decision(checked):
    profile = checked(decisions(), **FORM, actions=("b", "a", "c"))
    assert profile.actions == ("b", "a", "c")
    assert profile.action_names == ("a", "b", "c")
    assert profile.action_count == 3


@pytest.mark.parametrize(
    ("column", "value", "rule", "shown"),
    [
        ("propensity", None, "propensity_is_present", "null"),
        ("propensity", math.nan, "propensity_lies_in_0_1", "NaN is not a prob"),
        ("propensity", 1.2, "propensity_lies_in_0_1", "1.2 (percent? divide by 100"),
        ("propensity", 250.0, "propensity_lies_in_0_1", "250.0 (a density? contin"),
        (
            "propensity",
            math.log(0.25),
            "propensity_lies_in_0_1",
            "(a log-probability? its exp() is 0.25)",
        ),
        ("propensity", 0.0, "logged_action_was_possible", "a has probability 0"),
        ("propensity", -0.0, "logged_action_was_possible", "a has probability 0"),
        ("action", None, "action_is_present", "null"),
        ("action", "c", "logged_action_is_declared", "c is not in [a, b]"),
        ("action", "A ", "logged_action_is_declared", "did you mean a?"),
        ("reward", 3.0, "reward_is_in_range", "3.0"),
        ("reward", math.nan, "reward_is_in_range", "nan"),
        ("age", math.nan, "context_is_not_nan", "NaN"),
        ("decision_id", None, "decision_id_is_present", "null"),
        ("alone", None, "candidate_is_given (column:alone)", "null"),
        ("alone", 1.5, "candidate_probability_lies_in_0_1 (column:alone)", "1.5"),
        ("alone", math.nan, "candidate_probability_lies_in_0_1 (column:alone)", "nan"),
        ("picked", None, "candidate_is_given (column:picked)", "null"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_row(
    checked, tmp_path, column, value, rule, shown
):
    rows = decisions(**{column: value})
    with pytest.raises(ViolationsError) as error:
        checked(rows, "column:alone", "column:picked", context=("age",), **DECLARED)
    (broken,) = error.value.broken
    assert (broken.rule, broken.count) == (rule, 1)
    (row,) = broken.rows
    assert (row.file, row.row) == (str(tmp_path / "log.parquet"), 2)
    assert row.decision_id == (None if column == "decision_id" else "d1")
    assert shown in row.value


def test_an_id_that_stands_twice_is_refused(checked):
    with pytest.raises(ViolationsError, match=r"decision_id_is_unique \(2 rows\)"):
        checked(decisions(decision_id="d0"), **FORM)


def test_any_action_may_be_taken_where_none_is_declared(checked):
    assert checked(decisions(action="?"), **FORM).action_names == ("?", "a")


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Decimal(6, 3), pl.Int8])
def test_a_propensity_may_be_any_number(checked, dtype):
    rows = pl.DataFrame(decisions()).with_columns(
        pl.lit(1).cast(dtype).alias("propensity")
    )
    profile = checked(rows, **FORM)
    assert [warned.rule for warned in profile.warned] == ["logging_policy_explores"]


@pytest.mark.parametrize(
    ("columns", "spec", "said"),
    [
        ({"propensity": "half"}, (), "'propensity' is String; the propensity must be"),
        ({"propensity": [0.5]}, (), "'propensity' is List"),
        ({"alone": 1}, ("column:alone",), "must be a float, its probability of the"),
        ({"alone": True}, ("column:alone",), "or text, the action it takes"),
        ({"alone": [0.5, 0.5]}, ("column:alone",), "'alone' is List"),
    ],
)
def test_columns_of_the_wrong_type_are_refused(checked, columns, spec, said):
    rows = pl.DataFrame(decisions()).with_columns(
        pl.Series(name, [value] * 3) for name, value in columns.items()
    )
    with pytest.raises(LogError) as error:
        checked(rows, *spec, **FORM)
    assert said in str(error.value)


@pytest.mark.parametrize("spec", ["uniform", "first", "module:run", "row:module:run"])
def test_candidates_that_need_all_actions_are_refused_without_them(checked, spec):
    with pytest.raises(PolicyError) as error:
        checked(decisions(), "constant:a", spec, **FORM)
    assert f"without which there is no {spec!r}" in str(error.value)
    assert "Declare them" in str(error.value)


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ({"full_support": True}, 'probabilities = "propensity" alone'),
        ({"actions": ("a",)}, "full_support and actions are declared"),
        ({"columns": {"propensity": "p"}}, 'read with probabilities = "propensity"'),
        (FORM | {"actions": ("a", "a")}, "each action that could be taken, once"),
        (FORM | {"actions": ("a", "")}, "each action that could be taken, once"),
        (FORM | {"columns": {"logging_probabilities": "p"}}, "which is none of"),
        (FORM | {"columns": {"propensty": "p"}}, "did you mean propensity?"),
        (FORM | {"context": ("propensity",)}, "tells what the logging policy drew"),
        (FORM | {"beside": ("propensity",)}, "tells what the logging policy drew"),
        (FORM | {"context": ("actions",)}, "beside declared actions"),
    ],
)
def test_a_layout_that_no_log_can_have_is_refused(checked, layout, said):
    with pytest.raises(UsageError) as error:
        checked(decisions(), **layout)
    assert said in str(error.value)


@pytest.mark.parametrize("column", ["action", "reward", "arm"])
def test_a_candidate_cannot_stand_in_an_outcome(checked, column):
    rows = pl.DataFrame(decisions()).with_columns(arm="action")
    with pytest.raises(UsageError, match="cannot be a candidate"):
        checked(rows, f"column:{column}", columns={"action": "arm"}, **FORM)


def test_a_log_without_lists_is_told_how_a_propensity_is_read(checked):
    with pytest.raises(LogError, match=r'is read with probabilities = "propensity"\.$'):
        checked(decisions())


def test_a_log_without_its_propensity_carries_no_conclusion(checked):
    rows = pl.DataFrame(decisions()).drop("propensity")
    with pytest.raises(LogError, match="cannot be estimated afterwards"):
        checked(rows, **FORM)


def test_a_propensity_under_another_name_is_mapped(checked):
    rows = pl.DataFrame(decisions()).rename({"propensity": "pscore"})
    layout = FORM | {"columns": {"propensity": "pscore"}}
    assert checked(rows, "column:propensity", **layout).decisions == 3
    assert checked(rows, "column:pscore", **layout).decisions == 3


def test_a_propensity_may_be_context_where_lists_are_logged(checked):
    rows = pl.DataFrame(decisions()).with_columns(
        actions=pl.lit(["a", "b"]), logging_probabilities=pl.lit([0.5, 0.5])
    )
    assert checked(rows, context=("propensity",)).actions == ("a", "b")
