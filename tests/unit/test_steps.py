"""Which nights are run, how a run ends, what `check` and `report` do without one."""

from __future__ import annotations

import datetime as dt
import runpy
from pathlib import Path

import polars as pl
import pytest

from flows.asked import Asked, nights
from flows.errors import LogError, PolicyError, UsageError
from flows.warehouse.days import ends_at

MADE = runpy.run_path(str(Path(__file__).parent / "warehouse" / "conftest.py"))
KNOWN = [dt.date(2024, 5, day) for day in (1, 2, 4)]


def ends(zone):
    return lambda night: ends_at(night, zone)


@pytest.fixture
def place(tmp_path):
    place = MADE["Place"](tmp_path / "place")
    place.job(candidates='new = "column:new"')
    return place


def write(place, number, **columns):
    rows = MADE["day"](number).with_columns(**columns)
    place.write(rows, MADE["name_of"](number))


def test_without_a_wish_the_newest_night_is_run():
    assert nights(Asked(), KNOWN, ends("UTC")) == (KNOWN[-1],)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (Asked(as_of="2024-05-02"), [1]),
        (Asked(first=KNOWN[1]), [1, 2]),
        (Asked(last=KNOWN[1]), [0, 1]),
        (Asked(first=dt.date(2024, 5, 2), last=dt.date(2024, 5, 3)), [1]),
        (Asked(as_of="2024-05-03T00:00:00Z"), [1]),
        (Asked(as_of="2024-05-02T23:59:59Z"), [0]),
        (Asked(as_of="2024-05-03T02:00:00+02:00"), [1]),
        (Asked(as_of="2024-05-03 00:00"), [1]),  # without a zone: UTC
        (Asked(as_of="2030-01-01T00:00:00Z"), [2]),
    ],
)
def test_nights_are_asked_for_by_date_range_or_instant(asked, found):
    assert nights(asked, KNOWN, ends("UTC")) == tuple(KNOWN[number] for number in found)


def test_an_instant_is_judged_by_the_border_of_the_job_s_zone():
    asked = Asked(as_of="2024-05-03T03:59:59Z")
    assert nights(asked, KNOWN, ends("America/New_York")) == (KNOWN[0],)
    asked = Asked(as_of="2024-05-03T04:00:00Z")
    assert nights(asked, KNOWN, ends("America/New_York")) == (KNOWN[1],)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            Asked(as_of="2024-05-03"),
            r"on 2024-05-03.* 3 nights .*; nearest: 2024-05-02 and 2024-05-04",
        ),
        (Asked(first=dt.date(2024, 6, 1)), "no decision from 2024-06-01"),
        (
            Asked(first=dt.date(2024, 6, 1), last=dt.date(2024, 6, 2)),
            "no decision from 2024-06-01 to 2024-06-02.* nearest: 2024-05-04",
        ),
        (Asked(as_of="2024-05-01T12:00:00Z"), "no night had ended at 2024-05-01T12"),
        (Asked(as_of="yesterday"), "neither a date .* nor an instant"),
        (Asked(as_of="2024-05-01", first=KNOWN[0]), "leave out --from and --to"),
        (Asked(first=KNOWN[2], last=KNOWN[0]), "--from 2024-05-04 is later than --to"),
    ],
)
def test_a_night_that_cannot_be_run_is_refused_with_those_there_are(asked, told):
    with pytest.raises((LogError, UsageError), match=told) as caught:
        nights(asked, KNOWN, ends("UTC"))
    assert caught.value.exit_code == 2


def test_weights_that_contradict_the_log_are_withheld_and_end_with_2(place):
    wrong = pl.lit([0.8, 0.1, 0.1])  # but it was b every time
    place.write(
        MADE["day"](1, 2000).with_columns(
            logging_probabilities=wrong, action=pl.lit("b"), new=pl.lit([0.0, 1.0, 0.0])
        ),
        "1.parquet",
    )
    night = place.night()
    assert night.exit_code == 2
    assert "contradict" in night.answer
    (told,) = place.document("2024-05-01")["candidates"]
    for estimand in ("value", "improvement"):
        assert told[estimand]["state"] == "withheld"
        assert (told[estimand]["lower"], told[estimand]["upper"]) == (None, None)
    page = (place.results / "reports" / "2024-05-01.md").read_text()
    assert "withheld" in page
    runs = pl.read_parquet(place.results / "tables" / "runs.parquet")
    assert runs["exit_code"].to_list() == [2]


def test_a_log_without_any_reward_ends_with_3(place):
    write(place, 1, reward=pl.lit(None, dtype=pl.Float64))
    night = place.night()
    assert night.exit_code == 3
    (told,) = place.document("2024-05-01")["candidates"]
    assert told["value"]["state"] == "all_rewards_missing"
    assert told["missing"]["reward"] == 120
    write(place, 2)
    assert place.night().exit_code == 0


def test_check_counts_the_log_and_scores_nothing(place, untaken):
    place.days((1, 2))
    ran = untaken("check", place.file)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "shop: 240 decisions, 240 with a reward; 2 nights from 2024-05-01 to 2024-05-02"
    )
    assert not (place.results / "estimates").exists()


def test_check_looks_at_every_candidate(place, untaken):
    place.days([1])
    place.job(candidates='table = "table.parquet"\nother = "constant:z"')
    ran = untaken("check", place.file)
    assert ran.code == 0
    assert "candidate other takes actions that the log never lists: z" in ran.out
    place.table((0.5, 0.6, 0.7))
    ran = untaken("check", place.file)
    assert ran.code == 2
    assert "candidate 'table'" in ran.err


def test_check_lists_violations(place, untaken):
    write(place, 1, reward=pl.lit(7.0))
    ran = untaken("check", place.file)
    assert ran.code == 2
    assert "reward_is_in_range (120 rows)" in ran.err


def test_report_writes_a_night_again_from_what_was_kept(place, untaken):
    place.days((1, 2))
    place.night(first=dt.date(2024, 5, 1))
    before = place.state()
    for file in place.results.glob("reports/*"):
        file.unlink()
    for file in (place.root / "log").rglob("*.parquet"):
        file.write_bytes(b"gone")
    for night in ("2024-05-01", "2024-05-02"):
        ran = untaken("report", place.file, "--night", night)
        assert (ran.code, ran.err) == (0, "")
        assert str(place.results / "reports" / f"{night}.json") in ran.out
    assert place.state() == before


def test_report_refuses_nights_that_are_not_there_and_a_job_that_changed(
    place, untaken
):
    place.days([1])
    assert "holds no night yet" in untaken("report", place.file).refusal()
    place.night()
    refusal = untaken("report", place.file, "--night", "2024-05-09").refusal()
    assert "holds 1 night, 2024-05-01" in refusal
    place.job(candidates='new = "column:new"\nuniform = "uniform"')
    refusal = untaken("report", place.file).refusal()
    assert "changed since the night 2024-05-01 was made" in refusal


def test_a_candidate_whose_table_is_gone_is_named(place):
    place.days([1])
    place.job(candidates='table = "nothing.parquet"')
    with pytest.raises(PolicyError, match=r"'table'.*nothing\.parquet"):
        place.night()
