"""Checks every new day of the log, before anything of it is scored.

A day is checked when its content or the rules' settings changed. All days are checked
before one of them stops the run, so all violations are told at once; then nothing is
kept of any, and what earlier runs kept stays as it was.

    days/DAY.json   what the day held when it last passed, and its revision: how often
                    it changed after a later day was there to follow it. The newest day
                    of a log may still grow; that is no revision.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from flows import queries
from flows.decisions import Profile
from flows.decisions.violating import SHOWN_ROWS
from flows.errors import BrokenRule, ViolationsError
from flows.folder import REPAIRED, VIOLATIONS, Folder, digest_of
from flows.policies import Kind, Request, check_log
from flows.warehouse.days import Day, days_in_log, open_day
from flows.warehouse.repeats import across_days
from flows.warehouse.settings import Job

KEPT = "days"


@dataclass(frozen=True, slots=True)
class Kept:
    """A day as it was when it last passed."""

    day: dt.date
    revision: int
    profile: Profile


def check_days(
    folder: Folder,
    job: Job,
    days: Sequence[Day],
    log_days: Sequence[Day],
    advance: Callable[[], None],
) -> None:
    """Checks those of `days` that changed.

    log_days: every day of the log; no decision may stand on two of those that passed.
    Raises: ViolationsError for all days at once.
    """
    found: list[ViolationsError] = []
    passed: dict[Day, Profile] = {}
    for day in days:
        if profile_of(folder, job, day) is None:
            try:
                passed[day] = _check_day(folder, job, day)
            except ViolationsError as error:
                found.append(error)
        advance()
    decisions = sum(error.decisions for error in found)
    decisions += sum(profile.decisions for profile in passed.values())
    known = [day for day in log_days if profile_of(folder, job, day) is not None]
    repeated = across_days(folder, job, list(passed), known)
    if repeated is not None:
        found.append(repeated)
    if found:
        raise together(found, decisions, advice(days, found))
    for day in days:
        _keep(folder, job, day, passed.get(day))


def profile_of(folder: Folder, job: Job, day: Day) -> Profile | None:
    """What the day held when it passed; None when it changed since."""
    kept = folder.read_json(KEPT, f"{day.day}.json")
    if kept is None or kept["key"] != _key(job, day):
        return None
    return Profile.read(kept["profile"])


def revision_of(folder: Folder, day: Day) -> int:
    """How often the day changed after it was over, or its rewards after it closed."""
    kept = folder.read_json(KEPT, f"{day.day}.json")
    of_rewards = 0 if day.judged is None else day.judged.revision
    return of_rewards + (int(kept["revision"]) if kept else 0)


def kept_days(folder: Folder) -> tuple[Kept, ...]:
    """The days of the log that passed, oldest first, as they were when they did."""
    found = []
    for day in sorted(days_in_log(folder)):
        kept = folder.read_json(KEPT, f"{day}.json")
        if kept is not None:
            profile = Profile.read(kept["profile"])
            found.append(Kept(dt.date.fromisoformat(day), kept["revision"], profile))
    return tuple(found)


def _key(job: Job, day: Day) -> str:
    columns = [n.argument for n in job.candidates if n.kind is Kind.COLUMN]
    return digest_of(day.digest, asdict(job.layout), job.reward_range, columns)


@contextmanager
def listing_of(folder: Folder, work: Path, day: Day, digest: str) -> Iterator[Path]:
    """Where to list a day's violating rows; they are kept when there are any.

    digest: of what they were found in.
    """
    name = f"{day.day}-{digest[:8]}.parquet"
    listing = work / name
    try:
        yield listing
    except ViolationsError as error:
        kept = folder.path(VIOLATIONS, name)
        listing.replace(kept)
        raise ViolationsError(
            error.broken,
            decisions=error.decisions,
            listing=str(kept),
            days=(day.day.isoformat(),),
        ) from None


def _check_day(folder: Folder, job: Job, day: Day) -> Profile:
    with (
        queries.connection() as con,
        folder.work() as work,
        listing_of(folder, work, day, day.digest) as listing,
    ):
        request = Request(
            log=open_day(job, day.files),
            candidates=job.candidates,
            reward_range=job.reward_range,
            work=work,
            window=day.window,
            listing=listing,
        )
        return check_log(con, request)


def _keep(folder: Folder, job: Job, day: Day, fresh: Profile | None) -> None:
    """Keeps what a day that passed holds, or that a day kept before is over now."""
    before = folder.read_json(KEPT, f"{day.day}.json")
    revision = before["revision"] if before else 0
    if before and before["digest"] != day.digest and not before["is_newest"]:
        revision += 1
    after = {
        "key": _key(job, day),
        "digest": day.digest,
        "revision": revision,
        "is_newest": day.is_newest,
        "profile": asdict(fresh) if fresh else before["profile"],
    }
    if after != before:
        folder.write_json(after, KEPT, f"{day.day}.json")


def set_aside(folder: Folder, days: Sequence[Day], log_days: Sequence[Day]) -> None:
    """Sets aside the violations of days that pass now, or are gone from the log."""
    passing = {day.day.isoformat() for day in days}
    open_days = {day.day.isoformat() for day in log_days} - passing
    for file in folder.glob(VIOLATIONS, "*.parquet"):
        if file.name[:10] not in open_days:
            file.replace(folder.path(REPAIRED, file.name))


def advice(days: Sequence[Day], found: Sequence[ViolationsError]) -> str | None:
    """How to go on without the days that broke a rule."""
    refused = {name for error in found for name in error.days}
    sound = []
    for day in days:
        if day.day.isoformat() in refused:
            break
        sound.append(day.day)
    if not sound or len(sound) == len(days):
        return None
    return f"Nights up to {sound[-1]} can be run: --to {sound[-1]}"


def together(
    found: Sequence[ViolationsError], decisions: int, advice: str | None
) -> ViolationsError:
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
        decisions=decisions,
        listing=", ".join(listings) or None,
        advice=advice,
    )
