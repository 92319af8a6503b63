"""The estimates of every night, made once from the evidence and kept.

estimates/NIGHT.parquet   all rows of the night
estimates/NIGHT.json      what they were made from: a digest of everything, one of
                          the settings alone, the evidence of the night's own day,
                          the unknown actions in it, and of every candidate
                          its place and the largest probability it gives
candidates.json           the candidates in the order in which they appeared
pairs.json                the compared pairs likewise
looks.json                which horizon was declared, from which night on

Estimates are made candidate by candidate, so memory holds the evidence of one.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.nights import contradictions, estimate_subject, frame, headline
from flows.offpolicy.plan import Looks, Plan, Subject
from flows.offpolicy.twins import beside
from flows.policies import largest_probability
from flows.warehouse import evidence, models, revisions
from flows.warehouse.checked import revision_of
from flows.warehouse.days import days_in_log
from flows.warehouse.evidence import EVIDENCE, EXACT, Keys
from flows.warehouse.folder import Folder, digest_of
from flows.warehouse.settings import BASELINE, Job
from flows.warehouse.workers import results

APPEARED = "candidates.json"
PAIRS = "pairs.json"
LOOKS = "looks.json"
ESTIMATES = "estimates"
VERSION = 3
# How many nights' estimates are held before they are written.
NIGHTS_AT_ONCE = 32
# From so many candidates times nights times cuts on, processes are started.
LARGE = 100


@dataclass(frozen=True, slots=True)
class Made:
    """A night that was estimated.

    settings: digest of how it was estimated.
    evidence: candidate to the digest that names its counts on the night's own day.
    unknown: candidate to the actions it takes that this day's log never lists.
    """

    night: dt.date
    settings: str
    evidence: Keys
    unknown: Mapping[str, Sequence[str]]


def estimate_nights(
    folder: Folder,
    job: Job,
    keys: Mapping[dt.date, Keys],
    run_id: str,
    advance: Callable[[], None],
) -> int:
    """Makes the estimates that are not there yet; returns of how many nights.

    keys: of every day up to the newest night, oldest first.
    """
    plan = _plan(folder, job)
    wanted = {
        night: key
        for night, key in _digests(folder, job, keys, plan)
        if not _is_made(folder, night, key)
    }
    counted = [revision_of(folder, day) for day in keys]
    revised = dict(zip(keys, itertools.accumulate(counted), strict=True))
    for _ in range(len(keys) - len(wanted)):
        advance()
    for nights in _batches(list(wanted)):
        rows = _rows(folder, job, keys, nights, plan)
        for night in nights:
            made = rows[night].with_columns(pl.lit(run_id).alias("run_id"))
            if _is_revised(folder, job, night, revised[night]):
                revisions.record(folder, night, read(folder, night), made)
            folder.write_parquet(made, ESTIMATES, f"{night}.parquet")
            folder.write_json(
                {
                    "key": wanted[night],
                    "settings": settings_of(job),
                    "revisions": revised[night],
                    "evidence": dict(keys[night]),
                    "unknown": evidence.unknown_actions(folder, night, keys[night]),
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
    known = {day: of_day for day, of_day in keys.items() if day <= max(nights)}
    rows: dict[dt.date, list[dict[str, Any]]] = {night: [] for night in nights}
    against: dict[tuple[str, dt.date], str | None] = {}
    shared = _Shared(folder, job, known, tuple(nights), plan, against)
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


def _batches(nights: Sequence[dt.date]) -> Iterator[Sequence[dt.date]]:
    for start in range(0, len(nights), NIGHTS_AT_ONCE):
        yield nights[start : start + NIGHTS_AT_ONCE]


def settings_of(job: Job) -> str:
    """A digest of the settings by which estimates are made."""
    return digest_of(
        [(candidate.name, candidate.spec) for candidate in job.candidates],
        [job.reward_range, job.propensity_floor, job.least_sample_probability],
        asdict(replace(job.design, horizon_nights=None)),
        [job.cuts, job.pairs, sorted(job.fixed_at.items()), job.timezone],
        job.doubly_robust,
    )


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
                    kept["evidence"],
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


def _plan(folder: Folder, job: Job) -> Plan:
    """How the job's estimates are made; remembers who appeared when.

    A candidate that is changed under its name appears anew: each version is an
    attempt of its own, and uses a share of its own.
    """
    versions = {
        (n.name, NO_OTHER): [n.name, evidence.version_of(n)] for n in job.candidates
    }
    pairs = {
        (one, other): [*versions[one, NO_OTHER], *versions[other, NO_OTHER]]
        for one, other in job.pairs
    }
    places = {**_places(folder, APPEARED, versions), **_places(folder, PAIRS, pairs)}
    largest = {
        n.name: largest_probability(n, job.layout.actions) for n in job.candidates
    }
    return _plan_with(job, _looks(folder, job), places, largest)


def plan_of(folder: Folder, job: Job, night: dt.date) -> Plan | None:
    """How the estimates of a night were made; nothing is written.

    Returns: None when the night was not made, or not by the settings of today.
    """
    kept = folder.read_json(ESTIMATES, f"{night}.json")
    if kept is None or kept["settings"] != settings_of(job):
        return None
    places = {(one, other): place for one, other, place in kept["places"]}
    return _plan_with(job, _declared(folder), places, kept["largest"])


def _plan_with(
    job: Job,
    looks: tuple[Looks, ...],
    places: Mapping[Subject, int],
    largest: Mapping[str, float],
) -> Plan:
    return Plan(
        grid=evidence.grid_of(job),
        design=job.design,
        looks=looks,
        places=places,
        logging=evidence.logging_names(job),
        baseline=BASELINE,
        knows_support=job.layout.probabilities != "propensity"
        or job.layout.full_support,
        fixed_at=job.fixed_at,
        largest=largest,
    )


def _places(
    folder: Folder, name: str, versions: Mapping[Subject, list[str]]
) -> dict[Subject, int]:
    """The place of each in the order of appearance, from 1; remembers new ones."""
    appeared = folder.read_json(name) or []
    new = [version for version in versions.values() if version not in appeared]
    if new:
        appeared = [*appeared, *new]
        folder.write_json(appeared, name)
    return {subject: appeared.index(own) + 1 for subject, own in versions.items()}


def _looks(folder: Folder, job: Job) -> tuple[Looks, ...]:
    """The looks that were declared; a new horizon starts new ones on the next night."""
    declared = _declared(folder)
    horizon = job.design.horizon_nights
    if not declared or declared[-1].horizon_nights != horizon:
        made = [one.night for one in made_nights(folder)]
        first = max(made) + dt.timedelta(days=1) if made else dt.date.min
        # Looks that no night was made by yet were never taken.
        taken = [one for one in declared if one.first_night < first]
        declared = (*taken, Looks(first, horizon))
        folder.write_json(
            [[str(one.first_night), one.horizon_nights] for one in declared], LOOKS
        )
    return declared


def _declared(folder: Folder) -> tuple[Looks, ...]:
    return tuple(
        Looks(dt.date.fromisoformat(night), horizon)
        for night, horizon in folder.read_json(LOOKS) or []
    )


def _digests(
    folder: Folder, job: Job, keys: Mapping[dt.date, Keys], plan: Plan
) -> Iterator[tuple[dt.date, str]]:
    """Of each night a digest of all that its estimates depend on: a chain of days."""
    shares = [(n, plan.share(n)) for n in evidence.subjects_of(job)]
    largest = sorted(plan.largest.items())
    digest = digest_of(VERSION, settings_of(job), sorted(shares), largest)
    fitted = models.digests(folder, job, keys)
    for night, of_day in keys.items():
        looks = plan.looks_at(night)
        digest = digest_of(digest, str(night), of_day, fitted.get(night))
        yield night, digest_of(digest, str(looks.first_night), looks.horizon_nights)


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
