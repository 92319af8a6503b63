"""`untaken interval` and `untaken plan` as they are run, over a night's results."""

from __future__ import annotations

import datetime as dt
import runpy
import shutil
from pathlib import Path

import polars as pl
import pytest

CONFTEST = Path(__file__).parents[1] / "unit" / "warehouse" / "conftest.py"
MADE = runpy.run_path(str(CONFTEST))
CANDIDATES = 'new = "column:new"\nb = "constant:b"\nsame = "logging"'
NIGHTS = 4


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Four nights of 120 decisions, then the log is gone."""
    place = MADE["Place"](tmp_path_factory.mktemp("results") / "place")
    place.job(candidates=CANDIDATES)
    text = place.file.read_text()
    compare = '[[compare]]\ncandidates = ["b", "new"]\n[outputs]'
    place.file.write_text(text.replace("[outputs]", compare))
    place.days(range(1, NIGHTS + 1))
    place.night()
    shutil.rmtree(place.root / "log")
    return place


@pytest.fixture
def ask(results, untaken):
    """Asks about candidate `b` unless another one is named."""

    def command(name, *arguments):
        if "--candidate" not in arguments:
            arguments = ("--candidate", "b", *arguments)
        return untaken(name, results.file, *arguments)

    return command


def test_an_interval_is_told_in_a_few_lines(ask):
    told = ask("interval")
    assert (told.code, told.err) == (0, "")
    first, second, _, value, improvement = told.out.splitlines()
    assert first == "b, 2024-05-01 to 2024-05-04, since the start"
    assert second == ("480 decisions; method mixture, confidence 0.95, every look")
    assert value.startswith("value ")
    assert improvement.startswith("improvement ")


def test_the_document_says_what_was_asked_and_answered(ask):
    made = ask("interval", "--last", "2d", "--where", "device = 'phone'", "--json")
    document = made.document
    assert made.code == 0
    assert document["schema"] == "untaken.interval/1"
    assert (document["first"], document["last"]) == ("2024-05-03", "2024-05-04")
    assert (document["nights"], document["is_since_start"]) == (2, False)
    assert document["where"] == "device = 'phone'"
    assert (document["segment_by"], document["segments"]) == ("device", ["phone"])
    assert {n["look"] for n in document["estimates"].values()} == {"single look"}
    phones = [(MADE["day"](number)["device"] == "phone").sum() for number in (3, 4)]
    assert document["decisions"] == sum(phones)
    assert len(document["assumptions"]) == 4
    assert ask("interval", "--last", "2", "--json").document["nights"] == 2


def test_the_numbers_are_the_night_s_own(ask, results):
    rows = results.estimates("2024-05-03").filter(
        (pl.col("window") == "since_start") & (pl.col("segment") == "desk")
    )
    asked = ("--until", "2024-05-03", "--where", "device = 'desk'", "--json")
    found = ask("interval", *asked).document["estimates"]
    for name, made in found.items():
        row = rows.filter(candidate="b", estimand=name).to_dicts()[0]
        for end in ("estimate", "lower", "upper"):
            assert made[end] == pytest.approx(row[end], rel=1e-11)


def test_a_declared_difference_has_one_estimate(ask):
    document = ask("interval", "--other", "new", "--json").document
    assert (document["candidate"], document["other"]) == ("b", "new")
    assert list(document["estimates"]) == ["difference"]


def test_the_policy_that_ran_has_a_value_alone(ask):
    document = ask("interval", "--candidate", "logging", "--json").document
    assert list(document["estimates"]) == ["value"]
    window = ask("interval", "--candidate", "logging", "--last", "1", "--json")
    assert list(window.document["estimates"]) == ["value"]


def test_a_cut_nobody_declared_says_that_nothing_may_rest_on_it(ask):
    told = ask("interval", "--where", "device in ('desk', 'phone')").out
    assert "exploratory" in told
    assert "no decision may rest on it" in told


def test_a_window_begins_no_earlier_than_the_log_and_ends_no_later(ask):
    asked = ("--since", "2001-01-01", "--until", "2030-01-01", "--json")
    document = ask("interval", *asked).document
    assert (document["first"], document["last"]) == ("2024-05-01", "2024-05-04")
    assert ask("interval", "--last", "999999d", "--json").document["nights"] == NIGHTS


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--since", "2024-05-02", "--last", "2d"), "leave out one"),
        (("--last", "two"), "is not a number of nights, such as 14d"),
        (("--last", "0"), "is not a number of nights"),
        (("--since", "2024-05-03", "--until", "2024-05-02"), "later than 2024-05-02"),
        (("--until", "2024-04-30"), "the first one is 2024-05-01"),
        (("--where", "country = 'pt'"), "Declared in [evaluation] segments: device"),
        (("--where", "device = 'tv'"), "There are device: 'desk', 'phone'"),
        (("--where", "device ="), "syntax error"),
        (("--candidate", "B"), "did you mean b?"),
        (("--other", "same"), "declared: b minus new"),
    ],
)
def test_what_cannot_be_answered_is_refused(ask, arguments, told):
    assert told in ask("interval", *arguments).refusal()


def test_without_a_night_the_command_to_run_is_named(untaken, tmp_path):
    place = MADE["Place"](tmp_path / "place")
    refusal = untaken("interval", place.file, "--candidate", "new").refusal()
    assert f"run: untaken nightly {place.file}" in refusal
    assert not place.results.exists()


def test_a_plan_says_how_many_decisions_and_nights_more(ask):
    now = ask("interval", "--json").document["estimates"]["improvement"]
    threshold = now["lower"] + 0.6 * (now["estimate"] - now["lower"])
    made = ask("plan", "--above", threshold, "--json")
    document = made.document
    assert (made.code, document["schema"]) == (0, "untaken.plan/1")
    assert (document["state"], document["now"]) == ("expected", now)
    assert document["decisions_a_night"] == 120
    # Half-widths fall with the root: .4 of the width is about six times the log.
    assert 8 <= document["more_nights"] <= 60
    assert document["more_decisions"] == 120 * document["more_nights"]
    night = dt.date(2024, 5, 4) + dt.timedelta(days=document["more_nights"])
    assert document["expected_night"] == str(night)
    smallest = [one["improvement"] for one in document["smallest_improvements"]]
    assert smallest[0] == pytest.approx(now["estimate"] - now["lower"], rel=1e-6)
    assert sorted(smallest, reverse=True) == smallest
    told = ask("plan", "--above", threshold).out
    assert f"after about {document['more_nights']} more nights" in told
    assert "A projection, not a promise" in told


@pytest.mark.parametrize(
    ("arguments", "state"),
    [
        (("--above", "-0.9"), "passed"),
        (("--below", "0.9"), "passed"),
        (("--above", "0.9"), "never"),
        (("--below", "-0.9"), "never"),
        (("--estimand", "value", "--above", "0.01"), "passed"),
        (("--candidate", "logging", "--estimand", "value", "--below", "0.1"), "never"),
    ],
)
def test_a_plan_says_what_passed_and_what_never_will(ask, arguments, state):
    made = ask("plan", *arguments, "--json")
    assert (made.code, made.document["state"]) == (0, state)
    assert made.document["more_nights"] is None
    assert (made.document["towards"] is None) == (state == "passed")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--above", "0", "--below", "1"), "leave out one"),
        (("--estimand", "value"), "a value needs a threshold"),
        (("--candidate", "same"), "it improves by 0"),
        (("--candidate", "nobody"), "There are: logging, new, b, same"),
    ],
)
def test_what_cannot_be_projected_is_refused(ask, arguments, told):
    assert told in ask("plan", *arguments).refusal()


def test_without_any_reward_there_is_nothing_to_project(untaken, tmp_path):
    place = MADE["Place"](tmp_path / "place")
    place.job(candidates='new = "column:new"')
    rows = MADE["day"](1).with_columns(reward=pl.lit(None, pl.Float64))
    place.write(rows, "1.parquet")
    place.night()
    made = untaken("plan", place.file, "--candidate", "new")
    assert made.code == 3
    assert "no reward has arrived" in made.out
    assert "nothing can be projected" in made.out
    assert untaken("interval", place.file, "--candidate", "new").code == 3
