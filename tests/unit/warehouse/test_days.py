"""Days of a log: borders by time zone, gaps, files that hold several."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from flows.errors import LogError
from flows.folder import Folder
from flows.job import load
from flows.warehouse.days import border, find_days


@pytest.fixture
def days(place):
    def found():
        job = load(place.file)
        return find_days(Folder(job.results), job)

    return found


def test_a_decision_at_three_in_the_morning_utc_is_of_the_night_before_in_new_york(
    place, day, days
):
    hours = [dt.datetime(2024, 5, 2, hour, tzinfo=dt.UTC) for hour in (3, 4)]
    rows = day(2)[:2].with_columns(decided_at=pl.Series(hours).dt.cast_time_unit("us"))
    place.write(rows, "one.parquet")
    place.job(timezone="America/New_York")
    assert [one.day.day for one in days()] == [1, 2]  # midnight is at 04:00 UTC
    place.night()
    log = place.document("2024-05-02")["log"]
    assert (log["decisions"], log["night_decisions"]) == (2, 1)


def test_a_change_of_the_time_zone_moves_the_border(place, day, days):
    place.write(day(1), "1.parquet")
    assert [one.day.day for one in days()] == [1]
    place.job(timezone="Asia/Tokyo")
    assert [one.day.day for one in days()] == [1, 2]


def test_times_are_compared_as_instants_whatever_zone_the_file_is_written_in(
    place, day, days
):
    at = pl.col("decided_at").dt.convert_time_zone("Asia/Tokyo")
    place.write(day(1).with_columns(at), "1.parquet")
    assert [one.day.day for one in days()] == [1]
    place.night()
    assert place.document("2024-05-01")["log"]["night_decisions"] == 120


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", dt.date(2024, 3, 31), 23),
        ("Europe/Berlin", dt.date(2024, 10, 27), 25),
        ("Asia/Beirut", dt.date(2024, 3, 31), 23),  # clocks skip its first hour
        ("UTC", dt.date(2024, 3, 31), 24),
    ],
)
def test_a_night_is_as_long_as_the_zone_says(zone, day, hours):
    length = border(day + dt.timedelta(days=1), zone) - border(day, zone)
    assert length == dt.timedelta(hours=hours)


def test_a_night_without_decisions_is_a_gap(place, days):
    place.days((1, 4))
    assert [one.day.day for one in days()] == [1, 4]
    place.night()
    rows = place.estimates("2024-05-04")
    assert rows.filter(window="last_7")["decisions"].max() == 240
    assert rows.filter(window="night")["decisions"].max() == 120


def test_a_file_of_several_days_gives_each_its_own_share(place, day, days):
    place.write(pl.concat([day(1), day(2)]), "both.parquet")
    place.write(day(2)[:5].with_columns(pl.col("decision_id") + "x"), "more.parquet")
    assert [len(one.files) for one in days()] == [1, 2]
    assert [one.is_newest for one in days()] == [False, True]
    place.night()
    told = place.document("2024-05-02")["days"]
    assert [one["decisions"] for one in told] == [120, 125]


def test_an_empty_file_is_no_reason_to_stop(place, day):
    place.days([1])
    place.write(day(2)[:0], "2.parquet")
    assert place.night().plan.nights == (dt.date(2024, 5, 1),)


def test_a_log_without_decisions_is_refused(place, day):
    place.write(day(1)[:0], "1.parquet")
    with pytest.raises(LogError, match="no decision in the 1 files"):
        place.night()


def test_a_log_without_files_is_refused(place):
    with pytest.raises(LogError, match=r"no Parquet file found for .*log"):
        place.night()


def test_another_column_for_the_time_is_looked_at(place, day, days):
    later = pl.col("decided_at") + dt.timedelta(days=3)
    place.write(day(1).with_columns(later.alias("served_at")), "1.parquet")
    assert [one.day.day for one in days()] == [1]
    columns = '[decisions]\ncolumns = { decided_at = "served_at" }'
    place.file.write_text(place.file.read_text().replace("[decisions]", columns))
    assert [one.day.day for one in days()] == [4]


def test_files_are_known_by_names_that_do_not_depend_on_the_folder_of_the_caller(
    place, monkeypatch
):
    place.days([1])
    place.night()
    monkeypatch.chdir(place.root.parent)
    place.file = place.file.relative_to(place.root.parent)
    assert place.night().days_read == 0
