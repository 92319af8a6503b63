"""A log that carries no conclusion is refused: exit 2, with file, row, id and value."""

from __future__ import annotations

import datetime as dt
import math

import polars as pl
import pytest

COMMAND = ("--candidate", "column:new", "--reward-range", 0, 1, "--floor", 0.1)
NOON = dt.datetime(2019, 11, 30, 12, tzinfo=dt.UTC)


def decisions(count=3, **changes):
    """Decisions between a and b; `changes` replace the column of the second one."""
    rows = [
        {
            "decision_id": f"d{number}",
            "decided_at": NOON,
            "action": "a",
            "actions": ["a", "b"],
            "logging_probabilities": [0.5, 0.5],
            "reward": 1.0,
            "age": 30.0,
            "sample_probability": 1.0,
            "new": [0.25, 0.75],
        }
        for number in range(count)
    ]
    rows[1] |= changes
    return rows


def test_an_empty_folder_is_refused(untaken, tmp_path):
    message = untaken("evaluate", tmp_path, *COMMAND).refusal()
    assert f"no Parquet file found for {tmp_path}" in message


def test_each_pattern_that_matches_nothing_is_named(untaken, tmp_path, write_log):
    log = write_log(decisions())
    absent = [tmp_path / "day=*/x.parquet", tmp_path / "other.parquet"]
    message = untaken("evaluate", log, *absent, *COMMAND).refusal()
    for pattern in absent:
        assert str(pattern) in message


def test_a_log_without_rows_is_refused(untaken, write_log):
    log = write_log(pl.DataFrame(decisions()).clear())
    message = untaken("evaluate", log, *COMMAND).refusal()
    assert "no decision in 1 files" in message


def test_unreadable_files_among_good_ones_are_listed(untaken, tmp_path, write_log):
    write_log(decisions(), "log/0.parquet")
    (tmp_path / "log" / "1.parquet").write_bytes(b"PAR1 cut short")
    (tmp_path / "log" / "2.parquet").write_bytes(b"")
    message = untaken("evaluate", tmp_path / "log", *COMMAND).refusal()
    assert "2 of 3 files cannot be read as Parquet; nothing was scored" in message
    assert str(tmp_path / "log" / "1.parquet") in message
    assert str(tmp_path / "log" / "2.parquet") in message


def test_a_file_cut_off_in_the_middle_is_refused(untaken, tmp_path, write_log):
    write_log(decisions(), "log/0.parquet")
    whole = write_log(decisions(500), "whole.parquet").read_bytes()
    broken = bytearray(whole)
    middle = len(whole) // 3
    broken[4:middle] = bytes(middle - 4)
    (tmp_path / "log" / "1.parquet").write_bytes(broken)
    message = untaken("evaluate", tmp_path / "log", *COMMAND).refusal()
    assert "1 of 2 files cannot be read as Parquet" in message
    assert str(tmp_path / "log" / "1.parquet") in message


def test_files_of_different_types_are_refused(untaken, tmp_path, write_log):
    frame = pl.DataFrame(decisions())
    write_log(frame.with_columns(pl.col("reward").cast(pl.Int64)), "log/0.parquet")
    write_log(frame.with_columns(reward=0.5), "log/1.parquet")
    message = untaken("evaluate", tmp_path / "log", *COMMAND).refusal()
    assert "column 'reward' is Int64 in" in message
    assert f"{tmp_path / 'log' / '1.parquet'} has Float64" in message


@pytest.mark.parametrize("first", [True, False])
def test_a_column_that_some_files_lack_is_refused(untaken, tmp_path, write_log, first):
    frame = pl.DataFrame(decisions())
    other = frame.drop("decision_id")
    write_log(other if first else frame, "log/0.parquet")
    write_log(frame if first else other, "log/1.parquet")
    message = untaken("evaluate", tmp_path / "log", *COMMAND).refusal()
    assert "column 'decision_id' is missing in 1 of 2 files" in message


def test_missing_columns_are_all_named_with_those_found(untaken, write_log):
    frame = pl.DataFrame(decisions()).rename({"action": "arm", "reward": "click"})
    message = untaken("evaluate", write_log(frame), *COMMAND).refusal()
    assert "column 'action' is missing" in message
    assert "column 'reward' is missing" in message
    assert "decision_id, decided_at, arm, actions" in message
    assert "Map other names by `columns`" in message


def test_a_candidate_in_an_unknown_column_is_refused(untaken, write_log):
    message = untaken(
        *("evaluate", write_log(decisions()), *COMMAND, "--candidate", "column:newer"),
    ).refusal()
    assert "column 'newer' is missing" in message
    assert "sample_probability, new" in message


@pytest.mark.parametrize(
    ("column", "rule"),
    [
        ("decision_id", "decision_id_is_present"),
        ("decided_at", "decided_at_is_present"),
        ("action", "action_is_present"),
        ("actions", "actions_are_listed"),
        ("logging_probabilities", "probabilities_are_listed"),
        ("sample_probability", "sample_probability_lies_in_0_1"),
        ("new", "candidate_is_listed (column:new)"),
    ],
)
def test_a_null_is_refused_with_its_row(untaken, write_log, column, rule):
    log = write_log(decisions(**{column: None}))
    message = untaken("evaluate", log, *COMMAND).refusal()
    assert "1 violation among 3 rows; nothing was scored." in message
    assert f"{rule} (1 row): " in message
    who = None if column == "decision_id" else "d1"
    assert f"{log}, row 2, decision {who}: null" in message
    assert "What to do: " in message


@pytest.mark.parametrize("column", ["reward", "age"])
def test_a_null_may_stand_where_nothing_is_claimed(untaken, write_log, column):
    log = write_log(decisions(**{column: None}))
    ran = untaken("evaluate", log, *COMMAND, "--context", "age", "--json")
    assert ran.code == 0
    assert ran.candidates[0]["missing"]["reward"] == (column == "reward")


@pytest.mark.parametrize(
    ("column", "value", "rule"),
    [
        ("reward", math.nan, "reward_is_in_range"),
        ("reward", math.inf, "reward_is_in_range"),
        ("age", math.nan, "context_is_not_nan"),
        ("sample_probability", math.nan, "sample_probability_lies_in_0_1"),
        ("sample_probability", 1.5, "sample_probability_lies_in_0_1"),
        ("logging_probabilities", [0.5, math.nan], "probabilities_lie_in_0_1"),
        ("logging_probabilities", [0.5, None], "no_probability_is_null"),
        ("logging_probabilities", [0.5, 0.5, 0.0], "one_probability_an_action"),
        ("logging_probabilities", [1.0], "one_probability_an_action"),
        ("logging_probabilities", [], "probabilities_are_listed"),
        ("logging_probabilities", [0.6, 0.5], "probabilities_sum_to_one"),
        ("actions", ["a", None], "no_action_is_null"),
        ("actions", ["a", "b", "c"], "one_probability_an_action"),
        ("actions", [], "actions_are_listed"),
        ("actions", ["a", "a"], "actions_are_distinct"),
        ("action", "c", "logged_action_is_listed"),
        ("new", [0.5, math.nan], "candidate_probabilities_lie_in_0_1 (column:new)"),
        ("new", [0.5, None], "no_candidate_probability_is_null (column:new)"),
        ("new", [1.0], "one_candidate_probability_an_action (column:new)"),
        ("new", [0.5, 0.4], "candidate_probabilities_sum_to_one (column:new)"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_row(
    untaken, write_log, column, value, rule
):
    log = write_log(decisions(**{column: value}))
    message = untaken("evaluate", log, *COMMAND, "--context", "age").refusal()
    assert f"\n{rule} (1 row): " in message
    assert f"{log}, row 2, decision d1: " in message


def test_nan_is_found_whatever_wrote_the_file(untaken, tmp_path):
    """A file's least and greatest value say nothing of NaN, and readers trust them."""
    frame = pl.DataFrame(decisions(2, reward=math.nan))
    for statistics in (True, False):
        file = tmp_path / f"{statistics}.parquet"
        frame.write_parquet(file, statistics=statistics)
        assert "reward_is_in_range (1 row)" in untaken("evaluate", file, *COMMAND).err


def test_every_broken_rule_is_told_at_once_and_all_rows_are_listed(
    untaken, tmp_path, write_log
):
    rows = decisions(12)
    for row in rows[:7]:
        row["reward"] = 3.0
    rows[8]["logging_probabilities"] = [0.5, 0.4]
    rows[9] |= {"decision_id": "d10", "new": [0.5, 0.1]}
    log, listing = write_log(rows), tmp_path / "bad" / "rows.parquet"
    message = untaken("evaluate", log, *COMMAND, "--violations", listing).refusal()
    assert "11 violations among 12 rows" in message
    assert message.count(", row ") == 5 + 1 + 1 + 2
    assert "  and 2 more\n" in message
    assert f"All of them: {listing}" in message
    listed = pl.read_parquet(listing)
    assert listed.columns == ["rule", "file", "row", "decision_id", "value"]
    assert dict(listed["rule"].value_counts().iter_rows()) == {
        "reward_is_in_range": 7,
        "probabilities_sum_to_one": 1,
        "candidate_probabilities_sum_to_one (column:new)": 1,
        "decision_id_is_unique": 2,
    }
    assert listed["row"].min() == 1
    assert set(listed["file"]) == {str(log)}


def test_an_id_that_stands_in_two_files_is_refused(untaken, tmp_path, write_log):
    write_log(decisions(2), "log/0.parquet")
    write_log(decisions(2, decision_id="d7"), "log/1.parquet")
    message = untaken("evaluate", tmp_path / "log", *COMMAND).refusal()
    assert "decision_id_is_unique (2 rows)" in message
    assert f"{tmp_path / 'log' / '0.parquet'}, row 1, decision d0" in message
    assert f"{tmp_path / 'log' / '1.parquet'}, row 1, decision d0" in message


def test_an_id_may_stand_once_in_each_slot(untaken, write_log):
    rows = [row | {"decision_id": "d", "slot": n} for n, row in enumerate(decisions())]
    assert untaken("evaluate", write_log(rows), *COMMAND).code == 0
    rows[2]["slot"] = 1
    message = untaken("evaluate", write_log(rows), *COMMAND).refusal()
    assert "decision_id_is_unique (2 rows)" in message


def test_naive_times_are_refused(untaken, write_log):
    frame = pl.DataFrame(decisions()).with_columns(
        pl.col("decided_at").dt.replace_time_zone(None)
    )
    message = untaken("evaluate", write_log(frame), *COMMAND).refusal()
    assert "'decided_at' is Datetime(" in message
    assert "timestamp with a time zone" in message
    assert "write it with its zone" in message


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        ("reward", pl.String),
        ("action", pl.Float64),
        ("logging_probabilities", pl.List(pl.String)),
        ("actions", pl.List(pl.Float64)),
        ("new", pl.List(pl.String)),
        ("decision_id", pl.Float64),
    ],
)
def test_columns_of_the_wrong_type_are_refused(untaken, write_log, column, dtype):
    frame = pl.DataFrame(decisions())
    if isinstance(dtype, pl.List) and dtype.inner == pl.Float64:
        values = pl.Series([[1.0, 2.0]] * 3, dtype=dtype)
    elif dtype == pl.Float64:
        values = pl.Series([1.0, 2.0, 3.0])
    else:
        values = frame[column].cast(dtype)
    log = write_log(frame.with_columns(values.alias(column)))
    message = untaken("evaluate", log, *COMMAND).refusal()
    assert "columns of the wrong type" in message
    assert f"{column!r} is " in message


def test_a_logged_action_in_another_spelling_is_refused_with_the_nearest(
    untaken, write_log
):
    message = untaken("evaluate", write_log(decisions(action="A ")), *COMMAND).refusal()
    assert "A  is not in [a, b]; did you mean a?" in message


def test_a_candidate_in_another_spelling_is_missing_and_told(untaken, write_log):
    command = (
        "evaluate",
        write_log(decisions()),
        *COMMAND,
        "--candidate",
        "constant:B",
    )
    ran = untaken(*command, "--json")
    assert ran.code == 0
    constant = ran.candidates[1]
    assert constant["missing"]["support"] == 3
    assert constant["diagnostics"]["unknown_actions"] == [
        {"action": "B", "nearest": "b"}
    ]
    assert (
        "action B is never listed in the log; did you mean b?" in untaken(*command).out
    )


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("file_row_number", "a column named 'file_row_number'"),
        ("Reward", "columns 'reward' and 'Reward'"),
    ],
)
def test_columns_whose_names_would_be_taken_for_others_are_refused(
    untaken, write_log, column, said
):
    log = write_log(pl.DataFrame(decisions()).with_columns(pl.lit(1).alias(column)))
    assert said in untaken("evaluate", log, *COMMAND).refusal()


@pytest.mark.parametrize("column", ["filename", "file", "row", 'it"s', "rule", "value"])
def test_context_and_cuts_may_have_any_other_name(untaken, write_log, column):
    log = write_log(pl.DataFrame(decisions()).with_columns(pl.lit("x").alias(column)))
    ran = untaken("evaluate", log, *COMMAND, "--by", column, "--context", column)
    assert ran.code == 0, ran.err
    assert f"{column} = x" in ran.out


@pytest.mark.parametrize("folder", ["[1]", "day=2019-11-30", "a b", "it's", "100%"])
def test_a_log_may_lie_in_a_folder_of_any_name(untaken, write_log, folder):
    log = write_log(decisions(), f"{folder}/0.parquet")
    bad = write_log(decisions(reward=3.0), f"{folder}/1.parquet")
    assert untaken("evaluate", log, *COMMAND).code == 0
    assert f"{bad}, row 2, decision d1" in untaken("evaluate", bad, *COMMAND).refusal()
    table = pl.DataFrame(decisions()).select(
        "decision_id", "actions", probabilities="new"
    )
    found = write_log(table, f"{folder}/table.parquet")
    assert untaken("evaluate", log, *COMMAND, "--candidate", found).code == 0
