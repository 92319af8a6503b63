"""However a night is reached, its results are the same."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from pathlib import Path

import polars as pl

import flows

ROOT = Path(flows.__path__[0]).parent
DATES = [f"2024-05-0{number}" for number in range(1, 8)]
FIRST, LAST = dt.date(2024, 5, 1), dt.date(2024, 5, 7)


def only(state, rooms):
    return {name: rows for name, rows in state.items() if name.startswith(rooms)}


def test_seven_nights_one_by_one_equal_one_backfill_and_one_plain_run(places, week):
    single, backfill = places("single"), places("backfill")
    for place in (single, backfill):
        place.days(range(1, 8))
    for date in DATES:
        single.night(as_of=date)
    backfill.night(first=FIRST, last=LAST)
    assert single.state() == backfill.state()
    assert len(list(single.results.glob("reports/*.json"))) == 7
    plain = week.state()
    kept = {name: rows for name, rows in single.state().items() if name in plain}
    assert kept == plain
    assert {"reports/2024-05-07.json", "tables/estimates.parquet"} <= set(kept)


def test_files_that_arrive_night_by_night_give_the_same_results(places, week):
    arriving = places("arriving")
    for number in range(1, 8):
        arriving.days([number])
        arriving.night()
    assert {
        name: rows for name, rows in arriving.state().items() if name in week.state()
    } == week.state()


def test_a_file_that_spans_two_nights_is_no_revision_when_it_grows(places, day):
    arriving, whole = places("arriving"), places("whole")
    log = pl.concat([day(number) for number in (1, 2, 3)])
    cuts = [0, 150, 300, 360]  # a night's border lies inside the second file
    for number in range(3):
        part = log[cuts[number] : cuts[number + 1]]
        for place in (arriving, whole):
            place.write(part, f"{number}.parquet")
        arriving.night()
    whole.night()
    assert arriving.document("2024-05-03") == whole.document("2024-05-03")
    assert [d["revision"] for d in arriving.document("2024-05-03")["days"]] == [0, 0, 0]


def test_a_rerun_changes_no_result_and_reads_no_day(place):
    place.days((1, 2))
    first = place.night()
    before, when = place.state(), place.changes()
    again = place.night()
    assert (first.days_read, first.nights_estimated) == (2, 2)
    assert (again.days_read, again.nights_estimated) == (0, 0)
    assert place.state() == before
    assert place.changes() == when
    runs = pl.read_parquet(place.results / "tables" / "runs.parquet")
    assert runs["days_read"].to_list() == [2, 0]
    assert runs["decision_count"].to_list() == [240, 240]


def test_a_log_that_nobody_may_read_again_is_not_opened(place):
    place.days((1, 2))
    place.night()
    for file in (place.root / "log").rglob("*.parquet"):
        stamp = file.stat()
        file.write_bytes(b"x" * stamp.st_size)
        os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert place.night().days_read == 0


def test_order_of_rows_row_groups_and_files_change_no_estimate(places, week, day):
    other = places("other")
    for number in range(1, 8):
        rows = day(number).sample(fraction=1, shuffle=True, seed=number)
        if number == 4:
            for piece in range(3):
                other.write(rows[piece * 40 : piece * 40 + 40], f"4/{piece}.parquet")
        else:
            other.write(rows, f"{number}.parquet", row_group_size=7)
    other.night()
    rooms = ("reports", "tables")
    assert only(other.state(), rooms) == only(week.state(), rooms)


def test_the_number_of_threads_changes_no_result(place, tmp_path):
    place.days((1, 2))
    code = (
        "import runpy, sys\n"
        "made = runpy.run_path(sys.argv[1])\n"
        "made['Place'].at(made['Path'](sys.argv[2])).night()\n"
    )
    found = []
    for threads in ("1", "2", "4"):
        copy = place.copied(tmp_path / threads)
        subprocess.run(
            [
                sys.executable,
                "-P",
                "-c",
                code,
                Path(__file__).with_name("conftest.py"),
                copy.root,
            ],
            env=os.environ | {"POLARS_MAX_THREADS": threads, "PYTHONPATH": str(ROOT)},
            check=True,
        )
        found.append(copy.state())
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 10


def test_a_replay_is_the_same_whatever_came_later(place, week):
    place.days(range(1, 5))
    place.night(as_of="2024-05-03")
    before = (place.results / "reports" / "2024-05-03.json").read_bytes()
    place.days(range(5, 8))
    place.night()
    place.night(as_of="2024-05-03")
    assert (place.results / "reports" / "2024-05-03.json").read_bytes() == before
    assert place.estimates("2024-05-07").equals(week.estimates("2024-05-07"))


def test_a_night_that_was_missed_is_caught_up(place):
    place.days((1, 2, 3))
    place.night(as_of="2024-05-01")
    assert place.night().nights_estimated == 2
    assert [
        night["night"]
        for night in place.document("2024-05-03")["candidates"][0]["nights"]
    ] == DATES[:3]
