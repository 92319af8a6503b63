from __future__ import annotations

import shlex
import tomllib

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.errors import UsageError
from flows.job import load
from flows.starter import job_name, quoted, write_job

PAIRS = pl.List(pl.Struct({"action": pl.String, "probability": pl.Float64}))
ENTRIES = pl.List(pl.Struct({"key": pl.String, "value": pl.Float64}))
LISTS = {"actions": pl.List(pl.String), "logging_probabilities": pl.List(pl.Float64)}
RANGE = "# reward_range = [lowest, highest]"
FLOOR = "# propensity_floor = least"


@pytest.fixture
def start(tmp_path):
    """Writes a log of one file with these columns, and a job file beside it."""

    def write(columns, folder="shop", files=1, **more):
        home = tmp_path / folder
        home.mkdir()
        schema = {
            "decision_id": pl.String,
            "decided_at": pl.Datetime("us", "UTC"),
            "action": pl.String,
            "reward": pl.Float64,
        }
        for number in range(files):
            pl.DataFrame(schema=schema | columns | more).write_parquet(
                home / f"log{number}.parquet"
            )
        out = home / "untaken.toml"
        told = write_job([str(home / "*.parquet")], out)
        return out, told

    return write


def filled(out):
    """The settings of the file once the reader has filled in what is left blank."""
    text = out.read_text(encoding="utf-8")
    text = text.replace(RANGE, "reward_range = [0, 1]").replace("[0, 1]", "[0.0, 1.0]")
    out.write_text(text.replace(FLOOR, "propensity_floor = 0.01"), encoding="utf-8")
    return load(out)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_read_back_as_it_was(text):
    assert tomllib.loads(f"{quoted(text)} = {quoted(text)}") == {text: text}


def test_text_in_another_encoding_is_refused():
    with pytest.raises(UsageError, match="rename"):
        quoted("caf\udce9")


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("shop", "shop"),
        ('the "shop"', "the _shop"),
        ("back\\slash\x7f\n", "back_slash"),
        ("Café, menú", "Cafe_ menu"),
        (".hidden", "hidden"),
        ("商店", "job"),
        ("v1.2 new-shop", "v1.2 new-shop"),
    ],
)
def test_any_folder_gives_a_job_that_loads(start, folder, name):
    out, told = start(LISTS, folder)
    assert filled(out).name == name
    assert told.endswith(f"Then: untaken check {shlex.quote(str(out))}")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0")))
def test_a_job_is_named_by_plain_characters(tmp_path_factory, text):
    name = job_name(tmp_path_factory.getbasetemp() / f"x{text}.toml")
    assert all(mark.isascii() and (mark.isalnum() or mark in " ._-") for mark in name)
    assert name[0].isalnum()


def test_a_job_file_with_a_name_of_its_own_names_the_job(tmp_path):
    assert job_name(tmp_path / "coffee shop.toml") == "coffee shop"


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        ("structs", PAIRS),
        ("map", ENTRIES),
        ("map", pl.Struct({"news": pl.Float64, "sport": pl.Float64})),
    ],
)
def test_forms_that_hold_their_actions_need_no_column_of_actions(start, form, dtype):
    out, told = start({"logging_probabilities": dtype, "ranker": dtype})
    text = out.read_text()
    assert f'probabilities = "{form}"' in text
    assert "no column looks like" not in text
    assert "No column was recognised" not in told
    job = filled(out)
    assert [each.spec for each in job.candidates] == ["column:ranker", "uniform"]


def test_one_column_an_action_is_the_wide_form(start):
    wide = {f"p_{name}": pl.Float64 for name in ("news", "sport", "weather")}
    other = {f"new_policy_{name}": pl.Float32 for name in ("sport", "news", "weather")}
    out, told = start(wide | other | {"device": pl.String, "p99": pl.Float64})
    text = out.read_text()
    assert 'columns = { logging_probabilities = "p_*" }' in text
    assert "No column was recognised" not in told
    assert 'context = []  # further columns here: "device", "p99"\n' in text
    job = filled(out)
    assert job.layout.probabilities == "wide"
    assert [(n.name, n.spec) for n in job.candidates] == [
        ("new_policy", "column:new_policy_*"),
        ("uniform", "uniform"),
    ]


@pytest.mark.parametrize(
    "columns",
    [
        {"p_news": pl.Float64},
        {"p_news": pl.Float64, "p_sport": pl.String},
        {"price_net": pl.Float64, "price_gross": pl.Float64},
    ],
)
def test_columns_that_may_be_no_distribution_are_not_taken_for_one(start, columns):
    out, told = start(columns)
    assert 'probabilities = "lists"' in out.read_text()
    assert told.splitlines()[1] == (
        "No column was recognised as: actions, logging_probabilities."
    )


def test_lists_beat_columns_of_floats(start):
    out, _ = start(LISTS | {"p_news": pl.Float64, "p_sport": pl.Float64})
    assert filled(out).layout.probabilities == "lists"


def test_list_columns_of_any_name_become_candidates(start):
    names = ["my ranker", 'the "new" one', "back\\slash", "a.b", "uniform", "logging"]
    out, _ = start(LISTS | dict.fromkeys(names, pl.List(pl.Float64)))
    job = filled(out)
    assert [each.spec for each in job.candidates] == [
        *(f"column:{name}" for name in names),
        "uniform",
    ]
    assert [each.name for each in job.candidates] == [
        *names[:4],
        "uniform_column",
        "logging_column",
        "uniform",
    ]


def test_other_names_are_mapped(start):
    out, _ = start({"Event_ID": pl.String, "arms": pl.List(pl.String)})
    assert 'actions = "arms"' in out.read_text()


def test_the_file_says_that_order_matters_and_counts_its_logs(start):
    text = start(LISTS)[0].read_text()
    assert "Their order matters: the first get the narrowest intervals." in text
    assert "from the columns of 1 log file;" in text
    assert "of 2 log files;" in start(LISTS, "two", files=2)[0].read_text()


def test_an_existing_file_is_kept(start):
    out, _ = start(LISTS)
    with pytest.raises(UsageError, match="exists"):
        write_job([str(out.parent / "*.parquet")], out)
