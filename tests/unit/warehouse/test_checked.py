"""What is wrong with a log is told at once, and nothing good is lost."""

from __future__ import annotations

import datetime as dt
import shutil

import polars as pl
import pytest

from flows import steps
from flows.errors import LogError, ViolationsError
from flows.job import load


def broken(rows, column, value, where):
    """The rows with another value in some of them."""
    index = pl.int_range(pl.len())
    return rows.with_columns(
        pl.when(index.is_in(where)).then(value).otherwise(column).alias(column)
    )


def good(place):
    """All of the results that a reader may look at, byte by byte."""
    rooms = ("reports", "estimates", "evidence", "days", "tables")
    files = [file for room in rooms for file in (place.results / room).rglob("*.*")]
    files.append(place.results / "warehouse.duckdb")
    return {file: file.read_bytes() for file in files if file.is_file()}


def refused(place, **asked):
    with pytest.raises(ViolationsError) as caught:
        place.night(**asked)
    assert caught.value.exit_code == 2
    return caught.value


def test_a_bad_night_stops_the_run_and_leaves_all_results(place, day):
    place.days((1, 2))
    place.night()
    before = good(place)
    bad = broken(day(3), "reward", 7.0, list(range(10, 18)))
    bad = broken(bad, "action", pl.lit("d"), [3])
    file = place.write(bad, "day=2024-05-03/part-0.parquet")
    error = refused(place)
    assert good(place) == before
    assert {rule.rule: rule.count for rule in error.broken} == {
        "logged_action_is_listed": 1,
        "reward_is_in_range": 8,
    }
    rewards = next(rule for rule in error.broken if rule.count == 8)
    assert [(r.file, r.row, r.decision_id, r.value) for r in rewards.rows] == [
        (str(file), row + 1, f"3-{row}", "7.0") for row in range(10, 15)
    ]
    message = str(error)
    for told in ("9 ", "120", "and 3 more", "What to do:", str(file), "3-10", "7.0"):
        assert told in message
    listed = pl.read_parquet(error.listing)
    assert listed.columns == ["rule", "file", "row", "decision_id", "value"]
    assert listed.height == 9


def test_several_bad_days_are_told_at_once(place, day):
    place.write(broken(day(1), "reward", -1.0, [0]), "1.parquet")
    place.days([2])
    place.write(broken(day(3), "reward", 2.0, [1, 2]), "3.parquet")
    error = refused(place)
    (rule,) = error.broken
    assert (rule.count, error.decisions) == (3, 360)
    assert [row.decision_id for row in rule.rows] == ["1-0", "3-1", "3-2"]
    assert len(error.listing.split(", ")) == 2
    assert not (place.results / "estimates").exists()


def test_a_repaired_log_goes_on_and_the_violations_stay_on_record(place, day):
    place.days([1])
    place.night()
    place.write(broken(day(2), "reward", 2.0, [5]), "2.parquet")
    refused(place)
    place.write(day(2), "2.parquet")
    place.night()
    rows = pl.read_parquet(place.results / "tables" / "violations.parquet")
    assert rows.select("day", "decision_id", "value").rows() == [
        (dt.date(2024, 5, 2), "2-5", "2.0")
    ]
    assert rows["is_repaired"].to_list() == [True]
    assert place.document("2024-05-02")["violations"] == []


def test_violations_of_a_day_that_is_gone_are_set_aside(place, day):
    place.days([1])
    place.night()
    file = place.write(broken(day(2), "reward", 2.0, [5]), "2.parquet")
    refused(place)
    file.unlink()
    place.night()
    assert place.document("2024-05-01")["violations"] == []
    rows = pl.read_parquet(place.results / "tables" / "violations.parquet")
    assert rows["is_repaired"].all()


def test_violations_of_a_day_that_is_not_run_stay_open(place, day):
    place.days([1])
    place.night()
    place.write(broken(day(2), "reward", 2.0, [5]), "2.parquet")
    error = refused(place)
    assert error.advice == "Nights up to 2024-05-01 can be run: --to 2024-05-01"
    place.night(last=dt.date(2024, 5, 1))
    rows = pl.read_parquet(place.results / "tables" / "violations.parquet")
    assert rows["is_repaired"].to_list() == [False]


def test_a_refused_run_is_on_record_with_its_message(place, day):
    place.days([1])
    place.night()
    place.write(broken(day(2), "reward", 2.0, [5]), "2.parquet")
    job = load(place.file)
    with pytest.raises(ViolationsError), steps.recorded(job.results, job.digest):
        place.night()
    place.write(day(2), "2.parquet")
    place.night()
    runs = pl.read_parquet(place.results / "tables" / "runs.parquet")
    assert runs["exit_code"].to_list() == [0, 2, 0]
    assert runs["message"][1].startswith("1 violation among 120 rows")


def test_a_newer_bad_night_does_not_block_an_older_one(place, day):
    place.days((1, 2, 3))
    place.night()
    newest = place.estimates("2024-05-03")
    place.write(broken(day(3), "reward", 2.0, [5]), "day=2024-05-03/part-0.parquet")
    replayed = place.night(as_of="2024-05-02")
    assert replayed.nights_estimated == 0
    assert place.estimates("2024-05-03").equals(newest)
    answers = pl.read_parquet(place.results / "tables" / "estimates.parquet")
    assert answers["night"].max() == dt.date(2024, 5, 3)
    refused(place)


def test_a_day_that_was_good_before_it_was_bad_is_a_revision_once_repaired(place, day):
    place.days((1, 2))
    place.night()
    for value in (2.0, 0.5):
        place.write(
            broken(day(1), "reward", value, [5]), "day=2024-05-01/part-0.parquet"
        )
        if value > 1:
            refused(place)
    place.night()
    days = place.document("2024-05-02")["days"]
    assert [one["revision"] for one in days] == [1, 0]


def test_a_decision_logged_again_on_a_later_day_is_found(place, day):
    place.days([1])
    place.night()
    before = good(place)
    again = day(1)[:7].with_columns(pl.col("decided_at") + dt.timedelta(days=1))
    place.write(pl.concat([day(2), again]), "2.parquet")
    error = refused(place)
    (rule,) = error.broken
    assert (rule.rule, rule.count) == ("decision_id_is_unique", 14)
    told = {(row.file, row.row, row.decision_id, row.value) for row in rule.rows[:2]}
    assert told == {
        (str(place.root / "log" / file), row, "1-0", "logged on 2024-05-01, 2024-05-02")
        for file, row in (("day=2024-05-01/part-0.parquet", 1), ("2.parquet", 121))
    }
    assert pl.read_parquet(error.listing).height == 14
    assert good(place) == before


def test_a_copy_among_new_days_and_a_copy_in_an_old_day_are_both_found(place, day):
    copies = {
        number: day(1)[:1].with_columns(
            pl.col("decided_at") + dt.timedelta(days=number - 1)
        )
        for number in (2, 3)
    }
    for number, copy in copies.items():
        place.write(pl.concat([day(number), copy]), f"{number}.parquet")
    assert refused(place).broken[0].count == 2
    place.write(day(2), "2.parquet")
    place.night()
    place.days([1])  # now the copy is in a day that passed
    (rule,) = refused(place).broken
    assert [row.value for row in rule.rows] == ["logged on 2024-05-01, 2024-05-03"] * 2


def test_the_same_id_in_another_slot_is_another_decision(place, day):
    for number in (1, 2):
        rows = day(number).with_columns(
            pl.format("page-{}", pl.int_range(pl.len()) // 2).alias("decision_id"),
            pl.lit(number).alias("slot") * 2 + pl.int_range(pl.len()) % 2,
        )
        place.write(rows, f"{number}.parquet")
    place.night()
    rows = rows.with_columns(pl.col("slot") - 2)
    place.write(rows, "2.parquet")
    assert refused(place).broken[0].count == 240


def test_decisions_without_a_time_are_listed_and_stop_every_night(place, day):
    place.days([1])
    place.night()
    place.write(broken(day(2), "decided_at", None, [4, 5]), "2.parquet")
    error = refused(place, as_of="2024-05-01")
    assert [row.decision_id for row in error.broken[0].rows] == ["2-4", "2-5"]
    assert pl.read_parquet(error.listing).height == 2
    place.write(day(2), "2.parquet")
    place.night()
    rows = pl.read_parquet(place.results / "tables" / "violations.parquet")
    assert rows["day"].to_list() == [None, None]


def test_a_bad_candidate_column_is_a_violation_of_the_log(place, day):
    place.write(broken(day(1), "new", pl.lit([0.5, 0.5, 0.5]), [2]), "1.parquet")
    assert refused(place).broken[0].rows[0].decision_id == "1-2"


def test_an_unreadable_file_among_good_ones_is_named(place):
    place.days((1, 2))
    place.night()
    before = good(place)
    (place.root / "log" / "day=2024-05-02" / "part-1.parquet").write_bytes(b"PAR1")
    with pytest.raises(LogError, match=r"1 of 3 files.*\n.*part-1\.parquet"):
        place.night()
    assert good(place) == before


def test_a_new_file_of_another_type_is_refused_like_in_a_backfill(place, day):
    place.days([1])
    place.night()
    place.write(day(2).with_columns(device=pl.lit(1)), "2.parquet")
    with pytest.raises(LogError, match=r"'device' is Int32 in .*2\.parquet, but"):
        place.night()


def test_a_folder_that_lost_its_ids_compares_them_again(place):
    place.days((1, 2))
    place.night()
    shutil.rmtree(place.results / "ids")
    place.days([3])
    place.night()
    assert len(list((place.results / "ids").iterdir())) == 3
