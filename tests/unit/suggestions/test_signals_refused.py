"""Logs of questions that are refused: every rule has a row that breaks it."""

from __future__ import annotations

import datetime as dt
import json
import math

import polars as pl
import pytest

from flows import queries
from flows.suggestions.broken import SignalsError
from flows.suggestions.signals import signals

KEY = bytes(16)
NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
GOOD = {
    "question": "wi-fi",
    "asked_at": "2026-03-01T12:00:00Z",
    "answers": [{"id": 607, "score": 74.21}, {"id": 599, "score": 74.15}],
}
# What a row has instead of GOOD, and what is told of it.
BROKEN = {
    "queries/10_row_can_be_read": [
        ({"asked_at": "2026-03-01T12:00:00"}, "asked_at 2026-03-01T12:00:00"),
        ({"asked_at": "2026-03-01"}, "asked_at 2026-03-01"),
        ({"asked_at": 1772366400}, "asked_at <number>"),
        ({"question": ["a"]}, 'question ["a"]'),
        ({"answers": {"id": 1}}, 'answers {"id":1}'),
        ({"is_test": "perhaps"}, "is_test perhaps"),
    ],
    "queries/20_question_is_present": [({"question": None}, "null")],
    "queries/21_asked_at_is_present": [({"asked_at": None}, "null")],
    "queries/30_answers_can_be_read": [
        ({"answers": [{"score": 50}]}, "no id"),
        ({"answers": [{"id": 1.5, "score": 50}]}, "id 1.5"),
        ({"answers": [{"id": "x", "score": 50}]}, "id x"),
        ({"answers": [{"id": 7, "score": "high"}]}, "score high"),
        ({"answers": [7]}, "no id"),
    ],
    "queries/31_scores_are_finite": [
        ({"answers": [{"id": 7, "score": math.nan}]}, "[nan]"),
        ({"answers": [{"id": 7, "score": math.inf}]}, "[inf]"),
    ],
    "queries/32_scores_lie_in_their_unit": [
        ({"answers": [{"id": 7, "score": 100.5}]}, "[100.5]"),
        ({"answers": [{"id": 7, "score": -1}]}, "[-1.0]"),
    ],
    "queries/33_all_answers_have_scores": [
        ({"answers": [{"id": 7, "score": 50}, {"id": 8}]}, "[50.0, NULL]"),
    ],
    "queries/40_event_says_one_thing": [
        ({"event_id": "e1", "question": "other"}, "e1"),
    ],
}
ELSEWHERE = {  # in test_feedback.py
    "feedback/10_record_can_be_read",
    "feedback/20_question_is_present",
    "feedback/40_event_says_one_thing",
}


@pytest.fixture
def refused(tmp_path):
    """Reads lines, or a frame, that are refused, and returns the error."""

    def read(log, unit=100):
        file = tmp_path / (
            "log.parquet" if isinstance(log, pl.DataFrame) else "l.jsonl"
        )
        if isinstance(log, pl.DataFrame):
            log.write_parquet(file)
        else:
            file.write_text("\n".join(map(json.dumps, log)))
        with pytest.raises(SignalsError) as told:
            signals([file], [], score_unit=unit, user_key=KEY)
        assert told.value.exit_code == 2
        return told.value

    return read


@pytest.mark.parametrize(
    ("rule", "instead", "value"),
    [(rule, *case) for rule, cases in BROKEN.items() for case in cases],
    ids=[f"{rule}-{n}" for rule, cases in BROKEN.items() for n in range(len(cases))],
)
def test_a_row_that_breaks_a_rule_is_told(refused, rule, instead, value):
    first = GOOD | ({"event_id": "e1"} if "event_id" in instead else {})
    error = refused([first, GOOD | instead])
    (broken,) = error.broken
    assert broken.rule == rule.split("/")[1][3:]
    assert broken.rows.filter(row=2)["value"].to_list() == [value]
    assert f"row 2: {value}" in str(error)
    assert "What to do: " in str(error)


def test_every_rule_has_rows_that_break_it():
    every = {
        name.removeprefix("suggestions/checks/")
        for log in ("queries", "feedback")
        for name in queries.names(f"suggestions/checks/{log}")
    }
    assert every == {*BROKEN, *ELSEWHERE}


def test_rows_that_keep_every_rule_are_read(tmp_path):
    file = tmp_path / "log.json"
    file.write_text(json.dumps([GOOD, GOOD | {"event_id": "e1"}] * 2))
    found = signals([file], [], score_unit=100, user_key=KEY)
    assert (found.counts.near, found.counts.repeated) == (3, 1)


def test_all_broken_rows_are_told_at_once(refused):
    rows = [GOOD | {"question": None}] * 7 + [GOOD | {"asked_at": None}] * 2
    error = refused([*rows, GOOD | {"answers": [{"id": 7, "score": math.nan}]}])
    assert [(b.rule, b.rows.height) for b in error.broken] == [
        ("question_is_present", 7),
        ("asked_at_is_present", 2),
        ("scores_are_finite", 1),
    ]
    assert "10 problems" in str(error)
    assert "and 2 more" in str(error)
    assert error.rows().height == 10
    assert error.rows().columns == ["rule", "file", "row", "value"]


def test_a_long_value_is_masked_and_then_cut(refused):
    text = f"{'x' * 66} ana.maria.lopez@example.com, and more"
    message = str(refused([GOOD | {"answers": [{"id": text, "score": 50}]}]))
    assert "xxx <email>, a ..." in message
    assert "ana" not in message


def test_a_line_that_is_no_json_is_told_by_its_row(tmp_path):
    file = tmp_path / "log.jsonl"
    text = "my mail is ana@example.com"
    file.write_text(f'{json.dumps(GOOD)}\n\n{{"question": "{text}", \n"x"\n')
    with pytest.raises(SignalsError) as told:
        signals([file], [], score_unit=100, user_key=KEY)
    assert [row for _, row, _ in told.value.broken[0].rows.rows()] == [2, 3]
    assert text not in str(told.value)


@pytest.mark.parametrize(
    ("column", "fact"),
    [
        (pl.lit(NOON.replace(tzinfo=None)).alias("asked_at"), "times with their zone"),
        (pl.lit("2026-03-01").alias("asked_at"), "times with their zone"),
        (pl.lit(1).alias("question"), "write text"),
        (pl.lit("yes").alias("is_test"), "write true or false"),
        (pl.lit(0.5).alias("user_id"), "write text or whole numbers"),
        (pl.lit(7).alias("answers"), "lists of struct with qna_id and score"),
        (pl.lit([7]).alias("answers"), "lists of struct with qna_id and score"),
        (
            pl.concat_list(pl.struct(score=pl.lit(0.5))).alias("answers"),
            "lists of struct with qna_id and score",
        ),
        (pl.lit(1).alias("isTest"), "is_test and isTest have one name"),
    ],
    ids=range(9),
)
def test_a_column_of_a_wrong_type_is_told(refused, column, fact):
    good = pl.DataFrame({"question": ["a"], "asked_at": [NOON], "is_test": [False]})
    assert fact in str(refused(good.with_columns(column)))


def test_a_column_that_is_missing_is_told_with_those_that_are_there(refused):
    message = str(refused(pl.DataFrame({"frage": ["a"]})))
    assert "no column 'question'; found: frage" in message
    assert "no column 'asked_at'; found: frage" in message


def test_a_parquet_file_is_told_by_row_too(refused):
    answers = pl.List(pl.Struct({"qna_id": pl.Float64, "score": pl.Float64}))
    rows = [
        ("a", NOON, [{"qna_id": 7.0, "score": 50.0}]),
        (None, None, [{"qna_id": 7.5, "score": math.nan}]),
    ]
    log = pl.DataFrame(
        rows,
        schema={
            "question": pl.String,
            "asked_at": pl.Datetime("us", "UTC"),
            "answers": answers,
        },
        orient="row",
    )
    assert [(b.rule, b.rows["row"].to_list()) for b in refused(log).broken] == [
        ("question_is_present", [2]),
        ("asked_at_is_present", [2]),
        ("answers_can_be_read", [2]),
        ("scores_are_finite", [2]),
    ]


def test_scores_without_a_declared_unit_are_refused(refused):
    message = str(refused([GOOD], unit=None))
    assert "score_unit is not declared" in message
    assert "74.21" in message


def test_a_unit_of_100_with_scores_of_1_at_most_is_refused(refused):
    low = GOOD | {"answers": [{"id": 7, "score": 0.74}, {"id": 8, "score": 0.7}]}
    message = str(refused([low]))
    assert "score_unit = 100 is declared, but the highest score" in message
    assert "0.74" in message


def test_a_log_of_unanswered_queries_contradicts_no_unit(tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps(GOOD | {"answers": [{"id": -1, "score": 0}]}))
    for unit in (1, 100):
        found = signals([file], [], score_unit=unit, user_key=KEY)
        assert found.counts.gap == 1
