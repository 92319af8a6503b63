"""What a join writes, counts and refuses."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import duckdb
import polars as pl
import pytest

from flows.errors import LogError, UsageError, ViolationsError
from flows.rewards import Factor


def rewards_of(found):
    return pl.read_parquet(found.file)["reward"].to_list()


def test_the_judged_file_has_the_rows_of_the_log_in_its_order(join, events):
    events([("c", 5, 1.0), ("a", 5, 0.5)])
    found = join("dcba")
    assert pl.read_parquet(found.file).rows() == [
        ("d", None, "missing"),
        ("c", 1.0, "observed"),
        ("b", None, "missing"),
        ("a", 0.5, "observed"),
    ]


def test_a_reward_out_of_range_stops_and_is_listed(join, events, tmp_path):
    events([("a", 5, 0.8), ("a", 6, 0.8), ("b", 5, 1.0)])
    listing = tmp_path / "violations" / "rewards.parquet"
    with pytest.raises(ViolationsError) as told:
        join("ab", aggregation="sum", call={"listing": listing})
    assert told.value.exit_code == 2
    (broken,) = told.value.broken
    assert (broken.rule, broken.count) == ("final_reward_is_in_range", 1)
    assert "log, row 1, decision a: 1.6" in str(told.value)
    assert pl.read_parquet(listing)["decision_id"].to_list() == ["a"]
    assert not (tmp_path / "judged.parquet").exists()


def test_a_reward_out_of_range_is_clipped_on_request_and_counted(join, events):
    events([("a", 5, 0.8), ("a", 6, 0.8), ("b", 5, -3.0), ("c", 5, 0.5)])
    found = join("abc", aggregation="sum", clip=True)
    assert rewards_of(found) == [1.0, 0.0, 0.5]
    assert (found.counts.clipped, found.counts.outside) == (2, 1)


def test_an_event_out_of_range_is_only_counted(join, events):
    events([("a", 5, 1.5), ("a", 6, -0.75)])
    found = join("a", aggregation="sum")
    assert rewards_of(found) == [0.75]
    assert (found.counts.outside, found.counts.clipped) == (2, 0)


def test_sums_of_32_bit_floats_stay_in_the_range(join, events):
    events([("a", second, 0.1) for second in range(10)], reward=pl.Float32)
    assert rewards_of(join("a", aggregation="sum")) == [1.0]


def test_a_sum_is_the_same_in_any_order(join, events):
    parts = [0.1, 0.2, 0.3, 0.7, -0.3, 1e-9]
    events([("a", second, part) for second, part in enumerate(parts)])
    expected = rewards_of(join("a", aggregation="sum", reward_range=(0, 2)))
    for turn in range(len(parts)):
        turned = parts[turn:] + parts[:turn]
        events([("a", second, part) for second, part in enumerate(turned)])
        found = join("a", aggregation="sum", reward_range=(0, 2))
        assert rewards_of(found) == expected


def test_the_highest_of_rewards_below_0_is_below_0(join, events):
    events([("a", 5, -1.0), ("a", 6, -0.5)])
    found = join("a", aggregation="max", reward_range=(-1, 1), default=0.25)
    assert rewards_of(found) == [-0.5]


def test_only_the_receipt_decides_and_both_ends_hold_to_the_microsecond(join, events):
    events([("a", -120, 1.0), ("b", -120.000001, 1.0), ("c", 599.999999, 1.0)])
    found = join("abc")
    assert rewards_of(found) == [1.0, None, 1.0]
    assert (found.counts.too_early, found.counts.before_the_decision) == (1, 1)


def test_without_tolerance_a_reward_at_the_decision_still_counts(join, events):
    events([("a", 0, 1.0), ("b", -0.000001, 1.0)])
    assert rewards_of(join("ab", backward_seconds=0)) == [1.0, None]


def test_load_delay_holds_decisions_back(join, events):
    events([("a", 5, 1.0)])
    young = join("a", as_of=609, load_delay_seconds=10)
    assert (young.counts.immature, young.counts.waiting) == (1, 1)
    assert join("a", as_of=610, load_delay_seconds=10).counts.observed == 1


def test_duplicates_count_once_and_contradictions_are_told(join, events, at):
    one = {"decision_id": "a", "rewarded_at": at(5), "reward": 0.25, "reward_id": "r"}
    other = one | {"reward": 0.5, "rewarded_at": at(9)}
    events([other, one, one, one | {"reward_id": None}, one | {"decision_id": "b"}])
    found = join("ab", aggregation="sum")
    assert rewards_of(found) == [0.5, 0.25]
    assert (found.counts.duplicates, found.counts.contradicting) == (2, 1)


def test_an_event_without_decision_is_counted_by_one_day(join, events, at):
    times = (-121, -120, 500, 86_279, 86_280, 90_000)
    events([(f"x{time}", time, 7.0) for time in times] + [("a", 86_399, 1.0)])
    days = [(at(-86_400), at(0)), (at(0), at(86_400)), (at(86_400), at(172_800))]
    counts = [
        join("a", window=day, as_of=900_000, wait_seconds=86_400).counts for day in days
    ]
    assert [one.dangling for one in counts] == [1, 3, 2]
    assert [one.outside for one in counts] == [1, 3, 2]
    # The decision stands in each of the three tables here.
    assert [one.events for one in counts] == [2, 4, 3]


def test_events_that_entered_no_reward_are_written_apart(join, events, tmp_path):
    events([("a", 5, 1.0), ("a", 700, 0.5), ("ghost", 5, 1.0), ("b", -200, 1.0)])
    apart = tmp_path / "apart.parquet"
    join("ab", set_aside=apart)
    shown = pl.read_parquet(apart).select("reason", "decision_id", "delay_seconds")
    assert shown.rows() == [
        ("late", "a", 700.0),
        ("dangling", "ghost", None),
        ("too_early", "b", -200.0),
    ]
    assert pl.read_parquet(apart)["row"].to_list() == [2, 3, 4]


def test_factors_that_events_name_are_added(join, events, at):
    one = {"decision_id": "a", "rewarded_at": at(5), "reward": 0.5, "factor": "view"}
    events([one, one | {"reward": 0.25}, one | {"factor": "buy", "reward": 0.125}])
    assert rewards_of(join("a")) == [0.625]
    assert rewards_of(join("a", aggregation="sum")) == [0.875]


def test_a_factor_on_some_events_only_is_refused(join, events, at):
    one = {"decision_id": "a", "rewarded_at": at(5), "reward": 0.5, "factor": "view"}
    events([one, one | {"factor": None}])
    with pytest.raises(UsageError, match="1 event without a factor"):
        join("a")


def test_activations_that_no_decision_waits_for_are_refused(join, events, at, tmp_path):
    events([("a", 5, 1.0)])
    activation = pl.DataFrame({"decision_id": ["a"], "activated_at": [at(5)]})
    activation.write_parquet(tmp_path / "activations.parquet")
    declared = {"activations": ("activations.parquet",)}
    with pytest.raises(UsageError, match="deferred = true"):
        join("a", **declared)
    assert join("ab", deferred=True, **declared).counts.unactivated == 1


def test_broken_rows_of_all_files_stop_with_their_place(join, events, tmp_path):
    events([("a", 5, 1.0), (None, 5, 1.0)], decision_id=pl.String)
    events([("a", 5, float("nan")), ("", 5, None)], "rewards-2.parquet")
    listing = tmp_path / "all.parquet"
    with pytest.raises(ViolationsError) as told:
        join("a", call={"listing": listing})
    counts = {rule.rule: rule.count for rule in told.value.broken}
    assert counts == {"decision_id_is_present": 2, "reward_is_a_number": 1}
    assert "rewards-2.parquet, row 1, decision a: nan" in str(told.value)
    assert pl.read_parquet(listing).height == 3


def test_files_whose_pages_cannot_be_read_are_named(join, events):
    events([(f"d{number}", 5, number / 1000) for number in range(1000)])
    file = Path(events([("a", 5, 1.0)] * 1000, "rewards-2.parquet"))
    whole = file.read_bytes()
    file.write_bytes(whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :])
    with pytest.raises(LogError, match=r"(?s)1 of 2 files.*rewards-2\.parquet"):
        join("a")


def test_files_of_other_types_are_refused_before_a_row_is_read(join, events):
    events([("a", 5, 1)])
    events([("a", 5, 1.5)], "rewards-2.parquet")
    with pytest.raises(LogError, match="Int64"):
        join("a")


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("reward", "1.0", "reward must be a number"),
        ("decision_id", 1.5, "decision_id must be text"),
        ("rewarded_at", "2026-03-01", "time zone"),
    ],
)
def test_columns_of_a_wrong_type_are_told(join, events, at, column, value, said):
    good = {"decision_id": "a", "rewarded_at": at(5), "reward": 1.0}
    events([good | {column: value}])
    with pytest.raises(LogError, match=said):
        join("a")


def test_true_is_1_and_ids_may_be_numbers(join, events, at):
    events([{"decision_id": 7, "rewarded_at": at(5), "reward": True}])
    assert rewards_of(join(["7"])) == [1.0]


def test_columns_of_other_names_are_mapped(join, events, at):
    events([{"event": "a", "when": at(5), "value": 0.5}])
    columns = {"decision_id": "event", "rewarded_at": "when", "reward": "value"}
    assert rewards_of(join("a", columns=columns)) == [0.5]


def test_a_declared_arrival_decides_ties_whatever_the_order_of_rows(join, events, at):
    one = {"decision_id": "a", "rewarded_at": at(5)}
    rows = [one | {"reward": n / 10, "arrival_sequence": 9 - n} for n in range(10)]
    events(rows)
    assert rewards_of(join("a")) == [0.9]
    events(rows[::-1])
    found = join("a")
    assert rewards_of(found) == [0.9]
    assert found.counts.ties == 1


def test_events_may_hold_all_columns_there_are(join, events, at, tmp_path):
    one = {"decision_id": "a", "rewarded_at": at(5), "reward": 1.0, "seconds": 5}
    one |= {"known_at": at(9), "action": "x", "reward_id": "r", "factor": "view"}
    events([one | {"slot": None, "arrival_sequence": 3}], slot=pl.String)
    factors = (Factor("view", 0.5), Factor("long", 0.25, "seconds > 3"))
    apart = {"window": (at(0), at(60)), "set_aside": tmp_path / "apart.parquet"}
    assert rewards_of(join("a", factors=factors, **apart)) == [0.75]


def test_waiting_events_are_not_set_aside(join, events, tmp_path):
    events([("a", 5, 1.0), ("b", 5, 1.0), ("b", 6, 1.0), ("ghost", 5, 1.0)])
    apart = tmp_path / "apart.parquet"
    found = join("ab", as_of=60, set_aside=apart)
    assert found.counts.waiting == 3
    assert pl.read_parquet(apart)["reason"].to_list() == ["dangling"]


def test_what_was_loaded_later_is_not_known_yet(join, events, at):
    one = {"decision_id": "a", "rewarded_at": at(5), "reward": 1.0}
    events([one | {"known_at": at(1000)}])
    assert join("a", as_of=999).counts.events == 0
    assert rewards_of(join("a", as_of=1000)) == [1.0]


def test_an_instant_without_zone_is_refused(join, events):
    events([("a", 5, 1.0)])
    with pytest.raises(UsageError, match="time zone"):
        join("a", as_of=dt.datetime(2026, 3, 2))  # noqa: DTZ001 - it is the case


def test_a_log_in_another_order_than_its_files_is_a_fault(join, events):
    events([("a", 5, 1.0)])
    with pytest.raises(duckdb.Error):
        join("a", files=())


def test_a_replay_gives_the_same_bytes(join, events, at):
    rows = [
        {
            "decision_id": f"d{number % 97}",
            "rewarded_at": at(number % 700),
            "reward": number % 3 / 2,
            "known_at": at(number % 700),
        }
        for number in range(500)
    ]
    ids = [f"d{number}" for number in range(97)]
    events(rows)
    first = join(ids, as_of=1000)
    bytes_ = first.file.read_bytes()
    later = dt.timedelta(days=1)
    events(
        [row | {"known_at": row["known_at"] + later} for row in rows],
        "rewards0.parquet",
    )
    again = join(ids, as_of=1000)
    assert again.file.read_bytes() == bytes_
    assert again.counts == first.counts
