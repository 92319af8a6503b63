"""Judges each day's decisions by the rewards that had arrived, and keeps it.

    judged/DAY.json         the versions of a day, oldest first: as of when each was
                            judged, from which night on it holds, what was counted
    judged/DAY/KEY-N.parquet
                            rewards beside the N-th file of the day
                            (`flows.decisions.judged`)

A day is judged as of its own night. When events became known later, it is judged again
as of each night that first knows some of them; a version that changes nothing is not
kept. Nights keep the version they were made with, so that a replay gives the same
bytes, and later nights take the newest (validity.md 7 and 8). On days still open a
reward that has not arrived is missing, never the default.

The key of a version is a digest of all it depends on: the day's content, the events
that may be about it, what is declared of rewards, and the instant.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from flows import queries
from flows.decisions import Warned, measure
from flows.errors import ViolationsError
from flows.folder import VIOLATIONS, Folder, digest_of
from flows.rewards import Beside, Counts, Decisions, Delays, Outputs, Rewards, judge
from flows.warehouse.arrivals import Arrivals
from flows.warehouse.checked import together
from flows.warehouse.days import Day, Judged, days_in_log, open_day
from flows.warehouse.settings import Job

JUDGED = "judged"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Judgement:
    """How the decisions of a day were judged.

    night: the first one that knows it. is_open: more rewards may arrive in time.
    """

    day: dt.date
    night: dt.date
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
    judged: list[Day] = []
    found: list[ViolationsError] = []
    nights = [day.day for day in days]
    for day in days:
        try:
            judged += _judge_day(folder, job, arrivals, day, nights)
        except ViolationsError as error:
            found.append(error)
        advance()
    if found:
        raise together(found, sum(error.decisions for error in found), None)
    return tuple(judged)


def judgements(folder: Folder) -> tuple[Judgement, ...]:
    """Every version of every day of the log, oldest first."""
    kept = (
        (day, version)
        for day in sorted(days_in_log(folder))
        for version in (folder.read_json(JUDGED, f"{day}.json") or {}).get(
            "versions", ()
        )
    )
    return tuple(_judgement(dt.date.fromisoformat(day), one) for day, one in kept)


def standing(folder: Folder, night: dt.date) -> list[Judgement]:
    """Of each day up to a night the version that the night knows."""
    newest: dict[dt.date, Judgement] = {}
    for one in judgements(folder):
        if one.day <= night and one.night <= night:
            newest[one.day] = one
    return [newest[day] for day in sorted(newest)]


def _judge_day(
    folder: Folder,
    job: Job,
    arrivals: Arrivals,
    day: Day,
    nights: Sequence[dt.date],
) -> Iterator[Day]:
    before = folder.read_json(JUDGED, f"{day.day}.json") or {}
    kept = {version["key"]: version for version in before.get("versions", ())}
    versions: list[dict[str, Any]] = []
    for night in _known_from(arrivals, day.day, nights):
        key = _key(job, arrivals, day, night)
        version = kept.get(key)
        if version is None or not _files(folder, day, key)[-1].exists():
            version = _made(folder, job, arrivals, day, night, key)
        if not versions or versions[-1]["digest"] != version["digest"]:
            versions.append(version)
    revision = before.get("revision", 0) + _is_revised(before, versions)
    after = {"revision": revision, "versions": versions}
    if after != before:
        folder.write_json(after, JUDGED, f"{day.day}.json")
    _sweep(folder, day, [version["key"] for version in versions])
    for number, version in enumerate(versions):
        yield replace(
            day,
            judged=Judged(
                files=tuple(str(path) for path in _files(folder, day, version["key"])),
                digest=version["digest"],
                as_of=dt.datetime.fromisoformat(version["as_of"]),
                night=dt.date.fromisoformat(version["night"]),
                revision=revision + number,
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


def _made(
    folder: Folder,
    job: Job,
    arrivals: Arrivals,
    day: Day,
    night: dt.date,
    key: str,
) -> dict[str, Any]:
    """Judges a day as of a night; returns what is written of it."""
    log, as_of = open_day(job, day.files), arrivals.known_at(night)
    is_open = not arrivals.is_closed(day.day)
    own = _own(arrivals, day)
    files = tuple(_files(folder, day, key))
    name = f"{day.day}-rewards-{key[:8]}.parquet"
    with queries.connection() as con, folder.work() as work:
        measure(con, log, window=day.window)
        listing = work / name
        try:
            found = judge(
                con,
                Decisions("measured_decisions", log.files, day.window),
                own,
                as_of=as_of,
                received=arrivals.received(day),
                outputs=Outputs(
                    beside=Beside(
                        files,
                        tuple(_rows_of(file) for file in log.files),
                        None if is_open else own.default,
                    )
                ),
                listing=listing,
            )
        except ViolationsError as error:
            kept = folder.path(VIOLATIONS, name)
            listing.replace(kept)
            raise ViolationsError(
                error.broken,
                decisions=error.decisions,
                listing=str(kept),
                days=(day.day.isoformat(),),
            ) from None
    return {
        "key": key,
        "night": night.isoformat(),
        "as_of": as_of.isoformat(),
        "is_open": is_open,
        "digest": digest_of(found.digest, is_open, own.default),
        "counts": asdict(found.counts),
        "delays": None if found.delays is None else asdict(found.delays),
        "warnings": [asdict(one) for one in found.warnings],
    }


def _own(arrivals: Arrivals, day: Day) -> Rewards:
    """What is declared of rewards, over the files that may be about a day."""
    rewards = arrivals.rewards
    events = arrivals.about(day, arrivals.events) or arrivals.events[:1]
    activations = arrivals.about(day, arrivals.activations) or arrivals.activations[:1]
    return replace(
        rewards,
        events=tuple(file.path for file in events),
        activations=tuple(file.path for file in activations),
        base=None,
    )


def _key(job: Job, arrivals: Arrivals, day: Day, night: dt.date) -> str:
    about = [
        [file.digest for file in arrivals.about(day, files)]
        for files in (arrivals.events, arrivals.activations)
    ]
    return digest_of(
        VERSION,
        day.digest,
        asdict(job.layout),
        arrivals.rewards.meaning,
        about,
        arrivals.known_at(night).isoformat(),
        arrivals.is_closed(day.day),
    )


def _files(folder: Folder, day: Day, key: str) -> list[Any]:
    return [
        folder.path(JUDGED, str(day.day), f"{key}-{number}.parquet")
        for number in range(len(day.files))
    ]


def _rows_of(file: str) -> int:
    rows: int = pl.scan_parquet(file, glob=False).select(pl.len()).collect().item()
    return rows


def _is_revised(
    before: Mapping[str, Any], versions: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether what the night of a day knew when it had closed is another now.

    That happens where events say nothing of when they became known.
    """
    old = before.get("versions")
    if not old or old[0]["is_open"]:
        return False
    return bool(old[0]["digest"] != versions[0]["digest"])


def _sweep(folder: Folder, day: Day, keys: Sequence[str]) -> None:
    for file in folder.glob(f"{JUDGED}/{day.day}", "*.parquet"):
        if file.name.rpartition("-")[0] not in keys:
            file.unlink()


def _judgement(day: dt.date, kept: Mapping[str, Any]) -> Judgement:
    return Judgement(
        day=day,
        night=dt.date.fromisoformat(kept["night"]),
        is_open=kept["is_open"],
        counts=Counts(**kept["counts"]),
        delays=None if kept["delays"] is None else Delays(**kept["delays"]),
        warnings=tuple(Warned(**one) for one in kept["warnings"]),
    )
