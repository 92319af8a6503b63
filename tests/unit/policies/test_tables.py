"""Candidate tables: what is refused, with counts and entries, and how keys join."""

from __future__ import annotations

import math

import polars as pl
import pytest

COMMAND = ("--reward-range", 0, 1, "--floor", 0.05, "--context", "place")
PLACES = ["north", "south", "east"]


def table(**changes):
    """A look-up by place over a, b and c."""
    columns = {
        "place": PLACES,
        "actions": [["a", "b", "c"]] * 3,
        "probabilities": [[0.5, 0.25, 0.25]] * 3,
    }
    return pl.DataFrame(columns | changes)


@pytest.fixture
def evaluated(untaken, decisions, write_log):
    """Evaluates a candidate table on the closed log."""

    def run(rows, *options, spec="{}"):
        log = write_log(decisions("closed"))
        file = write_log(rows, "table.parquet")
        return untaken(
            "evaluate", log, "--candidate", spec.format(file), *COMMAND, *options
        )

    return run


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"probabilities": [[0.5, 0.25, 0.25], [0.5, 0.5, 0.5], [1.0, 0.0, 0.0]]},
            "  south: probabilities sum to 1.5",
        ),
        (
            {"probabilities": [[1.5, -0.5, 0.0]] + [[1.0, 0.0, 0.0]] * 2},
            "  north: probabilities lie outside 0 to 1: [1.5, -0.5, 0.0]",
        ),
        (
            {"probabilities": [[math.nan, 0.5, 0.5]] + [[1.0, 0.0, 0.0]] * 2},
            "  north: probabilities lie outside 0 to 1: [nan, 0.5, 0.5]",
        ),
        (
            {"probabilities": [[None, 0.5, 0.5]] + [[1.0, 0.0, 0.0]] * 2},
            "  north: a probability is null",
        ),
        (
            {"place": ["north", "north", "east"]},
            "  north: the key stands more than once",
        ),
        ({"place": ["north", "south", None]}, "a key is null"),
    ],
)
def test_entries_that_are_no_distributions_are_listed(evaluated, changes, said):
    message = evaluated(table(**changes)).refusal()
    assert "entries are not distributions (key" in message
    assert said in message


def test_an_action_listed_twice_is_refused(evaluated):
    rows = table(actions=[["a", "a", "c"]] * 3)
    assert "List each action once" in evaluated(rows).refusal()
    message = evaluated(
        table()
        .explode("actions", "probabilities")
        .select("place", action=pl.lit("a"), probability="probabilities")
    ).refusal()
    assert "List each action once" in message


def test_lists_of_unequal_length_are_refused(evaluated):
    rows = table(probabilities=[[0.5, 0.5]] * 3)
    assert "List each action once, with one probability" in evaluated(rows).refusal()


def test_a_table_of_another_shape_is_refused_with_what_was_found(evaluated):
    message = evaluated(table().rename({"probabilities": "scores"})).refusal()
    assert "found: place, actions, scores" in message


def test_keys_that_are_not_declared_are_refused(evaluated):
    message = evaluated(table().rename({"place": "city"})).refusal()
    assert "found besides: city. Declare them as context or drop them." in message
    message = evaluated(table().drop("place")).refusal()
    assert "has no key column; add decision_id" in message


def test_a_name_is_picked_only_from_a_table_of_candidates(evaluated):
    message = evaluated(table(), spec="{}@typo").refusal()
    assert "has no column `candidate` to pick 'typo' from" in message


def test_places_without_an_entry_are_counted_on_both_sides(evaluated):
    message = evaluated(table(place=["north", "south", "west"])).refusal()
    assert "20 decisions have no entry" in message
    assert "1 of 3 entries belong to no decision" in message


def by_floor(dtype):
    return pl.DataFrame(
        {
            "floor_number": pl.Series([0, 1]).cast(dtype),
            "actions": [["a", "b", "c"]] * 2,
            "probabilities": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        }
    )


def test_keys_join_by_value_among_numbers_and_among_names(evaluated, decisions):
    options = ("--context", "floor_number", "--json")
    numbers = [
        evaluated(by_floor(dtype), *options).out
        for dtype in (pl.Int64, pl.Int8, pl.UInt16)
    ]
    assert len(set(numbers)) == 1
    categories = table().with_columns(pl.col("place").cast(pl.Categorical))
    assert evaluated(categories, "--json").out == evaluated(table(), "--json").out
    ids = decisions("closed").select("decision_id", "actions", probabilities="new")
    categories = ids.with_columns(pl.col("decision_id").cast(pl.Categorical))
    assert evaluated(categories, "--json").out == evaluated(ids, "--json").out


def test_broken_numbers_as_keys_of_whole_ones_are_refused(evaluated):
    # Cast to the log's type, 1.0 and 1.2 would be one key, and decisions count twice.
    message = evaluated(by_floor(pl.Float64), "--context", "floor_number").refusal()
    assert "'floor_number' is Float64" in message
    assert "write it alike" in message


def test_zero_of_either_sign_is_one_key(untaken, write_log):
    rows = [
        {
            "action": "a",
            "actions": ["a", "b"],
            "logging_probabilities": [0.5, 0.5],
            "reward": 1.0,
            "level": level,
        }
        for level in (0.0, -0.0, 1.0)
    ]
    entries = pl.DataFrame(
        {
            "level": [0.0, 1.0],
            "actions": [["a", "b"]] * 2,
            "probabilities": [[0.25, 0.75], [1.0, 0.0]],
        }
    )
    doubled = pl.concat([entries, entries.with_columns(level=pl.lit(-0.0)).head(1)])

    def evaluated_by(table):
        return untaken(
            "evaluate",
            write_log(pl.DataFrame(rows)),
            *("--candidate", write_log(table, "entries.parquet"), "--context", "level"),
            *("--reward-range", "0", "1", "--floor", "0.5", "--json"),
        )

    assert evaluated_by(entries).document["candidates"][0]["decisions"] == 3
    assert "the key stands more than once" in evaluated_by(doubled).refusal()


def test_ids_may_be_whole_numbers_on_either_side(untaken, decisions, write_log):
    log = decisions("open").with_row_index("number")
    outputs = set()
    for own in (pl.String, pl.Int64):
        for theirs in (pl.String, pl.Int32):
            table = log.select(
                pl.col("number").cast(theirs).alias("decision_id"),
                "actions",
                probabilities="new",
            )
            ran = untaken(
                "evaluate",
                write_log(
                    log.with_columns(pl.col("number").cast(own).alias("decision_id"))
                ),
                *("--candidate", write_log(table, "table.parquet"), *COMMAND, "--json"),
            )
            assert ran.code == 0, ran.err
            outputs.add(ran.out)
    assert len(outputs) == 1


def test_keys_of_another_type_are_refused(evaluated):
    message = evaluated(by_floor(pl.String), "--context", "floor_number").refusal()
    assert "the key 'floor_number' is String in" in message
    assert "and Int64 in the log; write it alike" in message


def test_one_of_several_candidates_is_picked_by_name(evaluated):
    rows = pl.concat(
        [
            table().with_columns(candidate=pl.lit("ours")),
            table(probabilities=[[0.0, 0.0, 1.0]] * 3).with_columns(
                candidate=pl.lit("theirs")
            ),
        ]
    )
    message = evaluated(rows).refusal()
    assert "the table holds ours, theirs; write FILE@NAME to pick one" in message
    picked = [
        evaluated(rows, "--json", spec=f"{{}}@{name}").candidates[0]["value"]
        for name in ("ours", "theirs")
    ]
    alone = evaluated(table(), "--json").candidates[0]["value"]
    assert picked[0] == alone
    assert picked[1] != alone


def test_a_table_that_is_not_there_is_named(untaken, decisions, write_log, tmp_path):
    absent = tmp_path / "absent.parquet"
    message = untaken(
        *("evaluate", write_log(decisions("closed")), "--candidate", absent, *COMMAND)
    ).refusal()
    assert f"no Parquet file found for {absent}" in message


def test_a_file_that_is_no_parquet_is_named(untaken, decisions, write_log, tmp_path):
    file = tmp_path / "table.parquet"
    file.write_text("place,action\n")
    message = untaken(
        *("evaluate", write_log(decisions("closed")), "--candidate", file, *COMMAND)
    ).refusal()
    assert f"{file}: " in message
    assert "cannot be read as Parquet" in message
