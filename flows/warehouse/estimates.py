"""The estimates of every night, made once from the evidence and kept.

estimates/NIGHT.parquet   all rows of the night
estimates/NIGHT.json      what they were made from: a digest of everything, one of
                          the settings alone, the evidence of the night's own day
                          and the unknown actions in it
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from flows.offpolicy.evidence import LARGEST, SUMS
from flows.offpolicy.nights import HEADLINE, Plan, estimate_night
from flows.warehouse import evidence
from flows.warehouse.days import days_in_log
from flows.warehouse.evidence import EVIDENCE, EXACT, Keys
from flows.warehouse.folder import Folder, digest_of
from flows.warehouse.settings import BASELINE, Job

APPEARED = "candidates.json"
ESTIMATES = "estimates"
VERSION = 1


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
        for night, key in _digests(job, keys, plan)
        if not _is_made(folder, night, key)
    }
    counts: tuple[pl.DataFrame, pl.DataFrame | None] | None = None
    for night in keys:
        if night in wanted:
            counts = counts or _counts(folder, job, keys)
            cells, exact = counts
            rows = estimate_night(night, cells, exact, plan)
            dated = rows.with_columns(pl.lit(run_id).alias("run_id"))
            folder.write_parquet(dated, ESTIMATES, f"{night}.parquet")
            folder.write_json(
                {
                    "key": wanted[night],
                    "settings": settings_of(job),
                    "evidence": dict(keys[night]),
                    "unknown": evidence.unknown_actions(folder, night, keys[night]),
                },
                ESTIMATES,
                f"{night}.json",
            )
        advance()
    return len(wanted)


def settings_of(job: Job) -> str:
    """A digest of the settings by which estimates are made."""
    return digest_of(
        [(candidate.name, candidate.spec) for candidate in job.candidates],
        [job.reward_range, job.propensity_floor, job.confidence, job.method],
        [job.cuts, job.timezone],
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
    """Of several nights the rows since the start, without segments."""
    files = [folder.path(ESTIMATES, f"{night}.parquet") for night in nights]
    rows = pl.scan_parquet(files, glob=False, hive_partitioning=False)
    is_headline = (pl.col("window") == HEADLINE) & (pl.col("segment_by") == "")
    return rows.filter(is_headline).collect(engine="streaming")


def _plan(folder: Folder, job: Job) -> Plan:
    """How the job's estimates are made; remembers who appeared when.

    A candidate that is changed under its name appears anew: each version is an
    attempt of its own, and uses a share of its own.
    """
    appeared = folder.read_json(APPEARED) or []
    versions = {n.name: [n.name, evidence.version_of(n)] for n in job.candidates}
    new = [version for version in versions.values() if version not in appeared]
    if new:
        appeared = [*appeared, *new]
        folder.write_json(appeared, APPEARED)
    return Plan(
        grid=evidence.grid_of(job),
        method=job.method,
        confidence=job.confidence,
        places={name: appeared.index(own) + 1 for name, own in versions.items()},
        logging=evidence.logging_names(job),
        baseline=BASELINE,
    )


def _digests(
    job: Job, keys: Mapping[dt.date, Keys], plan: Plan
) -> Iterator[tuple[dt.date, str]]:
    """Of each night a digest of all that its estimates depend on: a chain of days."""
    shares = [(n.name, plan.share(n.name)) for n in job.candidates]
    digest = digest_of(VERSION, settings_of(job), sorted(shares))
    for night, of_day in keys.items():
        digest = digest_of(digest, str(night), of_day)
        yield night, digest


def _is_made(folder: Folder, night: dt.date, key: str) -> bool:
    kept = folder.read_json(ESTIMATES, f"{night}.json")
    return (
        kept is not None
        and kept["key"] == key
        and folder.path(ESTIMATES, f"{night}.parquet").exists()
    )


def _counts(
    folder: Folder, job: Job, keys: Mapping[dt.date, Keys]
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Evidence of all days added over sub-blocks; exact counts where needed."""
    by = ("day", "candidate", "segment_by", "segment")
    cells = (
        evidence.scan(folder, keys, EVIDENCE)
        .group_by(*by, "kind", "weight_cell", "reward_cell")
        .agg(*(pl.col(name).sum() for name in SUMS), pl.col(LARGEST).max())
        .collect(engine="streaming")
    )
    if EXACT not in evidence.kinds_of(job):
        return cells, None
    return cells, evidence.scan(folder, keys, EXACT).collect(engine="streaming")
