"""Every layout of the probabilities, and every type, gives the canonical numbers."""

from __future__ import annotations

import polars as pl
import pytest

from flows import queries

COMMAND = ("--candidate", "uniform", "--reward-range", 0, 1, "--floor", 0.05, "--json")
BOTH = ("logging_probabilities", "new")


@pytest.fixture(params=["closed", "open"])
def log(request, decisions):
    return decisions(request.param)


def as_pairs(log, name, probability):
    """The list columns as one list of struct each."""
    return log.with_columns(
        pl.Series(
            column,
            [
                [{name: a, probability: p} for a, p in zip(*row, strict=True)]
                for row in log.select("actions", column).iter_rows()
            ],
        )
        for column in BOTH
    ).drop("actions")


def as_shares(log, column):
    """One dict a row: the probability of each action, null where it is not listed."""
    rows = log.select("actions", column).iter_rows()
    return [
        {name: dict(zip(*row, strict=True)).get(name) for name in ("a", "b", "c")}
        for row in rows
    ]


def as_struct(log):
    return log.with_columns(
        pl.Series(column, as_shares(log, column)) for column in BOTH
    ).drop("actions")


def as_wide(log):
    columns = [
        pl.DataFrame(as_shares(log, column)).select(pl.all().name.prefix(prefix))
        for column, prefix in zip(BOTH, ("p_", "q_"), strict=True)
    ]
    return pl.concat([log.drop("actions", *BOTH), *columns], how="horizontal")


def as_map(log, file):
    """The list columns as Parquet maps, which DuckDB writes."""
    log.write_parquet(file)
    as_maps = ", ".join(f"map(actions, {column}) as {column}" for column in BOTH)
    rows = f"select * exclude (actions) replace ({as_maps}) from '{file}'"  # noqa: S608
    with queries.connection() as con:
        queries.execute(con, f"copy ({rows}) to '{file}.map' (format parquet)")
    return f"{file}.map"


@pytest.mark.parametrize("method", ["mixture", "compat"])
def test_every_layout_gives_the_canonical_numbers(
    untaken, log, write_log, tmp_path, method
):
    command = (*COMMAND, "--method", method)
    new = ("--candidate", "column:new")
    expected = untaken("evaluate", write_log(log), *new, *command)
    assert expected.code == 0, expected.err
    pairs = write_log(as_pairs(log, "action", "probability"), "structs.parquet")
    entries = write_log(as_pairs(log, "key", "value"), "entries.parquet")
    struct = write_log(as_struct(log), "struct.parquet")
    for file, form in (
        (pairs, "structs"),
        (entries, "map"),
        (struct, "map"),
        (as_map(log, tmp_path / "map.parquet"), "map"),
    ):
        found = untaken("evaluate", file, *new, *command, "--probabilities", form)
        assert found.out == expected.out, (file, found.err)
    wide = untaken(
        *("evaluate", write_log(as_wide(log), "wide.parquet")),
        *("--candidate", "column:q_*", *command, "--probabilities", "wide"),
        *("--column", "logging_probabilities=p_*"),
    )
    assert wide.out.replace("column:q_*", "column:new") == expected.out, wide.err


@pytest.mark.parametrize(
    "change",
    [
        pl.col("action").cast(pl.Categorical),
        pl.col("action").cast(pl.Enum(["a", "b", "c"])),
        pl.col("actions").cast(pl.List(pl.Categorical)),
        pl.col("decision_id").cast(pl.Categorical),
        pl.col("reward").cast(pl.Int8),
        pl.col("reward").cast(pl.Float32),
        pl.col("reward").cast(pl.Boolean),
        pl.col("reward").cast(pl.Decimal(4, 2)),
    ],
)
def test_other_types_give_the_canonical_numbers(untaken, log, write_log, change):
    command = ("--candidate", "column:new", *COMMAND)
    expected = untaken("evaluate", write_log(log), *command)
    found = untaken(
        "evaluate", write_log(log.with_columns(change), "other.parquet"), *command
    )
    assert found.code == 0, found.err
    assert found.out == expected.out


def test_arrays_of_fixed_size_give_the_canonical_numbers(untaken, decisions, write_log):
    log = decisions("closed")
    arrays = log.with_columns(
        pl.col("actions").list.to_array(3),
        pl.col("logging_probabilities").list.to_array(3),
        pl.col("new").list.to_array(3),
    )
    command = ("--candidate", "column:new", *COMMAND)
    expected = untaken("evaluate", write_log(log), *command)
    found = untaken("evaluate", write_log(arrays, "arrays.parquet"), *command)
    assert found.code == 0, found.err
    assert found.out == expected.out


def test_actions_may_be_whole_numbers(untaken, log, write_log):
    number = {"a": 1, "b": 20, "c": 3}
    numbered = log.with_columns(
        pl.col("action").replace_strict(number, return_dtype=pl.Int32),
        pl.col("actions").list.eval(
            pl.element().replace_strict(number, return_dtype=pl.Int32)
        ),
    )
    command = ("--candidate", "column:new", *COMMAND)
    expected = untaken("evaluate", write_log(log), *command)
    found = untaken("evaluate", write_log(numbered, "numbered.parquet"), *command)
    assert found.code == 0, found.err
    assert found.out == expected.out
    constant = untaken(
        *("evaluate", write_log(numbered, "numbered.parquet")),
        *("--candidate", "constant:20", *COMMAND),
    )
    assert constant.candidates[0]["diagnostics"]["unknown_actions"] == []


def test_floats_of_32_bits_are_near_the_canonical_numbers(untaken, log, write_log):
    single = log.with_columns(
        pl.col("logging_probabilities", "new").cast(pl.List(pl.Float32))
    )
    command = ("--candidate", "column:new", *COMMAND)
    expected = untaken("evaluate", write_log(log), *command).candidates[0]["value"]
    found = untaken("evaluate", write_log(single, "single.parquet"), *command)
    value = found.candidates[0]["value"]
    for key in ("estimate", "lower", "upper"):
        assert value[key] == pytest.approx(expected[key], abs=1e-5)


def test_an_action_twice_among_structs_is_refused(untaken, decisions, write_log):
    repeating = decisions("closed").with_columns(actions=pl.lit(["a", "a", "b"]))
    pairs = as_pairs(repeating, "action", "probability")
    message = untaken(
        *("evaluate", write_log(pairs), *COMMAND, "--probabilities", "structs")
    ).refusal()
    assert "actions_are_distinct" in message


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("structs", "must be lists of {action, probability}"),
        ("map", "must be a map of text to number, or a struct"),
        ("wide", "needs one `*` in 'logging_probabilities'"),
    ],
)
def test_a_log_of_another_layout_is_refused(untaken, decisions, write_log, form, said):
    log = write_log(decisions("closed"))
    message = untaken("evaluate", log, *COMMAND, "--probabilities", form).refusal()
    assert said in message


def test_wide_columns_must_be_numbers_that_are_there(untaken, log, write_log):
    wide = as_wide(log).with_columns(p_note=pl.lit("x"))
    command = (*COMMAND, "--probabilities", "wide", "--column")
    message = untaken(
        *("evaluate", write_log(wide), *command, "logging_probabilities=p_*")
    ).refusal()
    assert "'p_note' is String; a probability must be a number" in message
    message = untaken(
        *("evaluate", write_log(wide), *command, "logging_probabilities=r_*")
    ).refusal()
    assert "no column matches 'r_*'; found: decision_id" in message


@pytest.mark.parametrize("form", ["lists", "structs", "map"])
def test_the_logged_probabilities_may_be_named_as_a_candidate(
    untaken, log, write_log, form
):
    name = {"structs": ("action", "probability"), "map": ("key", "value")}
    rows = log if form == "lists" else as_pairs(log, *name[form])
    ran = untaken(
        *("evaluate", write_log(rows), "--candidate", "column:logging_probabilities"),
        *(*COMMAND, "--probabilities", form),
    )
    assert ran.code == 0, ran.err
    column = next(c for c in ran.candidates if c["spec"].startswith("column"))
    assert column["improvement"]["estimate"] == pytest.approx(0, abs=1e-6)
    assert column["diagnostics"]["mean_weight"] == pytest.approx(1, abs=1e-6)


def test_a_column_that_names_an_unlisted_action_is_told(untaken, decisions, write_log):
    pairs = as_pairs(decisions("closed"), "action", "probability").with_columns(
        new=pl.lit(
            [{"action": "B", "probability": 0.5}, {"action": "a", "probability": 0.5}]
        )
    )
    ran = untaken(
        *("evaluate", write_log(pairs), "--candidate", "column:new", *COMMAND),
        *("--probabilities", "structs"),
    )
    column = ran.candidates[0]
    assert column["missing"]["unsupported_probability"] == pytest.approx(0.5)
    assert column["diagnostics"]["unknown_actions"] == [{"action": "B", "nearest": "b"}]
