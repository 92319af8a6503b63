"""Bad input for a night: a clear message, the right code, nothing lost."""

from __future__ import annotations

import datetime as dt
import os
import runpy
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import flows
from flows.errors import UntakenError

ROOT = Path(flows.__path__[0]).parent
CONFTEST = Path(__file__).parents[1] / "unit" / "warehouse" / "conftest.py"
MADE = runpy.run_path(str(CONFTEST))
CALLABLES = """
import polars as pl

def raises(decisions):
    raise RuntimeError("no model tonight")

def short(decisions):
    return [[1.0, 0.0, 0.0]]

def halves(decisions):
    return [[0.5, 0.0, 0.0]] * decisions.height
"""
SMALL_FILES = """
import resource, runpy, signal, sys
made = runpy.run_path(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
made["Place"].at(made["Path"](sys.argv[2])).night()
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A job with one good night."""
    place = MADE["Place"](tmp_path_factory.mktemp("made") / "place")
    place.job(candidates='new = "column:new"')
    place.days([1])
    place.night()
    return place


@pytest.fixture
def place(made, tmp_path):
    """The same in a place of its own."""
    return made.copied(tmp_path / "place")


def second(**columns):
    return MADE["day"](2).with_columns(**columns)


def first_row(column, value):
    """The second day with another value in its first row."""
    is_first = pl.int_range(pl.len()) == 0
    return second(**{column: pl.when(is_first).then(value).otherwise(column)})


def refused(place):
    before = place.state()
    with pytest.raises(UntakenError) as caught:
        place.night()
    assert caught.value.exit_code == 2
    assert place.state() == before
    return str(caught.value)


NOTHING = pl.lit(None)
NAN = float("nan")
ROWS = {
    "no id": (lambda: first_row("decision_id", NOTHING), "decision_id_is_present"),
    "no action": (lambda: first_row("action", NOTHING), "action_is_present"),
    "no actions": (lambda: first_row("actions", NOTHING), "actions_are_listed"),
    "a null action": (
        lambda: first_row("actions", pl.lit(["a", None, "c"])),
        "no_action_is_null",
    ),
    "no probabilities": (
        lambda: first_row("logging_probabilities", NOTHING),
        "probabilities_are_listed",
    ),
    "a null probability": (
        lambda: first_row("logging_probabilities", pl.lit([0.5, None, 0.5])),
        "no_probability_is_null",
    ),
    "a NaN probability": (
        lambda: first_row("logging_probabilities", pl.lit([0.5, NAN, 0.5])),
        "probabilities_lie_in_0_1",
    ),
    "log-probabilities": (
        lambda: second(
            logging_probabilities=pl.col("logging_probabilities").list.eval(
                pl.element().log()
            )
        ),
        "probabilities_lie_in_0_1",
    ),
    "unequal lengths": (
        lambda: first_row("logging_probabilities", pl.lit([0.5, 0.5])),
        "one_probability_an_action",
    ),
    "an action twice": (
        lambda: first_row("actions", pl.lit(["a", "a", "a"])),
        "actions_are_distinct",
    ),
    "a name in capitals": (
        lambda: first_row("action", pl.lit("A")),
        "logged_action_is_listed",
    ),
    "a NaN reward": (lambda: first_row("reward", NAN), "reward_is_in_range"),
    "an id twice": (
        lambda: first_row("decision_id", pl.lit("2-1")),
        "decision_id_is_unique",
    ),
    "a null candidate": (lambda: first_row("new", NOTHING), "new"),
}


@pytest.mark.parametrize("rows", ROWS.values(), ids=list(ROWS))
def test_a_row_that_cannot_be_is_refused_by_its_rule(place, rows):
    make, rule = rows
    place.write(make(), MADE["name_of"](2))
    message = refused(place)
    assert rule in message
    assert "part-0.parquet, row " in message


FILES = {
    "a column is missing": (
        lambda: second().drop("reward"),
        r"column 'reward' is missing in 1 of 2 files.*found there: decision_id",
    ),
    "a naive time": (
        lambda: second(decided_at=pl.col("decided_at").dt.replace_time_zone(None)),
        "decided_at",
    ),
    "a text for a number": (lambda: second(reward=pl.lit("1")), "'reward' is"),
}


@pytest.mark.parametrize("files", FILES.values(), ids=list(FILES))
def test_a_file_that_does_not_fit_is_refused_before_a_row_is_read(place, files):
    make, told = files
    place.write(make(), MADE["name_of"](2))
    message = refused(place).replace("\n", " ")
    assert pl.Series([message]).str.contains(told).item()


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("raises", "no model tonight"),
        ("short", "returned 1 rows"),
        ("halves", "does not return distributions"),
        ("absent", "cannot import"),
    ],
)
def test_a_function_that_fails_stops_the_night(place, function, told):
    (place.root / "tonight.py").write_text(CALLABLES)
    place.job(candidates=f'new = "column:new"\nf = "tonight:{function}"')
    before = place.state()
    with pytest.raises(UntakenError, match=told) as caught:
        place.night()
    assert caught.value.exit_code == 2
    assert place.state() == before


def test_candidates_that_differ_by_case_are_missing_and_named(place):
    place.job(candidates='big = "constant:A"')
    assert place.night().exit_code == 0
    (told,) = place.document("2024-05-01")["candidates"]
    assert told["missing"]["support"] == 120
    assert told["diagnostics"]["unknown_actions"] == [{"action": "A", "nearest": "a"}]


def test_a_full_disk_loses_nothing(place):
    place.days([2], size=20_000)
    before = place.state()
    run = subprocess.run(
        [sys.executable, "-P", "-c", SMALL_FILES, CONFTEST, place.root],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert "File too large" in run.stderr
    after = place.state()
    assert {name: after[name] for name in before} == before
    assert place.night().exit_code == 0
    assert place.document("2024-05-02")["log"]["decisions"] == 20_120
    assert not list(place.results.glob(".work-*"))


def test_a_log_that_was_mended_goes_on(place):
    place.write(first_row("reward", NAN), MADE["name_of"](2))
    refused(place)
    place.days([2])
    assert place.night().exit_code == 0
    assert place.document("2024-05-02")["log"]["decisions"] == 240


def test_a_placeholder_for_a_time_is_no_night(place):
    far = dt.datetime(9999, 12, 31, 23, tzinfo=dt.UTC)
    place.write(first_row("decided_at", far), MADE["name_of"](2))
    assert "stand for no time" in refused(place)
