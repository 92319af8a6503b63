"""Judges each day's decisions by the rewards that had arrived, and keeps it.

    judged/DAY.json         the versions of a day, oldest first: as of when each was
                            judged, from which night on it holds, what was counted
    judged/DAY/KEY-apart.parquet
                            events that entered no reward, with the reason
    judged/DAY/KEY-N.parquet
                            rewards beside the N-th file of the day
                            (`flows.decisions.judged`)

A day is judged as of its own night. When events became known later, it is judged again
as of each night that first knows some of them; a version that changes nothing is not
kept. Nights keep the version they were made with, so that a replay gives the same
bytes, and later nights take the newest (validity.md 7 and 8). On days still open a
reward that has not arrived is missing, never the default.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from flows.decisions import Warned
from flows.decisions.violating import broken_rule
from flows.errors import ViolationsError
from flows.folder import Folder, digest_of
from flows.rewards import Counts, Delays
from flows.warehouse.arrivals import Arrivals
from flows.warehouse.belated import EARLIER_DAYS
from flows.warehouse.checked import advice, together
from flows.warehouse.day_rewards import JUDGED, VERSION, files_of, judge_as_of, key_of
from flows.warehouse.days import Day, Judged, days_in_log
from flows.warehouse.settings import Job


@dataclass(frozen=True, slots=True)
class Judgement:
    """How the decisions of a day were judged.

    night: the first one that knows it. as_of: the instant; is_open: more rewards may
        arrive in time.
    """

    day: dt.date
    night: dt.date
    as_of: dt.datetime
    is_open: bool
    counts: Counts
    delays: Delays | None
    warnings: tuple[Warned, ...]


def judge_days(
    folder: Folder,
    job: Job,
    arrivals: Arrivals,
    days: Sequence[Day],
    advance: Callable[[], None],
) -> tuple[Day, ...]:
    """Judges days that passed their checks.

    Returns: the days with their rewards, each as often as it has versions.
    Raises: ViolationsError with the rows of all days that break rules.
    """
    judged: list[tuple[Day, dict[str, Any]]] = []
    found: list[ViolationsError] = []
    for day in days:
        try:
            judged.append((day, _judge_day(folder, job, arrivals, day, days)))
        except ViolationsError as error:
            found.append(error)
        advance()
    if found := _told_once(found):
        decisions = sum(error.decisions for error in found)
        raise together(found, decisions, advice(days, found))
    for day, kept in judged:
        _keep(folder, day, kept)
    return tuple(
        version
        for day, kept in judged
        for version in _versions(folder, day, kept, days[-1].day)
    )


def _told_once(found: Sequence[ViolationsError]) -> list[ViolationsError]:
    """The errors without the events that an earlier day, too, was judged by."""
    told: list[pl.DataFrame] = []
    kept = []
    for error in found:
        listing = Path(str(error.listing))
        rows = pl.read_parquet(listing, glob=False)
        for earlier in told:
            rows = rows.join(earlier, on=["rule", "file", "row"], how="anti")
        told.append(rows)
        if rows.is_empty():
            listing.unlink()
            continue
        rows.write_parquet(listing)
        broken = tuple(
            broken_rule(one.rule, one.sentence, one.remedy, own)
            for one in error.broken
            if (own := rows.filter(pl.col("rule") == one.rule)).height
        )
        kept.append(
            ViolationsError(
                broken,
                decisions=error.decisions,
                listing=error.listing,
                days=error.days,
            )
        )
    return kept


def judgements(folder: Folder) -> tuple[Judgement, ...]:
    """Every version of every day of the log, oldest first."""
    found = []
    for day in sorted(days_in_log(folder)):
        kept = folder.read_json(JUDGED, f"{day}.json") or {"versions": ()}
        found += [_judgement(dt.date.fromisoformat(day), n) for n in kept["versions"]]
    return tuple(found)


def standing(found: Sequence[Judgement], night: dt.date) -> list[Judgement]:
    """Of each day up to a night the version that the night knows.

    found: what `judgements` tells.
    """
    newest: dict[dt.date, Judgement] = {}
    for one in found:
        if one.day <= night and one.night <= night:
            newest[one.day] = one
    return [newest[day] for day in sorted(newest)]


def _judge_day(
    folder: Folder,
    job: Job,
    arrivals: Arrivals,
    day: Day,
    days: Sequence[Day],
) -> dict[str, Any]:
    """Judges a day wherever that was not done yet; returns what is written of it."""
    before = folder.read_json(JUDGED, f"{day.day}.json") or {}
    known = {version["key"]: version for version in before.get("versions", ())}
    versions: list[dict[str, Any]] = []
    nights = [one.day for one in days]
    earlier = [one for one in days if one.day < day.day][-EARLIER_DAYS:]
    for night in _known_from(arrivals, day.day, nights):
        key = key_of(job, arrivals, day, night, earlier)
        version = known.get(key)
        if version is None or not files_of(folder, day, key)[-1].exists():
            version = judge_as_of(folder, job, arrivals, day, night, key, earlier)
        if not versions or versions[-1]["digest"] != version["digest"]:
            versions.append(version)
    after = {
        "decisions": day.digest,
        "is_newest": day.is_newest,
        "read_as": digest_of(VERSION, asdict(job.layout), arrivals.rewards.meaning),
        # What later nights know is left alone.
        "versions": versions
        + [one for one in known.values() if one["night"] > str(nights[-1])],
    }
    revision = before.get("revision", 0) + _is_revised(before, after)
    return {"revision": revision, **after}


def _keep(folder: Folder, day: Day, kept: Mapping[str, Any]) -> None:
    if kept != folder.read_json(JUDGED, f"{day.day}.json"):
        folder.write_json(kept, JUDGED, f"{day.day}.json")
    keys = {version["key"] for version in kept["versions"]}
    for file in folder.glob(f"{JUDGED}/{day.day}", "*.parquet"):
        if file.name.rpartition("-")[0] not in keys:
            file.unlink()


def _versions(
    folder: Folder, day: Day, kept: Mapping[str, Any], last: dt.date
) -> Iterator[Day]:
    """The day as often as it has versions that nights up to the last one know."""
    known = [one for one in kept["versions"] if one["night"] <= str(last)]
    for number, version in enumerate(known):
        yield replace(
            day,
            judged=Judged(
                files=tuple(
                    str(path) for path in files_of(folder, day, version["key"])
                ),
                digest=version["digest"],
                as_of=dt.datetime.fromisoformat(version["as_of"]),
                night=dt.date.fromisoformat(version["night"]),
                revision=kept["revision"] + number,
                is_first=number == 0,
            ),
        )


def _known_from(
    arrivals: Arrivals, day: dt.date, nights: Sequence[dt.date]
) -> list[dt.date]:
    """The nights that may know something new about a day, its own first."""
    found = [day]
    for first in sorted(arrivals.revisions(day)):
        # Where nothing was decided that night, the next one is the first to know.
        night = next((night for night in nights if night >= first), None)
        if night is not None and night != found[-1]:
            found.append(night)
    return found


def _is_revised(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether what the night of a day knew when it had closed is another now.

    That happens where events say nothing of when they became known. Decisions that
    changed on a day that was over are counted there (`flows.warehouse.checked`); what
    is declared anew is another analysis.
    """
    if before.get("read_as") != after["read_as"]:
        return False
    is_counted = before["decisions"] != after["decisions"] and not before["is_newest"]
    old, new = before["versions"][0], after["versions"][0]
    is_another: bool = old["digest"] != new["digest"]
    return is_another and not old["is_open"] and not is_counted


def _judgement(day: dt.date, kept: Mapping[str, Any]) -> Judgement:
    return Judgement(
        day=day,
        night=dt.date.fromisoformat(kept["night"]),
        as_of=dt.datetime.fromisoformat(kept["as_of"]),
        is_open=kept["is_open"],
        counts=Counts(**kept["counts"]),
        delays=None if kept["delays"] is None else Delays(**kept["delays"]),
        warnings=tuple(Warned(**one) for one in kept["warnings"]),
    )
