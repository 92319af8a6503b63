"""Rewards that cannot be joined stop a night, with everything that is wrong."""

from __future__ import annotations

import datetime as dt
import math

import polars as pl
import pytest

from flows.errors import JobError, LogError, UsageError, ViolationsError
from flows.job import load

DAY = 86_400
NOONS = [(f"{day}-{n}", day * DAY + 40_000 + n) for day in range(2) for n in range(6)]
GOOD = [("0-1", 40_009, 40_010, 1.0), ("1-1", DAY + 40_009, DAY + 40_010, 0.0)]
END = ("ghost", 2 * DAY + 660, 2 * DAY + 660, 0.0)


@pytest.fixture
def two(place):
    """Two days with rewards, closed."""
    place.apart()
    place.decide(NOONS)
    place.events([*GOOD, END])
    return place


def contents(place):
    """All results but what tells of violations."""
    return {
        str(file.relative_to(place.results)): file.read_bytes()
        for file in place.results.rglob("*.*")
        if file.is_file() and "violations" not in file.parts
    }


def test_violations_of_all_days_are_told_at_once_and_change_nothing(two):
    two.night()
    before = contents(two)
    bad = [("0-2", 40_100, 40_100, math.nan), ("1-2", DAY + 40_100, DAY + 40_100, 1e12)]
    file = two.events([*GOOD, *bad, END], "1.parquet")
    with pytest.raises(ViolationsError) as caught:
        two.judged()
    (broken,) = caught.value.broken
    assert (caught.value.exit_code, broken.rule) == (2, "reward_is_a_number")
    assert [(row.file, row.row, row.decision_id) for row in broken.rows] == [
        (str(file), 3, "0-2"),
        (str(file), 4, "1-2"),
    ]
    assert [row.value for row in broken.rows] == ["nan", "1000000000000.0"]
    after = contents(two)
    told = {"files.json", "events.json", "sources.json"}
    assert {n for n in before if before[n] != after[n]} <= told
    two.events([*GOOD, END])
    two.night()
    found = pl.read_parquet(two.results / "tables" / "violations.parquet")
    assert found["is_repaired"].all()
    assert found["day"].to_list() == [dt.date(2024, 5, 1), dt.date(2024, 5, 2)]


def test_a_reward_outside_the_range_names_its_decision(two):
    two.apart('aggregation = "sum"')
    two.events([*GOOD, ("0-1", 40_011, 40_012, 0.5), END])
    with pytest.raises(ViolationsError) as caught:
        two.judged()
    (broken,) = caught.value.broken
    (row,) = broken.rows
    assert broken.rule == "final_reward_is_in_range"
    assert (row.row, row.decision_id, row.value) == (2, "0-1", "1.5")


def test_an_event_without_a_time_is_told_once(two):
    rows = pl.read_parquet(two.events([*GOOD, END]))
    file = two.root / "rewards" / "2.parquet"
    rows.with_columns(rewarded_at=None).cast(rows.schema)[:1].write_parquet(file)
    with pytest.raises(ViolationsError) as caught:
        two.judged()
    (broken,) = caught.value.broken
    assert (broken.rule, broken.count) == ("rewarded_at_is_present", 1)
    assert broken.rows[0].file == str(file)
    assert len(two.folder().glob("violations", "*.parquet")) == 1


@pytest.mark.parametrize(
    ("rewards", "said"),
    [
        ("wait = 4", "rewards.wait is not a key of a job file; did you mean"),
        ("default = 2.0", "default 2.0 lies outside reward_range, 0.0 to 1.0"),
        ("backward_seconds = -1", "backward_seconds -1.0 must be from 0 to a year"),
        ('aggregation = "first"', "rewards.aggregation = 'first'"),
        ("columns = { when = 'at' }", "columns maps 'when', which is none of"),
        ("factors = { view = { wait = 1 } }", "rewards.factors.view.wait is not a key"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_job_file(place, rewards, said):
    place.apart(rewards)
    with pytest.raises(JobError, match=said):
        load(place.file)


def test_a_wait_of_nothing_is_refused(place):
    place.apart()
    text = place.file.read_text().replace("wait_seconds = 600", "wait_seconds = 0")
    place.file.write_text(text)
    with pytest.raises(JobError, match=r"wait_seconds 0\.0 must be above 0"):
        load(place.file)


def test_a_log_has_its_rewards_in_one_place(two):
    text = two.file.read_text()
    mapped = text.replace("full_support", 'columns = { reward = "paid" }\nfull_support')
    two.file.write_text(mapped)
    with pytest.raises(UsageError, match=r"rewards come in the table that .rewards."):
        two.judged()


def test_is_deferred_says_yes_or_no(two):
    two.decide(NOONS, is_deferred=["no"] * len(NOONS))
    with pytest.raises(LogError, match="is_deferred must be true or false"):
        two.judged()


def test_files_of_rewards_must_be_there_and_may_be_empty(two):
    for file in (two.root / "rewards").iterdir():
        file.unlink()
    with pytest.raises(LogError, match=r"no Parquet file found for .*rewards"):
        two.judged()
    two.events([])
    two.decide([*NOONS, ("2-0", 2 * DAY + 660)])
    plan = two.judged()
    assert plan.nights == (dt.date(2024, 5, 2),)
    kept = two.folder().read_json("judged", "2024-05-02.json")
    assert kept["versions"][0]["counts"]["default"] == 6


def test_times_without_a_zone_are_read_where_they_are_declared_utc(two):
    rows = pl.read_parquet(two.events([*GOOD, END]))
    naive = rows.with_columns(
        pl.col("rewarded_at", "known_at").dt.replace_time_zone(None)
    )
    naive.write_parquet(two.root / "rewards" / "1.parquet")
    with pytest.raises(LogError, match="must be a timestamp with a time zone"):
        two.judged()
    two.apart("naive_is_utc = true")
    assert two.judged().nights == (dt.date(2024, 5, 2),)


def test_files_that_do_not_fit_are_refused_whichever_way_they_come(two):
    two.judged()
    events = [("1-2", DAY + 40_100, None, 1.0)]
    two.events(events, "2.parquet")
    with pytest.raises(LogError, match="'known_at' is missing in 1 of 2 files"):
        two.judged()


def test_a_column_that_is_not_read_may_be_in_some_files_of_a_day(two):
    two.decide([("more", DAY + 5)], "2.parquet", note=["new"])
    plan = two.judged()
    assert plan.nights == (dt.date(2024, 5, 2),)


def test_only_files_that_may_be_about_a_day_are_read_for_it(two):
    for number, (one, received, known, value) in enumerate(GOOD):
        two.events([(one, received, known, value)], f"{number}.parquet")
    two.events([END], "9.parquet")
    arrived = two.judged().arrivals
    first, second = two.judged().keys
    names = [
        [file.path[-9:] for file in arrived.about(day, arrived.events)]
        for day in (first, second)
    ]
    assert names == [["0.parquet"], ["1.parquet"]]
    two.night()
    # A reward of the second day is no news of the first.
    two.events([("1-2", DAY + 40_100, DAY + 40_100, 1.0)], "8.parquet")
    when = two.changes()
    assert two.night().days_read == 1
    changed = {name for name, time in two.changes().items() if when.get(name) != time}
    assert not {name for name in changed if "2024-05-01" in name}


def test_an_event_that_two_days_look_at_is_told_once(two):
    near_midnight = ("1-0", DAY + 60, DAY + 60, math.nan)
    two.events([*GOOD, near_midnight, END], "1.parquet")
    with pytest.raises(ViolationsError) as caught:
        two.judged()
    (broken,) = caught.value.broken
    assert (broken.count, [row.row for row in broken.rows]) == (1, [3])
    (listing,) = two.folder().glob("violations", "*.parquet")
    assert pl.read_parquet(listing).height == 1
