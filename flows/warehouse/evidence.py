"""The evidence of every day and candidate, counted once and kept.

The name of an evidence file is a digest of all that its counts depend on: the day's
content, the grid, the segments, the layout and the candidate with its table or source
file. A candidate that is added later is counted by itself; a file that exists is never
counted again. `exact/` holds the distinct scores that `compat` needs, and only then.

A candidate's files are hashed when their size or time of change is new: tables by
decision are as large as the log.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import duckdb
import polars as pl

from flows import columns as c
from flows import queries
from flows.columns import FLOOR_TOLERANCE
from flows.offpolicy import evidence, exact
from flows.offpolicy.grid import Grid
from flows.policies import (
    Candidate,
    Kind,
    Prepared,
    Request,
    parse,
    prepare,
    sources,
)
from flows.warehouse.checked import profile_of, revision_of
from flows.warehouse.days import Day, name_of, open_day, stamp_of
from flows.warehouse.folder import Folder, digest_of, digest_of_file
from flows.warehouse.settings import BASELINE, Job

SOURCES = "sources.json"
EVIDENCE = "evidence"
EXACT = "exact"
# Of one day: candidate to the digest that names its files.
Keys = Mapping[str, str]


def grid_of(job: Job) -> Grid:
    """The grid of a job: its floor, which `compat` compares exactly, and range."""
    lowest, highest = job.reward_range
    tolerance = 0.0 if job.method == "compat" else FLOOR_TOLERANCE
    declared = job.layout.sum_tolerance
    return Grid(job.propensity_floor, lowest, highest, tolerance, declared)


def candidates_of(job: Job) -> tuple[Candidate, ...]:
    """The logging policy itself, then the job's candidates."""
    return (parse(BASELINE, name=BASELINE), *job.candidates)


def for_day(candidate: Candidate, day: dt.date) -> Candidate:
    """The candidate as it is on `day`: of a table kept by day, that day's files."""
    return dataclasses.replace(candidate, day=day.isoformat())


def version_of(candidate: Candidate) -> str:
    """A digest of what the candidate is, to tell its versions apart.

    Of a table keyed by decision the entries of new decisions are no new version.
    """
    files = sources(candidate)
    if candidate.kind is Kind.TABLE:
        schema = pl.scan_parquet(files[0], glob=False).collect_schema()
        is_by_decision = c.DECISION_ID in schema
        files = () if is_by_decision else files
    return digest_of(candidate.spec, [digest_of_file(file) for file in files])


def keys_of(folder: Folder, job: Job, days: Sequence[Day]) -> dict[dt.date, Keys]:
    """Of each day and candidate a digest of all that its counts depend on.

    Raises: PolicyError when a candidate has no file for a day.
    """
    files = [_files(candidate, days) for candidate in candidates_of(job)]
    digests = _digests(folder, job, {n for by_day in files for d in by_day for n in d})
    shared = (
        evidence.SCHEMA_VERSION,
        asdict(grid_of(job)),
        job.cuts,
        asdict(job.layout),
    )
    return {
        day.day: {
            candidate.name: digest_of(
                *shared,
                day.digest,
                candidate.name,
                candidate.spec,
                [digests[name] for name in by_day[number]],
            )
            for candidate, by_day in zip(candidates_of(job), files, strict=True)
        }
        for number, day in enumerate(days)
    }


def _files(candidate: Candidate, days: Sequence[Day]) -> list[tuple[str, ...]]:
    """The files of a candidate for each day."""
    whole = sources(candidate)
    if candidate.kind is not Kind.TABLE or not all("/day=" in file for file in whole):
        return [whole] * len(days)
    return [sources(for_day(candidate, day.day)) for day in days]


def _digests(folder: Folder, job: Job, files: Iterable[str]) -> dict[str, str]:
    """The content digests of candidates' files; hashes those that changed."""
    known = folder.read_json(SOURCES) or {}
    entries = {}
    for file in sorted(files):
        stamp, name = stamp_of(file), name_of(file, job)
        entry = known.get(name)
        if entry is None or entry["stamp"] != stamp:
            entry = {"stamp": stamp, "digest": digest_of_file(file)}
        entries[file] = known[name] = entry
    folder.write_json(known, SOURCES)
    return {file: entry["digest"] for file, entry in entries.items()}


def uncounted(folder: Folder, job: Job, day: Day, keys: Keys) -> tuple[Candidate, ...]:
    """The candidates whose evidence for the day is not there yet."""
    return tuple(
        candidate
        for candidate in candidates_of(job)
        if not all(
            path_of(folder, kind, day.day, keys[candidate.name]).exists()
            for kind in kinds_of(job)
        )
    )


def prepare_day(
    con: duckdb.DuckDBPyConnection,
    folder: Folder,
    job: Job,
    day: Day,
    candidates: Sequence[Candidate],
    work: Path,
) -> Prepared:
    """Validates candidates on a day that passed, and lays them out for scoring.

    Raises: PolicyError.
    """
    request = Request(
        log=open_day(job, day.files),
        candidates=tuple(for_day(candidate, day.day) for candidate in candidates),
        reward_range=job.reward_range,
        work=work,
        keep=tuple(dict.fromkeys(name for cut in job.cuts for name in cut)),
        window=day.window,
    )
    return prepare(con, request, profile_of(folder, job, day))


def count_day(folder: Folder, job: Job, day: Day, keys: Keys) -> None:
    """Counts the evidence of a day for the candidates that lack it."""
    wanted = uncounted(folder, job, day, keys)
    if not wanted:
        return
    grid = grid_of(job)
    counts: dict[str, pl.DataFrame] = {}
    with queries.connection() as con, folder.work() as work:
        prepared = prepare_day(con, folder, job, day, wanted, work)
        if EXACT in kinds_of(job):
            counts[EXACT] = exact.count(
                prepared.scorable,
                prepared.scored(grid.floor),
                grid=grid,
                segments=job.cuts,
            )
        counts[EVIDENCE] = evidence.count(
            prepared.scorable,
            prepared.scored(grid.tolerated_floor),
            grid=grid,
            segments=job.cuts,
            has_ids=True,
        )
    for candidate in wanted:
        key = keys[candidate.name]
        unknown = prepared.unknown.get(candidate.name, ())
        folder.write_json(list(unknown), EVIDENCE, str(day.day), f"{key}.json")
        for kind, frame in counts.items():
            _write(folder, kind, day, key, frame, candidate.name)


def scan(folder: Folder, keys: Mapping[dt.date, Keys], kind: str) -> pl.LazyFrame:
    """The counts of all candidates on the days of `keys`."""
    files = [
        path_of(folder, kind, day, key)
        for day, of_day in keys.items()
        for key in of_day.values()
    ]
    return pl.scan_parquet(files, glob=False, hive_partitioning=False)


def path_of(folder: Folder, kind: str, day: dt.date, key: str) -> Path:
    """The file of a candidate's counts on a day."""
    return folder.path(kind, str(day), f"{key}.parquet")


def unknown_actions(folder: Folder, day: dt.date, keys: Keys) -> dict[str, list[str]]:
    """Per candidate, the actions it takes that the log of the day never lists."""
    return {
        name: folder.read_json(EVIDENCE, str(day), f"{key}.json") or []
        for name, key in keys.items()
    }


def kinds_of(job: Job) -> tuple[str, ...]:
    """What is counted for the job."""
    return (EVIDENCE, EXACT) if job.method == "compat" else (EVIDENCE,)


def logging_names(job: Job) -> frozenset[str]:
    """The candidates that are the logging policy itself."""
    return frozenset(n.name for n in candidates_of(job) if n.kind is Kind.LOGGING)


def _write(
    folder: Folder, kind: str, day: Day, key: str, counts: pl.DataFrame, name: str
) -> None:
    dated = counts.filter(pl.col("candidate") == name).select(
        pl.lit(day.day).alias("day"),
        pl.lit(day.window[1]).alias("judged_as_of"),
        pl.lit(revision_of(folder, day.day), dtype=pl.Int64).alias("revision"),
        pl.all(),
    )
    folder.write_parquet(dated, kind, str(day.day), f"{key}.parquet")
