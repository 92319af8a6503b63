"""What rewards that come apart do to nights: when they count, and what they leave."""

from __future__ import annotations

import datetime as dt
import os

import polars as pl
import pytest

from flows import on_demand
from flows.errors import LogError
from flows.warehouse.checked import revision_of

DAY = 86_400
FIRST, SECOND, THIRD = (dt.date(2024, 5, day) for day in (1, 2, 3))
# Every third one chooses a.
NOONS = [(f"{day}-{n}", day * DAY + 40_000 + n) for day in range(3) for n in range(12)]
EARLY = [
    (f"{day}-{n}", day * DAY + 40_060 + n, 1.0) for day in range(3) for n in (0, 1)
]


def known(rows, lag=60):
    """Events that become known so long after their receipt."""
    return [(one, at, at + lag, value) for one, at, value in rows]


@pytest.fixture
def three(place):
    """Three days with rewards; the last one is over and closed."""
    place.apart()
    place.decide(NOONS)
    place.events([*known(EARLY), ("ghost", 3 * DAY, 3 * DAY + 660, 1.0)])
    return place


def late(place, name="2.parquet", value=1.0):
    """A reward of the first day that becomes known on the third."""
    return place.events([("0-2", 40_100, 2 * DAY + 50_000, value)], name)


def online(place, night):
    """What the logging policy earned, by importance weighting since the start."""
    rows = place.estimates(night).filter(
        pl.col("candidate") == "logging",
        pl.col("window") == "since_start",
        pl.col("estimator") == "importance weighting",
    )
    return rows.row(0, named=True)


def made(place, rooms=("estimates", "reports")):
    """The bytes of what nights said, by file."""
    return {
        str(file.relative_to(place.results)): file.read_bytes()
        for room in rooms
        for file in sorted((place.results / room).rglob("*.*"))
    }


def versions(place, day):
    return place.folder().read_json("judged", f"{day}.json")["versions"]


def test_decisions_that_are_immature_enter_nothing_even_when_rewarded(place):
    place.apart()
    place.decide([("old", 0), ("young", 1000)])
    place.events([("young", 1001, 1002, 1.0), ("old", 1, 1659, 0.5)])
    night = place.night(last=FIRST)
    assert online(place, FIRST)["decisions"] == 1
    assert online(place, FIRST)["estimate"] == pytest.approx(0.5)
    assert night.plan.arrivals.known_at(FIRST) == dt.datetime(
        2024, 5, 1, 0, 27, 39, tzinfo=dt.UTC
    )


def test_an_open_night_counts_what_has_not_come_as_missing(place):
    place.apart("default = 0.25")
    place.decide([("a", 0), ("b", 1)])
    place.events([("b", 2, 3, 1.0), ("ghost", 3000, 3000, 1.0)])
    place.night(last=FIRST)
    look = online(place, FIRST)
    assert (look["missing_reward"], look["identified_lower"]) == (1, 0.5)
    (kept,) = versions(place, FIRST)
    assert (kept["is_open"], kept["counts"]["missing"]) == (True, 1)
    assert kept["counts"]["default"] == 0
    place.events([("ghost", DAY + 660, DAY + 660, 1.0)], "2.parquet")
    assert place.night(last=FIRST).nights_estimated == 1
    look = online(place, FIRST)
    assert (look["missing_reward"], look["estimate"]) == (0, pytest.approx(0.625))
    (kept,) = versions(place, FIRST)
    assert (kept["is_open"], kept["counts"]["default"]) == (False, 1)
    assert not list(place.results.glob("revisions/*"))


def test_a_night_on_which_nothing_is_mature_is_told_to_be_empty(place):
    place.apart()
    place.decide([("a", 0), ("b", 1)])
    place.events([("b", 2, 3, 1.0)])
    told = "no decision up to 2024-05-01 .* 2 are immature and 0 were not activated"
    with pytest.raises(LogError, match=told):
        place.night()


def test_a_day_on_which_nothing_was_activated_counts_nothing(place):
    place.apart("deferred = true\nreward_activates = true")
    place.decide([("a", 0), ("b", DAY), ("c", 2 * DAY)])
    place.events([("b", DAY + 2, DAY + 3, 1.0), ("ghost", 3 * DAY + 660, 4 * DAY, 1.0)])
    night = place.night()
    assert night.plan.nights == (THIRD,)
    assert online(place, THIRD)["decisions"] == 1
    with pytest.raises(LogError, match="0 are immature and 1 were not activated"):
        place.night(as_of="2024-05-01")


def test_without_a_wish_the_night_is_the_newest_that_has_closed(three):
    # Received a moment too early to say that the third day has closed.
    three.events([*known(EARLY), ("ghost", 3 * DAY, 3 * DAY + 659.999999, 1.0)])
    assert three.judged().nights == (SECOND,)
    three.events([("ghost", 3 * DAY, 3 * DAY + 660, 1.0)], "2.parquet")
    assert three.judged().nights == (THIRD,)
    assert three.judged(as_of="2024-05-03T00:10:59.999999Z").nights == (FIRST,)
    assert three.judged(as_of="2024-05-03T02:11:00+02:00").nights == (SECOND,)
    assert three.judged(as_of="2024-05-02").nights == (SECOND,)
    with pytest.raises(LogError, match="no night had ended"):
        three.judged(as_of="2024-05-02T00:00:00Z")


def test_a_past_night_is_the_same_whatever_arrived_since(three):
    three.night()
    before = made(three)
    seconds = [(f"3-{n}", 3 * DAY + n) for n in range(9)]
    three.decide(seconds, "2.parquet")
    late(three, "0.parquet")
    three.events(known([(one, at + 5, 1.0) for one, at in seconds], 700), "3.parquet")
    three.events([("1-3", DAY + 40_100, 9 * DAY, 1.0)], "4.parquet")
    three.night(as_of="2024-05-02")
    replayed = made(three)
    assert [replayed[n] == before[n] for n in before if SECOND.isoformat() in n]
    assert all(replayed[n] == before[n] for n in before if "05-03" not in n)
    assert not list(three.results.glob("revisions/*"))


def test_a_replay_leaves_what_later_nights_know(three):
    late(three)
    three.night()
    before, when = made(three), three.changes()
    three.night(as_of="2024-05-02")
    assert before.items() <= made(three).items()
    kept = {name for name in when if when[name] == three.changes()[name]}
    assert kept == {*when} - {"files.json"}
    known = [one["night"] for one in versions(three, FIRST)]
    assert known == ["2024-05-01", "2024-05-03"]


def test_a_reward_known_late_counts_from_the_night_that_knows_it(three):
    three.night()
    before = made(three)
    late(three)
    assert three.night().nights_estimated == 1
    after = made(three)
    changed = {name for name in before if before[name] != after[name]}
    assert {name.rpartition(".")[0][-10:] for name in changed} == {str(THIRD)}
    assert online(three, SECOND)["estimate"] == pytest.approx(4 / 24)
    assert online(three, THIRD)["estimate"] == pytest.approx(7 / 36)
    moved = pl.read_parquet(three.results / "tables" / "revisions.parquet")
    (own,) = moved.filter(pl.col("candidate") == "logging").to_dicts()
    assert (own["night"], own["known_from"]) == (SECOND, THIRD)
    assert own["estimate_before"] == pytest.approx(4 / 24)
    assert own["estimate_after"] == pytest.approx(5 / 24)


def test_what_becomes_known_as_a_night_closes_is_known_to_it(three):
    closes = 2 * DAY + 660
    rows = [("0-2", 40_100, closes, 1.0), ("0-3", 40_101, closes + 1e-6, 1.0)]
    three.events(rows, "2.parquet")
    three.judged()
    found = [(n["night"], n["counts"]["observed"]) for n in versions(three, FIRST)]
    assert found == [("2024-05-01", 2), ("2024-05-02", 3), ("2024-05-03", 4)]


def test_evidence_has_a_version_for_each_night_that_knew_more(three):
    three.apart("")
    late(three)
    three.night()
    found = pl.read_parquet([*three.results.glob("evidence/2024-05-01/*.parquet")])
    assert found["judged_as_of"].n_unique() == 2
    missing = pl.read_parquet(three.results / "tables" / "missing.parquet")
    whole = missing.filter(pl.col("segment_by") == "", pl.col("candidate") == "logging")
    assert whole["decision_count"].to_list() == [9, 10, 10]
    segments = pl.read_parquet(three.results / "tables" / "known_segments.parquet")
    assert segments["decision_count"].to_list() == [36, 36]

    def missing_until(night):
        asked = {"candidate": "logging", "last": "3d", "until": night}
        return on_demand.interval(three.file, **asked).finding.missing.reward

    assert missing_until(SECOND) == 20
    assert missing_until(THIRD) == 29
    assert missing_until(FIRST) == 10


def test_a_reward_that_turns_back_is_counted_once(three):
    # Each is received earlier, and becomes known later, than the one before it.
    three.events([("0-5", 40_090, 40_090, 1.0)], "2.parquet")
    three.events([("0-5", 40_080, DAY + 50_000, 0.0)], "3.parquet")
    three.events([("0-5", 40_070, 2 * DAY + 50_000, 1.0)], "4.parquet")
    three.night()
    known = [one["night"] for one in versions(three, FIRST)]
    assert known == ["2024-05-01", "2024-05-02", "2024-05-03"]
    earned = [online(three, night)["estimate"] for night in (FIRST, SECOND, THIRD)]
    assert earned == pytest.approx([3 / 12, 4 / 24, 7 / 36])
    asked = {"candidate": "logging", "last": "3d"}
    found = on_demand.interval(three.file, **asked).finding
    assert found.decisions == 36
    assert found.of("value").estimate == pytest.approx(7 / 36)


def test_events_that_change_without_a_time_of_knowledge_revise_a_closed_day(place):
    place.apart()
    place.decide(NOONS)
    events = [(one, at, None, value) for one, at, value in EARLY]
    place.events([*events, ("ghost", 3 * DAY + 660, None, 1.0)])
    place.night()
    place.events([("0-2", 40_100, None, 1.0)], "2.parquet")
    night = place.night()
    assert night.nights_estimated == 3
    assert [day.judged.revision for day in night.plan.keys] == [1, 0, 0]
    moved = place.folder().glob("revisions", "*.parquet")
    assert [file.name[:10] for file in moved] == [f"2024-05-0{n}" for n in (1, 2, 3)]


def test_settings_that_change_are_no_revision(three):
    three.judged()
    three.apart("default = 0.5")
    assert [day.judged.revision for day in three.judged().keys] == [0, 0, 0]


def test_a_changed_file_of_decisions_is_one_revision(three):
    three.decide(NOONS[:12], "1.parquet")
    three.decide(NOONS[12:], "2.parquet")
    three.judged()
    three.decide(NOONS[2:12], "1.parquet")
    plan = three.judged()
    assert [revision_of(plan.folder, day) for day in plan.keys] == [1, 0, 0]


def test_what_holds_nothing_new_is_not_counted_again(three):
    three.judged()
    when = three.changes()
    os.utime(three.root / "rewards" / "1.parquet", ns=(1, 1))
    three.judged()
    assert three.changes() == when

    def recounted():
        names = {name for name in three.changes() if name not in when}
        return sorted(name[:19] for name in names if name.startswith("evidence"))

    # Read again, with one event more, the days before are what they were.
    rows = [*known(EARLY), ("ghost", 3 * DAY, 3 * DAY + 660, 1.0)]
    three.events([*rows, ("1-2", DAY + 45_000, DAY + 45_000, 1.0)])
    three.judged()
    assert recounted() == []
    three.events([*rows, ("2-2", 2 * DAY + 40_010, 2 * DAY + 40_010, 1.0)])
    three.judged()
    assert {*recounted()} == {"evidence/2024-05-03"}


def test_order_of_rows_and_partitions_of_events_change_no_evidence(three, places):
    late(three)
    three.judged()
    other = places("other")
    other.apart()
    other.decide(NOONS)
    rows = pl.concat(
        pl.read_parquet(file) for file in sorted((three.root / "rewards").glob("*"))
    ).sample(fraction=1, shuffle=True, seed=1)
    (other.root / "rewards").mkdir()
    for n in range(3):
        rows[n::3].write_parquet(other.root / "rewards" / f"{n}.parquet")
    other.judged()
    assert made(three, ("evidence",)) == made(other, ("evidence",))
    assert len(made(three, ("evidence",))) == 4 * 2 * 2
