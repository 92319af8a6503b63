"""What enters a night's evidence is what plain Python says had arrived by then."""

from __future__ import annotations

import datetime as dt
import random
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from flows.folder import Folder
from flows.offpolicy.grid import REWARD_CELLS, UNIT
from flows.warehouse import evidence
from flows.warehouse.history import History

ZONE = "Europe/Berlin"
START = dt.datetime(2024, 3, 30, tzinfo=ZoneInfo(ZONE))  # of 2 days the second has 23 h
DAYS, WAIT, LOAD, BACKWARD = 4, 600, 60, 120
SECOND, LEAST = dt.timedelta(seconds=1), dt.timedelta(microseconds=1)
REWARDS = """
default = {default}
aggregation = "{aggregation}"
clip = true
activations = "activations.parquet"
"""


def border(day):
    """The instant at which the night of a day ends; of day 0 the log's start."""
    return (START + dt.timedelta(days=day)).astimezone(dt.UTC)


def closing(day):
    return border(day) + SECOND * (WAIT + LOAD)


def drawn(seed):
    """Decisions and their events, on and around every border there is."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    ends = [end - LEAST for end in (border(1), border(2))] + [border(1), border(3)]
    decisions, events, activations = [], [], []
    for number in range(36):
        day = rng.randrange(DAYS)
        at = border(day) + SECOND * rng.choice([0, 1, 40_000, 86_000 - 3600])
        at = rng.choice([at, at, at, rng.choice(ends)])
        one = {
            "decision_id": f"d{number // 2}",  # each with two slots
            "slot": str(number % 2),
            "decided_at": at,
            "action": rng.choice("ab"),
            "propensity": 0.5,
            "is_deferred": rng.random() < 0.2,
        }
        if number % 2:
            one["decided_at"] = at = decisions[-1]["decided_at"]
            one["is_deferred"] = decisions[-1]["is_deferred"]
        decisions.append(one)
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
            received = at + rng.choice([-1, 0, 0, 0, 1]) * LEAST
            received += SECOND * rng.choice([-BACKWARD, 0, 3, 3, 3, WAIT, WAIT + 9])
            known = received + SECOND * rng.choice([0, 0, 60, 86_400, 90_000])
            late = closing(rng.randrange(1, DAYS + 1)) + rng.choice([0, 1]) * LEAST
            events.append(
                {
                    "decision_id": rng.choice([one["decision_id"]] * 9 + ["ghost"]),
                    "slot": one["slot"],
                    "reward": rng.choice([0.0, 0.25, 0.5, 1.0]),
                    "rewarded_at": received,
                    "known_at": rng.choice([known, known, max(late, received)]),
                    "action": rng.choice([None, None, "a", "b"]),
                    "reward_id": rng.choice([None, "r1", "r2"]),
                    "factor": rng.choice(["view", "buy"]),
                }
            )
        if one["is_deferred"] and number % 2:
            received = at + SECOND * rng.choice([0, 30, WAIT])
            late = received + SECOND * rng.choice([0, 60, 90_000])
            activations.append(
                {
                    "decision_id": one["decision_id"],
                    "activated_at": received,
                    "known_at": min(late, border(DAYS)),
                }
            )
    # The newest time in the data says whether the last night has closed.
    end = closing(DAYS) + rng.choice(
        [-300 * SECOND, -LEAST, 0 * LEAST, 86_400 * SECOND]
    )
    events = [e for e in events if max(e["rewarded_at"], e["known_at"]) <= end]
    events[0] |= {"known_at": end}
    return rng, decisions, rng.sample(events, len(events)), activations, end


def write(place, rng, decisions, events, activations):
    """Several files, some of several days and some days in several of them."""
    for room, rows in (("log", decisions), ("rewards", events)):
        files = [[] for _ in range(4)]
        for row in rows:
            files[rng.randrange(4)].append(row)
        (place.root / room).mkdir()
        schema = pl.DataFrame(rows, infer_schema_length=None).schema
        for number, file in enumerate(files):
            frame = pl.DataFrame(file, schema=schema)
            frame.write_parquet(place.root / room / f"{number}.parquet")
        rows[:] = [row for file in files for row in file]
    schema = dict.fromkeys(("activated_at", "known_at"), pl.Datetime("us", "UTC"))
    frame = pl.DataFrame(activations, {"decision_id": pl.String} | schema)
    frame.write_parquet(place.root / "activations.parquet")


def oracle(decisions, events, activations, declared, night, as_of):
    """Of a night (from 1): decisions, sum of rewards, and how many are missing."""
    known_by = min(closing(night), as_of)
    count, total, missing = 0, 0.0, 0
    for one in decisions:
        at = one["decided_at"]
        day = next(d for d in range(1, DAYS + 1) if at < border(d))
        if day > night or at + SECOND * (WAIT + LOAD) > known_by:
            continue

        def is_timely(event, at, one=one, at_=at):
            delay = event[at] - at_
            return (
                event["decision_id"] == one["decision_id"]
                and event["known_at"] <= known_by
                and -BACKWARD * SECOND <= delay < WAIT * SECOND
            )

        heard = [
            e
            for e in sorted(events, key=lambda e: e["rewarded_at"])
            if e["slot"] == one["slot"] and is_timely(e, "rewarded_at")
        ]
        active = any(is_timely(a, "activated_at") for a in activations)
        if one["is_deferred"] and not active:
            continue
        count += 1
        reward = composed(one, heard, earlier(one, events, known_by), declared)
        if reward is None and as_of >= closing(day):
            reward = declared["default"]
        missing += reward is None
        total += reward or 0.0
    return count, total, missing


def earlier(one, events, known_by):
    """Of each reward_id of a decision the event that was received first.

    One before the window is so only where no other is.
    """
    first = {}
    start = one["decided_at"] - BACKWARD * SECOND
    for event in sorted(
        events, key=lambda e: (e["rewarded_at"] < start, e["rewarded_at"])
    ):
        is_own = (event["decision_id"], event["slot"]) == (
            one["decision_id"],
            one["slot"],
        )
        if is_own and event["known_at"] <= known_by and event["reward_id"]:
            first.setdefault(event["reward_id"], event)
    return first


def composed(one, heard, first, declared):
    """Both factors added, each the earliest or the sum of its rewards."""
    kept = [e for e in heard if first.get(e["reward_id"], e) is e]
    if not kept:
        return None
    total = 0.0
    for factor in ("view", "buy"):
        said = [
            0.0 if e["action"] not in (None, one["action"]) else e["reward"]
            for e in kept
            if e["factor"] == factor
        ]
        if said:
            total += sum(said) if declared["aggregation"] == "sum" else said[0]
    return min(total, 4.0)


def counted(place, plan):
    """The same of every night, from the evidence of the logging policy."""
    found = {}
    history = History(plan.keys)
    for night in history.nights:
        rows = evidence.read(
            Folder(place.results), history.at(night), "evidence", ("logging", "")
        )
        is_missing = rows["kind"] % 2 == 1
        measured = rows.filter(~is_missing)
        units = (measured["reward_cell"] * measured["decisions"] * UNIT).sum()
        units += measured["reward_part"].sum()
        found[(night - START.date()).days + 1] = (
            rows["decisions"].sum(),
            4.0 * units / UNIT / REWARD_CELLS,
            rows.filter(is_missing)["decisions"].sum(),
        )
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_night_counts_what_plain_python_says_it_knows(place, seed):
    rng, *log, end = drawn(seed)
    declared = {
        "default": rng.choice([None, 0.25]),
        "aggregation": rng.choice(["earliest", "sum"]),
    }
    write(place, rng, *log)
    rewards = REWARDS.format(**declared).replace("default = None", "")
    place.apart(rewards, timezone=ZONE)
    text = place.file.read_text()
    place.file.write_text(text.replace("[0.0, 1.0]", "[0.0, 4.0]"))
    plan = place.judged(first=START.date())
    found = counted(place, plan)
    assert found == {night: oracle(*log, declared, night, end) for night in found}
