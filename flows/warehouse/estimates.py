"""The estimates of every night, made once from the evidence and kept.

estimates/NIGHT.parquet   all rows of the night
estimates/NIGHT.json      what they were made from: a digest of everything, one of
                          the settings alone, the evidence of the night's own day
                          and of those that it is the first to know more of,
                          the unknown actions in it, and of every candidate
                          its place and the largest probability it gives
Estimates are made candidate by candidate, so memory holds the evidence of one.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from flows.folder import Folder, digest_of
from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.nights import contradictions, estimate_subject, frame, headline
from flows.offpolicy.plan import Plan, Subject
from flows.offpolicy.twins import beside
from flows.warehouse import evidence, models, plans, revisions
from flows.warehouse.checked import revision_of
from flows.warehouse.days import days_in_log
from flows.warehouse.evidence import EVIDENCE, EXACT, Keys
from flows.warehouse.history import History
from flows.warehouse.plans import settings_of
from flows.warehouse.settings import Job
from flows.warehouse.workers import results

ESTIMATES = "estimates"
VERSION = 5
# How many nights' estimates are held before they are written.
NIGHTS_AT_ONCE = 32
# From so many candidates times nights times cuts on, processes are started.
LARGE = 100


@dataclass(frozen=True, slots=True)
class Made:
    """A night that was estimated.

    settings: digest of how it was estimated.
    evidence: of the night's own day, and of those it is the first to know more of,
        candidate to the digest that names its counts.
    unknown: candidate to the actions it takes that this day's log never lists.
    """

    night: dt.date
    settings: str
    evidence: Mapping[dt.date, Keys]
    unknown: Mapping[str, Sequence[str]]


def estimate_nights(
    folder: Folder,
    job: Job,
    history: History,
    run_id: str,
    advance: Callable[[], None],
) -> int:
    """Makes the estimates that are not there yet; returns of how many nights.

    history: up to the newest night.
    """
    plan = plans.declare(folder, job, [one.night for one in made_nights(folder)])
    wanted = {
        night: key
        for night, key in _digests(folder, job, history, plan)
        if not _is_made(folder, night, key)
    }
    counted = [revision_of(folder, day) for day in history.days]
    revised = dict(zip(history.nights, itertools.accumulate(counted), strict=True))
    for _ in range(len(history.nights) - len(wanted)):
        advance()
    run = pl.lit(run_id).alias("run_id")
    for nights in _batches(list(wanted), history):
        before = _moved(folder, job, history, nights[0])
        keys = history.at(nights[-1])
        rows = _rows(folder, job, keys, [*before, *nights], plan)
        for last in before:
            # How the night before would be, knowing what this one does.
            now = rows[last].with_columns(run)
            revisions.record(folder, last, read(folder, last), now, nights[0])
        for night in nights:
            made = rows[night].with_columns(run)
            if _is_revised(folder, job, night, revised[night]):
                revisions.record(folder, night, read(folder, night), made, night)
            folder.write_parquet(made, ESTIMATES, f"{night}.parquet")
            folder.write_json(
                {
                    "key": wanted[night],
                    "settings": settings_of(job),
                    "revisions": revised[night],
                    "evidence": _dated(history.new_at(night)),
                    "unknown": evidence.unknown_actions(
                        folder, night, history.at(night)[night]
                    ),
                    "places": [[*n, place] for n, place in plan.places.items()],
                    "largest": dict(plan.largest),
                },
                ESTIMATES,
                f"{night}.json",
            )
            advance()
    return len(wanted)


def _rows(
    folder: Folder,
    job: Job,
    keys: Mapping[dt.date, Keys],
    nights: Sequence[dt.date],
    plan: Plan,
) -> dict[dt.date, pl.DataFrame]:
    """The estimates of each night."""
    rows: dict[dt.date, list[dict[str, Any]]] = {night: [] for night in nights}
    against: dict[tuple[str, dt.date], str | None] = {}
    shared = _Shared(folder, job, keys, tuple(nights), plan, against)
    subjects = evidence.subjects_of(job)
    # Pairs rest on what is known of their candidates.
    for group in (
        [n for n in subjects if n[1] == NO_OTHER],
        [n for n in subjects if n[1] != NO_OTHER],
    ):
        tasks = [(shared, subject) for subject in group]
        is_large = len(group) * len(nights) * (1 + len(job.cuts)) >= LARGE
        for made, found in results(_of_subject, tasks, is_large=is_large):
            against.update(found)
            for row in made:
                rows[row["night"]].append(row)
    return {night: frame(found) for night, found in rows.items()}


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the estimates of all subjects are made from."""

    folder: Folder
    job: Job
    keys: Mapping[dt.date, Keys]
    nights: tuple[dt.date, ...]
    plan: Plan
    against: Mapping[tuple[str, dt.date], str | None]


def _of_subject(
    task: tuple[_Shared, Subject],
) -> tuple[list[dict[str, Any]], dict[tuple[str, dt.date], str | None]]:
    """The rows of one candidate or pair, and what contradicts a candidate's weights."""
    shared, subject = task
    folder, job, plan, nights = shared.folder, shared.job, shared.plan, shared.nights
    cells = evidence.read(folder, shared.keys, EVIDENCE, subject)
    exact, found = None, {}
    if EXACT in evidence.kinds_of(job):
        exact = evidence.read(folder, shared.keys, EXACT, subject)
    if subject[1] == NO_OTHER:
        found = contradictions(subject, cells, nights, plan)
    against = {**shared.against, **found}
    made = estimate_subject(subject, cells, exact, nights, plan, against)
    scores = models.scores(folder, job, shared.keys, subject, plan)
    return list(beside(made, scores)), found


def _batches(
    nights: Sequence[dt.date], history: History
) -> Iterator[Sequence[dt.date]]:
    """Nights that are made together: of one epoch, and not too many."""
    for _, same in itertools.groupby(nights, history.epoch):
        together = list(same)
        for start in range(0, len(together), NIGHTS_AT_ONCE):
            yield together[start : start + NIGHTS_AT_ONCE]


def _moved(folder: Folder, job: Job, history: History, night: dt.date) -> list[dt.date]:
    """The night before, where a night knows more of earlier days than that one did."""
    before = [one for one in history.nights if one < night][-1:]
    if not before or history.epoch(before[0]) == history.epoch(night):
        return []
    kept = folder.read_json(ESTIMATES, f"{before[0]}.json")
    return before if kept and kept["settings"] == settings_of(job) else []


def made_nights(folder: Folder) -> tuple[Made, ...]:
    """The nights of the log that are estimated, oldest first."""
    found = []
    for night in sorted(days_in_log(folder)):
        kept = folder.read_json(ESTIMATES, f"{night}.json")
        if kept is not None:
            found.append(
                Made(
                    dt.date.fromisoformat(night),
                    kept["settings"],
                    {
                        dt.date.fromisoformat(day): of_day
                        for day, of_day in kept["evidence"].items()
                    },
                    kept["unknown"],
                )
            )
    return tuple(found)


def read(folder: Folder, night: dt.date) -> pl.DataFrame:
    """All estimates of a night."""
    return pl.read_parquet(
        folder.path(ESTIMATES, f"{night}.parquet"), glob=False, hive_partitioning=False
    )


def headlines(folder: Folder, nights: Sequence[dt.date]) -> pl.DataFrame:
    """Of several nights importance weighting since the start, without segments."""
    files = [folder.path(ESTIMATES, f"{night}.parquet") for night in nights]
    rows = pl.scan_parquet(files, glob=False, hive_partitioning=False)
    return rows.filter(headline()).collect(engine="streaming")


def plan_of(folder: Folder, job: Job, night: dt.date) -> Plan | None:
    """How the estimates of a night were made; nothing is written.

    Returns: None when the night was not made, or not by the settings of today.
    """
    kept = folder.read_json(ESTIMATES, f"{night}.json")
    if kept is None or kept["settings"] != settings_of(job):
        return None
    places = {(one, other): place for one, other, place in kept["places"]}
    return plans.build(job, plans.declared(folder, job), places, kept["largest"])


def _digests(
    folder: Folder, job: Job, history: History, plan: Plan
) -> Iterator[tuple[dt.date, str]]:
    """Of each night a digest of all that its estimates depend on: a chain of days."""
    shares = [(n, plan.share(n)) for n in evidence.subjects_of(job)]
    largest = sorted(plan.largest.items())
    digest = digest_of(VERSION, settings_of(job), sorted(shares), largest)
    fitted = models.digests(folder, job, history.nights)
    for night in history.nights:
        looks = plan.looks_at(night)
        new = _dated(history.new_at(night))
        digest = digest_of(digest, str(night), new, fitted.get(night))
        yield night, digest_of(digest, str(looks.first_night), looks.horizon_nights)


def _dated(keys: Mapping[dt.date, Keys]) -> dict[str, Keys]:
    return {str(day): dict(of_day) for day, of_day in keys.items()}


def _is_revised(folder: Folder, job: Job, night: dt.date, revised: int) -> bool:
    """Whether a day changed after it was over since the night was made last.

    revised: how often days up to the night did. A night that was made under other
    settings is another analysis.
    """
    kept = folder.read_json(ESTIMATES, f"{night}.json")
    is_there = folder.path(ESTIMATES, f"{night}.parquet").exists()
    if kept is None or not is_there or kept["settings"] != settings_of(job):
        return False
    return bool(kept["revisions"] < revised)


def _is_made(folder: Folder, night: dt.date, key: str) -> bool:
    kept = folder.read_json(ESTIMATES, f"{night}.json")
    return (
        kept is not None
        and kept["key"] == key
        and folder.path(ESTIMATES, f"{night}.parquet").exists()
    )
