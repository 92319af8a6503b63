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
    assert "full_support" not in out.read_text()


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


def rows(count=6, **columns):
    """A log of the probability of the logged action alone."""
    frame = pl.DataFrame(
        {
            "decision_id": [f"d{number}" for number in range(count)],
            "action": [str(number % 3) for number in range(count)],
            "propensity": 0.5,
            "position": 1,
            "reward": 1.0,
        }
    ).with_columns(decided_at=pl.lit("2019-11-30").str.to_datetime(time_zone="UTC"))
    return frame.with_columns(
        pl.Series(name, values if isinstance(values, list) else [values] * count)
        for name, values in columns.items()
    )


@pytest.fixture
def written(tmp_path):
    """Writes a log of these rows; returns the text of its job file, and it read."""

    def write(frame):
        out = tmp_path / f"job-{len(list(tmp_path.iterdir()))}.toml"
        frame.write_parquet(out.with_suffix(".parquet"))
        write_job([str(out.with_suffix(".parquet"))], out)
        text = out.read_text(encoding="utf-8")
        return text, tomllib.loads(text)

    return write


def test_a_propensity_without_lists_is_a_form_of_its_own(written):
    text, job = written(rows())
    decisions = job["decisions"]
    assert decisions["probabilities"] == "propensity"
    assert decisions["full_support"] is False
    assert decisions["actions"] == ["0", "1", "2"]
    assert 'actions = ["0", "1", "2"]  # ?' in text
    assert "These are the 3 that were." in text
    assert "no column looks like" not in text
    assert 'further columns here: "position"\n' in text


def test_a_job_for_propensities_loads(start):
    out, told = start({"pscore": pl.Float64})
    assert "No column was recognised" not in told
    layout = filled(out).layout
    assert layout.probabilities == "propensity"
    assert layout.columns == {"propensity": "pscore"}
    assert (layout.full_support, layout.actions) == (False, ())


def test_a_propensity_is_a_float_beside_no_other_distribution(written, start):
    _, job = written(rows(propensity=1))
    assert job["decisions"]["probabilities"] == "lists"
    out, _ = start(LISTS | {"propensity": pl.Float64, "age": pl.Float64})
    text = out.read_text()
    assert 'probabilities = "lists"' in text
    assert 'further columns here: "age"\n' in text


def test_actions_are_written_in_an_order_that_can_be_read(written):
    _, job = written(rows(12, action=[str(number) for number in range(12)]))
    assert job["decisions"]["actions"] == [str(number) for number in range(12)]
    _, job = written(rows(3, action=["b", 'the "a"', None]))
    assert job["decisions"]["actions"] == ["b", 'the "a"']


def test_too_many_actions_are_left_to_the_reader(written):
    text, job = written(rows(300, action=[f"item {number}" for number in range(300)]))
    assert job["decisions"]["actions"] == []
    assert "that were" not in text


def test_several_models_ask_whether_the_policy_learned(written):
    text, job = written(rows(model_id=["m1", "m2"] * 3))
    assert job["evaluation"]["logging"] == "fixed"
    assert 'logging = "fixed"  # ?' in text
    assert '2 models made these decisions: "m1", "m2". If rewards changed' in text
    text, _ = written(rows(model_id=[f"m{number}" for number in range(6)]))
    assert '6 models made these decisions: "m0", "m1", "m2" and 3 more. If' in text


@pytest.mark.parametrize("model", ["m1", None, ["m1", "m2"]])
def test_one_model_or_none_that_can_be_read_asks_nothing(written, model):
    frame = rows().with_columns(pl.Series("model_id", [model] * 6))
    assert "logging =" not in written(frame)[0]


def test_a_sampled_log_asks_for_the_least_probability(written):
    text, _ = written(rows(sample_probability=0.5))
    assert "# least_sample_probability = least\n" in text
    assert "least_sample_probability" not in written(rows())[0]


def test_a_cost_is_told_where_no_reward_is_found(written):
    text, _ = written(rows(_label_cost=-1.0).drop("reward"))
    assert '"_label_cost" looks like a cost: write a column reward = 0 - cost.' in text
    assert "looks like a cost" not in written(rows(_label_cost=-1.0))[0]
