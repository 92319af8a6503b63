"""Every file of sql/checks has a row that passes it and one that fails it.

A rule is asked alone, whatever rules come before it in a run; that rows count for the
first rule they break, and how they are told, is tested in tests/unit/decisions.
"""

from __future__ import annotations

import datetime as dt
import math

import polars as pl
import pytest

from flows import queries
from flows.decisions import Layout, check, measure, open_log
from flows.decisions.rules import load
from flows.errors import ViolationsError

FOLDERS = (
    "stop",
    "stop/lists",
    "stop/propensity",
    "candidates/lists",
    "candidates/propensity",
    "warn",
)
VALUES = {"sum_tolerance": 1e-6, "reward_lowest": 0.0, "reward_highest": 1.0}
GOOD = {
    "decision_id": "d1",
    "decided_at": dt.datetime(2019, 11, 30, 12, tzinfo=dt.UTC),
    "action": "a",
    "actions": ["a", "b"],
    "logging_probabilities": [0.25, 0.75],
    "reward": 1.0,
    "sample_probability": 1.0,
    "age": 30.0,
    "new": [0.5, 0.5],
    "propensity": 0.25,
    "alone": 0.5,
}
SCHEMA = {
    "decision_id": pl.String,
    "decided_at": pl.Datetime("us", "UTC"),
    "action": pl.String,
    "actions": pl.List(pl.String),
    "logging_probabilities": pl.List(pl.Float64),
    "reward": pl.Float64,
    "sample_probability": pl.Float64,
    "age": pl.Float64,
    "new": pl.List(pl.Float64),
    "propensity": pl.Float64,
    "alone": pl.Float64,
}
# What the row that passes, and each that fails, has instead of GOOD.
PASSING = {
    "stop/10_decision_id_is_present": {"decision_id": " "},
    "stop/11_decided_at_is_present": {},
    "stop/12_action_is_present": {"action": "not listed"},
    "stop/lists/13_actions_are_listed": {"actions": ["b"]},
    "stop/lists/14_probabilities_are_listed": {"logging_probabilities": [7.0]},
    "stop/lists/15_one_probability_an_action": {"logging_probabilities": [None, 2.0]},
    "stop/lists/16_no_action_is_null": {"actions": ["", ""]},
    "stop/lists/17_no_probability_is_null": {"logging_probabilities": [math.nan, 3.0]},
    "stop/lists/20_probabilities_lie_in_0_1": {"logging_probabilities": [0.0, 1.0]},
    "stop/lists/21_probabilities_sum_to_one": {
        "logging_probabilities": [0.2500005, 0.75]
    },
    "stop/lists/30_logged_action_is_listed": {"action": "b"},
    "stop/lists/31_logged_action_was_possible": {
        "logging_probabilities": [1e-300, 1.0]
    },
    "stop/40_reward_is_in_range": {"reward": None},
    "stop/41_context_is_not_nan": {"age": None},
    "stop/42_sample_probability_lies_in_0_1": {"sample_probability": 1e-300},
    "stop/propensity/14_propensity_is_present": {"propensity": 7.0},
    "stop/propensity/20_propensity_lies_in_0_1": {"propensity": 1.0},
    "stop/propensity/30_logged_action_is_declared": {"action": "b"},
    "stop/propensity/31_logged_action_was_possible": {"propensity": 1e-300},
    "candidates/lists/10_candidate_is_listed": {"new": [3.0]},
    "candidates/lists/11_one_candidate_probability_an_action": {"new": [None, 2.0]},
    "candidates/lists/12_no_candidate_probability_is_null": {"new": [math.nan]},
    "candidates/lists/20_candidate_probabilities_lie_in_0_1": {"new": [0.0, 1.0]},
    "candidates/lists/21_candidate_probabilities_sum_to_one": {"new": [0.5, 0.4999995]},
    "candidates/propensity/10_candidate_is_given": {"alone": 7.0},
    "candidates/propensity/20_candidate_probability_lies_in_0_1": {"alone": 0.0},
    "warn/10_logging_policy_explores": {"logging_probabilities": [0.001, 0.999]},
}
FAILING = {
    "stop/10_decision_id_is_present": [{"decision_id": None}, {"decision_id": ""}],
    "stop/11_decided_at_is_present": [{"decided_at": None}],
    "stop/12_action_is_present": [{"action": None}, {"action": ""}],
    "stop/lists/13_actions_are_listed": [{"actions": None}, {"actions": []}],
    "stop/lists/14_probabilities_are_listed": [
        {"logging_probabilities": None},
        {"logging_probabilities": []},
    ],
    "stop/lists/15_one_probability_an_action": [
        {"logging_probabilities": [1.0]},
        {"logging_probabilities": [0.2, 0.3, 0.5]},
    ],
    "stop/lists/16_no_action_is_null": [{"actions": ["a", None]}],
    "stop/lists/17_no_probability_is_null": [{"logging_probabilities": [1.0, None]}],
    "stop/lists/20_probabilities_lie_in_0_1": [
        {"logging_probabilities": [-0.1, 1.1]},
        {"logging_probabilities": [1.0 + 1e-9, 0.0]},
        {"logging_probabilities": [math.nan, 0.5]},
        {"logging_probabilities": [math.inf, 0.5]},
    ],
    "stop/lists/21_probabilities_sum_to_one": [
        {"logging_probabilities": [0.5, 0.499]},
        {"logging_probabilities": [0.5, math.nan]},
    ],
    "stop/lists/30_logged_action_is_listed": [{"action": "A"}, {"action": None}],
    "stop/lists/31_logged_action_was_possible": [{"logging_probabilities": [0.0, 1.0]}],
    "stop/40_reward_is_in_range": [
        {"reward": 1.0 + 1e-12},
        {"reward": -1e-12},
        {"reward": math.nan},
        {"reward": math.inf},
    ],
    "stop/41_context_is_not_nan": [{"age": math.nan}],
    "stop/42_sample_probability_lies_in_0_1": [
        {"sample_probability": value}
        for value in (None, math.nan, 0.0, -0.5, 1.0 + 1e-12, math.inf)
    ],
    "stop/propensity/14_propensity_is_present": [{"propensity": None}],
    "stop/propensity/20_propensity_lies_in_0_1": [
        {"propensity": value} for value in (-0.1, 1.0 + 1e-12, math.nan, math.inf)
    ],
    "stop/propensity/30_logged_action_is_declared": [{"action": "A"}, {"action": None}],
    "stop/propensity/31_logged_action_was_possible": [
        {"propensity": 0.0},
        {"propensity": -0.0},
        {"propensity": None},
    ],
    "candidates/lists/10_candidate_is_listed": [{"new": None}, {"new": []}],
    "candidates/lists/11_one_candidate_probability_an_action": [{"new": [1.0]}],
    "candidates/lists/12_no_candidate_probability_is_null": [{"new": [1.0, None]}],
    "candidates/lists/20_candidate_probabilities_lie_in_0_1": [
        {"new": [-0.1, 1.1]},
        {"new": [math.nan, 0.5]},
    ],
    "candidates/lists/21_candidate_probabilities_sum_to_one": [
        {"new": [0.5, 0.4]},
        {"new": [0.5, math.nan]},
    ],
    "candidates/propensity/10_candidate_is_given": [{"alone": None}],
    "candidates/propensity/20_candidate_probability_lies_in_0_1": [
        {"alone": value} for value in (-0.1, 1.0 + 1e-12, math.nan)
    ],
    "warn/10_logging_policy_explores": [{"logging_probabilities": [1.0, 0.0]}],
}
# Asked of several rows at once: two decisions that pass, two that do not.
PAIRS = {
    "repeated_actions": (
        ({}, {"decision_id": "d2", "actions": ["b", "a"]}),
        ({"actions": ["a", "a"]}, {"decision_id": "d2", "actions": ["a", "a"]}),
    ),
    "duplicate_ids": (({}, {"decision_id": "d2"}), ({}, {"action": "b"})),
}
# Not a predicate over decisions: how the checks run, and what the log holds.
MACHINERY = {
    "action_names",
    "broken_rows",
    "model_ids",
    "pass",
    "profile",
    "sample_probabilities",
    "unmatched_decisions",
}
# Tested with candidate tables, in tests/unit/policies.
TABLES = {"candidate_table"}


@pytest.fixture
def opened(write_log):
    def open_rows(*changes, form="lists"):
        frame = pl.DataFrame([GOOD | change for change in changes], schema=SCHEMA)
        lists = Layout(context=("age",))
        alone = Layout(context=("age",), probabilities="propensity", actions=("a", "b"))
        return open_log(
            [str(write_log(frame))],
            lists if form == "lists" else alone,
            dated=None,
            with_ids=None,
            extra=["new"] if form == "lists" else ["alone"],
        )

    return open_rows


def rule_of(file):
    folder, stem = file.rsplit("/", 1)
    candidate = "alone" if form_of(file) == "propensity" else "new"
    pieces = {"candidate": candidate, "unlisted": "0"}
    (rule,) = [r for r in load(folder, **pieces) if r.name == stem.split("_", 1)[1]]
    return rule


def form_of(file):
    return "propensity" if "/propensity/" in file else "lists"


@pytest.mark.parametrize("file", PASSING)
def test_a_rule_holds_for_the_row_that_passes_and_not_for_those_that_fail(file, opened):
    rule, changes = rule_of(file), [PASSING[file], *FAILING[file]]
    with queries.connection() as con:
        measure(con, opened(*changes, form=form_of(file)))
        rows = queries.execute(
            con,
            f"select coalesce({rule.holds}, false), ({rule.value})::varchar "  # noqa: S608
            "from measured_decisions order by row",
            VALUES,
        )
    assert [holds for holds, _ in rows] == [True] + [False] * len(FAILING[file])


@pytest.mark.parametrize("file", PAIRS)
def test_a_check_of_several_rows_passes_and_fails(file, opened):
    passing, failing = PAIRS[file]
    with queries.connection() as con:
        check(con, opened(*passing), reward_range=(0, 1))
        with pytest.raises(ViolationsError) as error:
            check(con, opened(*failing), reward_range=(0, 1))
    (broken,) = error.value.broken
    assert broken.count == 2
    assert [row.row for row in broken.rows] == [1, 2]


def test_the_warning_about_exploring_holds_for_propensities_too(opened):
    rule = rule_of("warn/10_logging_policy_explores")
    rows = [{"propensity": 0.999}, {"propensity": 1.0}]
    with queries.connection() as con:
        measure(con, opened(*rows, form="propensity"))
        found = queries.execute(
            con,
            f"select {rule.holds} from measured_decisions order by row",  # noqa: S608
        )
    assert found == [(True,), (False,)]


def test_every_rule_says_what_holds_and_what_to_do():
    for folder in FOLDERS:
        for rule in load(folder, candidate="new", unlisted="0"):
            assert rule.sentence.endswith("."), rule.name
            assert rule.remedy.endswith("."), rule.name


def test_every_file_has_a_row_that_passes_and_one_that_fails():
    files = {
        name.removeprefix("checks/")
        for folder in FOLDERS
        for name in queries.names(f"checks/{folder}")
    }
    assert set(PASSING) == set(FAILING) == files
    assert all(FAILING.values())
    single = {name.removeprefix("checks/") for name in queries.names("checks")}
    assert single == set(PAIRS) | MACHINERY | TABLES
