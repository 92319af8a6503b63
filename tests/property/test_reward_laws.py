"""The join of rewards against one in plain Python, and what no order may change."""

from __future__ import annotations

import datetime as dt
import math
import statistics
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from flows import queries
from flows.rewards import AGGREGATIONS, Decisions, Factor, Outputs, Rewards, judge

START = dt.datetime(2023, 3, 26, 0, 59, 50, tzinfo=dt.UTC)  # clocks change in Europe
SECOND = dt.timedelta(seconds=1)
ZONES = ("Europe/Berlin", "UTC", "America/New_York")
WAIT, BACKWARD = 20, 5
FACTORS = (
    Factor("view", 0.5),
    Factor("buy", 1.0, group="end"),
    Factor("leave", -0.25, group="end"),
    Factor("long", 0.125, "seconds >= greatest(3, 0.5 * length)"),
)
ROUGH = {
    "reward_range": (-1e6, 1e6),
    "wait_seconds": WAIT,
    "backward_seconds": BACKWARD,
}
VALUES = st.sampled_from([0.0, 0.1, 0.2, 0.7, 1.0, -0.3, 1 / 3])
# Delays at, and one microsecond around, both ends, and within.
DELAYS = st.sampled_from(
    [end + step for end in (-BACKWARD, 0, 3, WAIT) for step in (-1e-6, 0, 1e-6)]
)
IDS = st.sampled_from(["a", "b", "c", "ghost"])
SLOTS = st.sampled_from(["0", "1", "0", "1", None, "hero"])


@st.composite
def logs(draw):
    """Decisions, events and what is declared; some events are known later.

    Bare events hold nothing that need not be there.
    """
    is_bare = draw(st.booleans())
    by_slot = not is_bare and draw(st.booleans())
    keys = (
        [(i, s) for i in "abc" for s in ("0", "1")]
        if by_slot
        else [(i, None) for i in "abc"]
    )
    decisions = [
        {
            "decision_id": one,
            "slot": slot,
            "decided_at": START + SECOND * draw(st.integers(0, 30)),
            "action": draw(st.sampled_from("xy")),
            "is_deferred": draw(st.booleans()),
        }
        for one, slot in keys
    ]
    at = {d["decision_id"]: d["decided_at"] for d in decisions}
    events = []
    for number in range(draw(st.integers(4, 20))):
        one = draw(IDS)
        received = at.get(one, START) + SECOND * draw(DELAYS)
        events.append(
            {
                "decision_id": one,
                "slot": draw(SLOTS) if by_slot else None,
                "reward": draw(VALUES),
                "rewarded_at": received,
                "known_at": received + SECOND * draw(st.sampled_from([0, 1, 100])),
                "action": draw(st.sampled_from([None, "x", "y"])),
                "reward_id": draw(st.sampled_from([None, "r1", "r2"])),
                "factor": draw(st.sampled_from(["view", "buy", "leave"])),
                "seconds": draw(st.sampled_from([None, 1, 3, 5])),
                "length": draw(st.sampled_from([None, 4, 9])),
                "arrival_sequence": number,
            }
        )
    if is_bare:
        events = [one | dict.fromkeys(OPTIONAL) for one in events]
    activations = [
        {"decision_id": one, "activated_at": at.get(one, START) + SECOND * draw(DELAYS)}
        for one in draw(st.lists(IDS, min_size=1, max_size=4))
    ]
    declared = {
        "aggregation": draw(st.sampled_from(AGGREGATIONS)),
        "default": draw(st.sampled_from([None, 0.25])),
        "factors": () if is_bare else draw(st.sampled_from([(), FACTORS])),
        "reward_activates": draw(st.booleans()),
        "load_delay_seconds": draw(st.sampled_from([0, 7])),
    }
    # Most runs know all of it; the others stand at the ends of some wait.
    as_of = START + SECOND * draw(st.sampled_from([25, 45, 60, 1000, 1000, 1000]))
    return decisions, events, activations, declared, as_of


OPTIONAL = ("slot", "action", "reward_id", "factor", "seconds", "length")
EVENT_TYPES = {
    "decision_id": pl.String,
    "slot": pl.String,
    "reward": pl.Float64,
    "rewarded_at": pl.Datetime("us", "UTC"),
    "known_at": pl.Datetime("us", "UTC"),
    "action": pl.String,
    "reward_id": pl.String,
    "factor": pl.String,
    "seconds": pl.Int64,
    "length": pl.Int64,
    "arrival_sequence": pl.Int64,
}


def joined(files, decisions, activations, declared, as_of):
    """Judges with events in several files; of rows, the key with reward and status."""
    is_bare = all(one["factor"] is None for events in files for one in events)
    zone = ZONES[len(decisions) * len(activations) % len(ZONES)]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number, events in enumerate(files):
            frame = pl.DataFrame(events, schema=EVENT_TYPES)
            if is_bare:
                frame = frame.drop(OPTIONAL)
            local = pl.col("rewarded_at").dt.convert_time_zone(zone)
            zoned = frame.with_columns(local)
            zoned.write_parquet(root / f"events-{number}.parquet")
        pl.DataFrame(activations).write_parquet(root / "activations.parquet")
        log = pl.DataFrame(decisions, schema_overrides={"slot": pl.String})
        log = log.with_columns(file=pl.lit("log"), row=pl.int_range(1, pl.len() + 1))
        log.write_parquet(root / "log.parquet")
        rewards = Rewards(
            (f"{folder}/events-*.parquet",),
            activations=(f"{folder}/activations.parquet",),
            **ROUGH | declared,
        )
        with queries.connection() as con:
            given = f"from read_parquet('{root}/log.parquet')"
            con.execute(f"create temp table decisions as {given}")
            found = judge(
                con,
                Decisions("decisions", ("log",)),
                rewards,
                as_of=as_of,
                outputs=Outputs(
                    root / "judged.parquet", set_aside=root / "set_aside.parquet"
                ),
            )
        return pl.read_parquet(root / "judged.parquet").rows(), found.counts


def oracle(decisions, events, activations, declared, as_of):
    """The same in plain Python."""
    known = [e for e in events if e["known_at"] <= as_of]
    counts = Counter(events=len(known), decisions=len(decisions))
    keys = {(d["decision_id"], d["slot"]): d for d in decisions}
    ids = {d["decision_id"] for d in decisions}
    heard = {key: [] for key in keys}
    for event in known:
        key = (event["decision_id"], event["slot"])
        if key in keys:
            heard[key].append(event)
        else:
            counts["no_such_slot" if key[0] in ids else "dangling"] += 1
    rows = []
    for key, decision in keys.items():
        rows.append(
            (*key, *judged(decision, heard[key], activations, declared, as_of, counts))
        )
    for event in activations:
        if event["activated_at"] <= as_of:
            counts["activations"] += 1
    return rows, counts


def judged(decision, events, activations, declared, as_of, counts):
    """Reward and status of one decision."""
    at = decision["decided_at"]
    is_young = at + SECOND * (WAIT + declared["load_delay_seconds"]) > as_of
    kept, seen = [], set()
    # Of copies one before the window is the first only where no other is.
    start = at - SECOND * BACKWARD
    for event in sorted(
        events,
        key=lambda e: (
            e["rewarded_at"] < start,
            e["rewarded_at"],
            e["arrival_sequence"],
        ),
    ):
        if event["reward_id"] is not None and event["reward_id"] in seen:
            counts["duplicates"] += 1
            continue
        seen.add(event["reward_id"])
        delay = (event["rewarded_at"] - at) / SECOND
        is_timely = -BACKWARD <= delay < WAIT
        fate = "too_early" if delay < -BACKWARD else "timely" if is_timely else "late"
        counts["waiting" if is_young else fate] += 1
        counts["at_the_boundary"] += not is_young and delay == WAIT
        counts["before_the_decision"] += not is_young and is_timely and delay < 0
        if is_timely and not is_young:
            is_wrong = event["action"] not in (None, decision["action"])
            counts["wrong_item"] += is_wrong
            kept.append(event | {"is_wrong": is_wrong, "delay": delay})
    counts["ties"] += ties(kept)
    is_active = any(
        a["decision_id"] == decision["decision_id"]
        and a["activated_at"] <= as_of
        and -BACKWARD <= (a["activated_at"] - at) / SECOND < WAIT
        for a in activations
    ) or (declared["reward_activates"] and kept)
    if is_young:
        status = "immature"
    elif decision["is_deferred"] and not is_active:
        status = "unactivated"
        counts["rewarded_unactivated"] += bool(kept)
    elif kept:
        status = "observed"
    else:
        status = "missing" if declared["default"] is None else "default"
    counts[status] += 1
    return composed(kept, declared) if status == "observed" else None, status


def ties(kept):
    """How often rewards of one factor that differ came first."""
    count = 0
    for factor in {e["factor"] for e in kept}:
        same = [e for e in kept if e["factor"] == factor]
        first = [e for e in same if e["delay"] == min(e["delay"] for e in same)]
        count += len({0.0 if e["is_wrong"] else e["reward"] for e in first}) > 1
    return count


def composed(kept, declared):
    """Factors that events name, each of weight 1, where none is declared."""
    factors = declared["factors"] or [Factor(n) for n in {e["factor"] for e in kept}]
    groups = {}
    for factor in factors:
        if factor.condition is None:
            said = [
                0.0 if e["is_wrong"] else e["reward"]
                for e in kept
                if e["factor"] == factor.name
            ]
            worth = aggregated(said, declared["aggregation"]) if said else None
        else:
            worth = 1 if any(is_long(e) for e in kept if not e["is_wrong"]) else None
        if worth is not None:
            key = factor.group or factor.name
            groups.setdefault(key, []).append(factor.weight * worth)
    return math.fsum(max(worths) for worths in groups.values())


def is_long(event):
    if event["seconds"] is None:
        return False
    length = event["length"]
    return event["seconds"] >= (3 if length is None else max(3, 0.5 * length))


def aggregated(said, how):
    return {
        "earliest": lambda: said[0],
        "sum": lambda: math.fsum(said),
        "average": lambda: math.fsum(said) / len(said),
        "median": lambda: statistics.median(said),
        "min": lambda: min(said),
        "max": lambda: max(said),
    }[how]()


def same(rows, expected):
    """Whether rewards are equal but for rounding, and all else exactly."""
    return len(rows) == len(expected) and all(
        one[:-2] == other[:-2]
        and one[-1] == other[-1]
        and (
            one[-2] is other[-2] is None
            or math.isclose(one[-2], other[-2], rel_tol=1e-12, abs_tol=1e-12)
        )
        for one, other in zip(rows, expected, strict=True)
    )


@given(logs())
@settings(max_examples=100)
def test_the_join_is_the_one_in_plain_python(log):
    decisions, events, activations, declared, as_of = log
    rows, counts = joined([events], decisions, activations, declared, as_of)
    expected, told = oracle(decisions, events, activations, declared, as_of)
    assert same(rows, expected)
    for name, count in told.items():
        assert (name, getattr(counts, name)) == (name, count)


@given(logs())
@settings(max_examples=25)
def test_every_event_and_every_decision_is_counted_once(log):
    decisions, events, *rest = log
    _, found = joined([events], decisions, *rest)
    fates = "duplicates dangling no_such_slot waiting too_early timely late"
    statuses = "observed default missing immature unactivated"
    assert found.events == sum(getattr(found, name) for name in fates.split())
    assert found.decisions == sum(getattr(found, name) for name in statuses.split())


@given(logs(), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_events_in_any_order_of_rows_and_files_give_the_same(log, random):
    decisions, events, *rest = log
    shuffled = random.sample(events, len(events))
    cut = random.randrange(len(events) + 1)
    files = [shuffled[:cut], shuffled[cut:]]
    assert joined(files, decisions, *rest) == joined([events], decisions, *rest)


@given(logs(), logs())
@settings(max_examples=25)
def test_what_becomes_known_later_changes_nothing(log, other):
    decisions, events, activations, declared, as_of = log
    later = [
        one | {"known_at": as_of + SECOND * 1e-6, "reward": math.nan}
        for one in other[1]
        if bool(one["factor"]) == bool(events[0]["factor"])
    ]
    before = joined([events], decisions, activations, declared, as_of)
    # Later files stand before and behind those of the night.
    after = joined([later, events, later], decisions, activations, declared, as_of)
    assert after == before
