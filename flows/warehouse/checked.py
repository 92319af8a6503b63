"""Checks every new day of the log, before anything of it is scored.

A day is checked when its content or the rules' settings changed. All days are checked
before one of them stops the run, so all violations are told at once; ids are compared
within a day by the rules and across days by sorted 64-bit hashes, where a hash that two
days share is confirmed by reading just those two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

import polars as pl

from flows import columns as c
from flows import queries
from flows.decisions import Profile, Warned
from flows.errors import BrokenRule, LogError, ViolatingRow, ViolationsError
from flows.offpolicy.evidence import identity
from flows.policies import Kind, Request, check_log
from flows.warehouse.days import Day, open_day
from flows.warehouse.folder import Folder, digest_of
from flows.warehouse.settings import Job

SHOWN_ROWS = 5
UNIQUE = "decision_id_is_unique"


def check_days(
    folder: Folder,
    job: Job,
    days: Sequence[Day],
    advance: Callable[[], None],
) -> None:
    """Checks the days that changed. Raises: ViolationsError for all of them at once."""
    found: list[ViolationsError] = []
    fresh = []
    for day in days:
        if profile_of(folder, job, day) is None:
            fresh.append(day)
            try:
                _check_day(folder, job, day)
            except ViolationsError as error:
                found.append(error)
        advance()
    if not found:
        for day in fresh:
            _write_ids(folder, job, day)
        found += _across_days(folder, job, fresh, days)
    if found:
        for day in fresh:
            folder.path("days", f"{day.day}.json").unlink(missing_ok=True)
        raise _together(found)


def profile_of(folder: Folder, job: Job, day: Day) -> Profile | None:
    """What the day held when it passed; None when it changed since."""
    kept = folder.read_json("days", f"{day.day}.json")
    if kept is None or kept["key"] != _key(job, day):
        return None
    profile = kept["profile"]
    actions = profile["actions"]
    return Profile(
        **{
            **profile,
            "actions": tuple(actions) if actions is not None else None,
            "action_names": tuple(profile["action_names"]),
            "warned": tuple(Warned(**one) for one in profile["warned"]),
        }
    )


def revision_of(folder: Folder, day: Day) -> int:
    """How often the day's decisions changed after they were first used."""
    kept = folder.read_json("days", f"{day.day}.json")
    return int(kept["revision"]) if kept else 0


def _key(job: Job, day: Day) -> str:
    columns = [n.argument for n in job.candidates if n.kind is Kind.COLUMN]
    return digest_of(day.digest, asdict(job.layout), job.reward_range, columns)


def _check_day(folder: Folder, job: Job, day: Day) -> None:
    before = folder.read_json("days", f"{day.day}.json")
    name = f"{day.day}-{day.digest[:8]}.parquet"
    with queries.connection() as con, folder.work() as work:
        listing = work / name
        request = Request(
            log=open_day(job, day.files),
            candidates=job.candidates,
            reward_range=job.reward_range,
            work=work,
            window=day.window,
            listing=listing,
        )
        try:
            profile = check_log(con, request)
        except ViolationsError as error:
            kept = folder.path("violations", name)
            listing.replace(kept)
            raise ViolationsError(
                error.broken, decisions=error.decisions, listing=str(kept)
            ) from None
    revision = 0
    if before is not None:
        changed = before["digest"] != day.digest
        revision = int(before["revision"]) + int(changed)
    folder.write_json(
        {
            "key": _key(job, day),
            "digest": day.digest,
            "revision": revision,
            "profile": asdict(profile),
        },
        "days",
        f"{day.day}.json",
    )


def _identities(job: Job, day: Day) -> pl.LazyFrame:
    start, end = (pl.lit(t) for t in day.window)
    at = pl.col(c.DECIDED_AT)
    log = open_day(job, day.files)
    slot = pl.col(c.SLOT) if c.SLOT in log.optional else pl.lit("")
    return (
        log.scan()
        .filter((at >= start) & (at < end))
        .select(
            identity().alias("identity"),
            pl.col(c.DECISION_ID),
            slot.cast(pl.String).fill_null("").alias(c.SLOT),
        )
    )


def _write_ids(folder: Folder, job: Job, day: Day) -> None:
    ids = _identities(job, day).select("identity").collect(engine="streaming")
    folder.write_parquet(ids.sort("identity"), "ids", f"{day.day}.parquet")


def _across_days(
    folder: Folder, job: Job, fresh: Sequence[Day], days: Sequence[Day]
) -> list[ViolationsError]:
    """One finding for each pair of days that share decisions."""
    found = []
    done = set()
    for day in fresh:
        own = pl.read_parquet(folder.path("ids", f"{day.day}.parquet"))
        for other in days:
            pair = frozenset((day.day, other.day))
            if other.day == day.day or pair in done:
                continue
            done.add(pair)
            file = folder.path("ids", f"{other.day}.parquet")
            shared = own.join(pl.read_parquet(file), on="identity", how="semi")
            if not shared.is_empty():
                found += _confirmed(job, day, other, shared["identity"])
    return found


def _confirmed(
    job: Job, day: Day, other: Day, hashes: pl.Series
) -> list[ViolationsError]:
    """Compares the ids themselves: equal hashes of unequal ids are no violation."""
    is_shared = pl.col("identity").is_in(hashes.implode())
    mine, theirs = (
        _identities(job, one).filter(is_shared).collect(engine="streaming")
        for one in (day, other)
    )
    doubled = mine.join(theirs, on=[c.DECISION_ID, c.SLOT], how="semi")
    ids = doubled[c.DECISION_ID].sort()
    if ids.is_empty():
        return []
    rows = tuple(
        ViolatingRow(
            file=f"{day.files[0]} and {other.files[0]}",
            row=0,
            decision_id=name,
            value=f"logged on {day.day} and on {other.day}",
        )
        for name in ids.head(SHOWN_ROWS)
    )
    rule = BrokenRule(
        UNIQUE,
        "No decision is logged twice.",
        "keep one row a decision (and slot); a retried upload repeats its file.",
        len(ids),
        rows,
    )
    return [ViolationsError((rule,), decisions=len(ids), listing=None)]


def _together(found: Sequence[ViolationsError]) -> LogError:
    """All findings as one error: counts add up, the first rows of each rule stay."""
    rules: dict[str, BrokenRule] = {}
    for error in found:
        for rule in error.broken:
            known = rules.get(rule.rule)
            rows = (*(known.rows if known else ()), *rule.rows)
            rules[rule.rule] = BrokenRule(
                rule.rule,
                rule.sentence,
                rule.remedy,
                rule.count + (known.count if known else 0),
                rows[:SHOWN_ROWS],
            )
    listings = sorted({error.listing for error in found if error.listing})
    return ViolationsError(
        tuple(rules.values()),
        decisions=sum(error.decisions for error in found),
        listing=", ".join(listings) or None,
    )
