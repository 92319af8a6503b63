"""Case files: the form of document 001, its types, and its context."""

from __future__ import annotations

import datetime as dt
import json

import polars as pl
import pytest

from flows.errors import LogError, UsageError
from flows.importers import jsonl


def case(name="t001", *, reward=1, given=None, **expected):
    asked = {"topic": "technical", "length": "short"} if given is None else given
    told = {"action": "small", "logging_probabilities": {"small": 0.7, "large": 0.3}}
    line = {"id": name, "input": asked, "expected": told | {"reward": reward}}
    line["expected"] |= expected
    return line


@pytest.fixture
def import_cases(tmp_path):
    def run(*lines, max_reject_share=1.0, **options):
        file = tmp_path / "cases.jsonl"
        texts = [li if isinstance(li, str) else json.dumps(li) for li in lines]
        file.write_text("\n".join(texts))
        out = tmp_path / "imported"
        found = jsonl([file], out, max_reject_share=max_reject_share, **options)
        log = pl.read_parquet(out / "decisions/*/*.parquet")
        return found, log, pl.read_parquet(out / "rejects.parquet")

    return run


def test_the_documents_case_becomes_a_decision(import_cases):
    found, log, _ = import_cases(case(), context=["topic", "length"])
    assert log.rows(named=True) == [
        {
            "decision_id": "t001",
            "action": "small",
            "actions": ["small", "large"],
            "logging_probabilities": [0.7, 0.3],
            "reward": 1.0,
            "topic": "technical",
            "length": "short",
        }
    ]
    assert (found.lines, found.kept, found.days) == (1, 1, ())


def test_undeclared_input_is_no_context(import_cases):
    _, log, _ = import_cases(case())
    assert log.columns == [
        "decision_id",
        "action",
        "actions",
        "logging_probabilities",
        "reward",
    ]


@pytest.mark.parametrize(
    ("reward", "expected"), [(True, 1.0), (False, 0.0), (None, None), (0.25, 0.25)]
)
def test_true_is_one_and_an_absent_reward_stays_absent(import_cases, reward, expected):
    _, log, _ = import_cases(case(reward=reward))
    assert log["reward"].to_list() == [expected]


@pytest.mark.parametrize(
    ("changed", "reason", "value"),
    [
        ({"reward": "1"}, "the reward is no number", '"1"'),
        ({"reward": [1]}, "the reward is no number", "[1]"),
        (
            {"logging_probabilities": {"small": "0.7", "large": 0.3}},
            "a probability is no number",
            '"0.7"',
        ),
        (
            {"logging_probabilities": {"small": True, "large": 0.0}},
            "a probability is no number",
            "true",
        ),
        (
            {"logging_probabilities": [0.7, 0.3]},
            "expected.logging_probabilities is no object",
            None,
        ),
        ({"action": None}, "expected.action is missing or no name", None),
        ({"action": True}, "expected.action is missing or no name", None),
    ],
)
def test_types_are_refused_before_they_are_cast(import_cases, changed, reason, value):
    found, log, rejects = import_cases(case(**changed), case("t002"))
    assert log["decision_id"].to_list() == ["t002"]
    assert rejects.select("line", "reason", "value").rows() == [(1, reason, value)]
    assert found.rejected == 1


def test_context_keeps_the_type_that_all_its_values_have(import_cases):
    inputs = [
        {"n": 1, "x": 1, "b": True, "user": {"age": 40}, "mix": "1", "o": {"k": 1}},
        {"n": 2, "x": 1.5, "b": False, "user": {"age": 41}, "mix": 1, "o": {}},
        {},
    ]
    cases = [case(f"t{i}", given=given) for i, given in enumerate(inputs)]
    context = ["n", "x", "b", "user.age", "mix", "o"]
    _, log, _ = import_cases(*cases, context=context)
    assert log["n"].to_list() == [1, 2, None]
    assert log["x"].to_list() == [1.0, 1.5, None]
    assert log["b"].to_list() == [True, False, None]
    assert log["user.age"].to_list() == [40, 41, None]
    assert log["mix"].to_list() == ['"1"', "1", None]
    assert log["o"].to_list() == ['{"k":1}', "{}", None]
    assert [log[n].dtype for n in ("n", "x")] == [pl.Int64, pl.Float64]


def test_a_context_field_that_no_case_has_is_refused(import_cases):
    with pytest.raises(LogError, match=r"no case has 'topics'.*did you mean topic"):
        import_cases(case(), context=["topics"])
    with pytest.raises(UsageError, match="'reward' is a column of every log"):
        import_cases(case(), context=["reward"])


def test_times_need_their_zone(import_cases):
    naive = case() | {"decided_at": "2024-05-01T10:00:00"}
    zoned = case("t002") | {"decided_at": "2024-05-01T23:30:00-02:00"}
    found, log, _ = import_cases(naive, zoned)
    assert found.count("decided_at is no time with a zone") == 1
    expected = dt.datetime(2024, 5, 2, 1, 30, tzinfo=dt.UTC)
    assert log["decided_at"].to_list() == [expected]
    assert found.days == ("2024-05-02",)


def test_a_log_without_ids_has_none_and_one_missing_id_is_refused(import_cases):
    bare = case()
    del bare["id"]
    _, log, _ = import_cases(bare)
    assert "decision_id" not in log.columns
    found, _, _ = import_cases(bare, case())
    assert found.count("id is missing or no name") == 1


def test_lines_that_are_no_case_are_counted(import_cases):
    found, _, rejects = import_cases(case(), "", "{", "[1]", '{"id": 1}', "7")
    assert (found.kept, found.skipped, found.rejected) == (1, 1, 4)
    assert rejects["line"].to_list() == [2, 3, 4, 5, 6]
    with pytest.raises(LogError, match="were rejected"):
        import_cases(case(), "{", max_reject_share=0.05)


def test_a_folder_of_ones_own_begins_no_job(import_cases, tmp_path):
    (tmp_path / "imported/decisions").mkdir(parents=True)
    _, log, _ = import_cases(case(), is_own=True)
    assert log.height == 1
    assert not (tmp_path / "imported/untaken.toml").exists()
