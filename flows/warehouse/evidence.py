"""The evidence of every day and candidate, counted once and kept.

The name of an evidence file is a digest of all that its counts depend on: the day's
content, the grid, the blocks, the segments, the layout and the candidate (or both
compared ones) with its table or source file. A candidate that is added later is counted
by itself; a file that exists is never counted again. `exact/` holds the distinct scores
that `compat` needs, and only then.

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
from flows.folder import Folder, digest_of, digest_of_file
from flows.offpolicy import evidence, exact
from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.grid import Grid
from flows.offpolicy.plan import Subject
from flows.offpolicy.sampling import sampling
from flows.policies import (
    Candidate,
    Kind,
    Prepared,
    Request,
    parse,
    prepare,
    sources,
)
from flows.warehouse import frequencies, models
from flows.warehouse.checked import profile_of, revision_of
from flows.warehouse.days import Day, name_of, open_day, open_judged, stamp_of
from flows.warehouse.settings import BASELINE, Job

SOURCES = "sources.json"
EVIDENCE = "evidence"
EXACT = "exact"
# Of one day: label of a candidate or pair to the digest that names its files.
Keys = Mapping[str, str]


def label(subject: Subject) -> str:
    """A candidate's name, or those of two compared ones."""
    return " minus ".join(name for name in subject if name)


def subjects_of(job: Job) -> tuple[Subject, ...]:
    """Whatever is counted for a job: the logging policy, its candidates, its pairs."""
    return (*((n.name, NO_OTHER) for n in candidates_of(job)), *job.pairs)


def grid_of(job: Job) -> Grid:
    """The grid of a job: its floor, which `compat` compares exactly, and range."""
    lowest, highest = job.reward_range
    return Grid(
        job.propensity_floor,
        lowest,
        highest,
        0.0 if job.design.used == "compat" else FLOOR_TOLERANCE,
        job.layout.sum_tolerance,
        job.least_sample_probability,
    )


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


def keys_of(folder: Folder, job: Job, days: Sequence[Day]) -> dict[Day, Keys]:
    """Of each day and candidate a digest of all that its counts depend on.

    Raises: PolicyError when a candidate has no file for a day.
    """
    files = [_files(candidate, days) for candidate in candidates_of(job)]
    digests = _digests(folder, job, {n for by_day in files for d in by_day for n in d})
    shared = (
        evidence.SCHEMA_VERSION,
        asdict(grid_of(job)),
        job.design.blocks,
        job.cuts,
        asdict(job.layout),
    )
    by_candidate = {
        day: {
            candidate.name: digest_of(
                *shared,
                day.scored_digest,
                candidate.name,
                candidate.spec,
                [digests[name] for name in by_day[number]],
            )
            for candidate, by_day in zip(candidates_of(job), files, strict=True)
        }
        for number, day in enumerate(days)
    }
    return {
        day: {
            **keys,
            **{
                label(n): digest_of("minus", *(keys[name] for name in n))
                for n in job.pairs
            },
        }
        for day, keys in by_candidate.items()
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


def uncounted(folder: Folder, job: Job, day: Day, keys: Keys) -> tuple[Subject, ...]:
    """The candidates and pairs whose evidence for the day is not there yet."""
    return tuple(
        subject
        for subject in subjects_of(job)
        if not all(
            path_of(folder, kind, day.day, keys[label(subject)]).exists()
            for kind in kinds_of(job)
        )
        or models.is_uncounted(folder, job, day, keys, subject)
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
        log=open_judged(job, day),
        candidates=tuple(for_day(candidate, day.day) for candidate in candidates),
        reward_range=job.reward_range,
        work=work,
        keep=_kept_columns(job),
        window=day.window,
    )
    return prepare(con, request, profile_of(folder, job, day))


def count_day(folder: Folder, job: Job, day: Day, keys: Keys) -> None:
    """Counts a day's actions, and its evidence for the subjects that lack it."""
    wanted = uncounted(folder, job, day, keys)
    names = {name for subject in wanted for name in subject}
    candidates = tuple(n for n in candidates_of(job) if n.name in names)
    grid = grid_of(job)
    counts: dict[str, pl.DataFrame] = {}
    with queries.connection() as con, folder.work() as work:
        prepared = prepare_day(con, folder, job, day, candidates, work)
        if EXACT in kinds_of(job):
            counts[EXACT] = exact.count(
                prepared.scorable,
                prepared.scored(grid.floor),
                grid=grid,
                segments=job.cuts,
            )
        scored = {n.name: n for n in prepared.scored(grid.tolerated_floor)}
        counts[EVIDENCE] = evidence.count(
            prepared.scorable,
            [
                evidence.Pair(scored[one], scored[other]) if other else scored[one]
                for one, other in wanted
            ],
            grid=grid,
            segments=job.cuts,
            blocks=job.design.blocks,
            sampling=sampling(open_day(job, day.files), prepared.profile, grid),
        )
        models.count_day(folder, job, day, keys, prepared, [*scored.values()], grid)
        frequencies.count_day(con, folder, job, day, profile=prepared.profile)
    for subject in wanted:
        key = keys[label(subject)]
        unknown = prepared.unknown.get(subject[0], ()) if not subject[1] else ()
        folder.write_json(list(unknown), EVIDENCE, str(day.day), f"{key}.json")
        for kind, frame in counts.items():
            _write(folder, kind, day, key, frame, subject)


def read(
    folder: Folder, keys: Mapping[dt.date, Keys], kind: str, subject: Subject
) -> pl.DataFrame:
    """The counts of a candidate or pair on the days of `keys`."""
    files = [
        path_of(folder, kind, day, of_day[label(subject)])
        for day, of_day in keys.items()
    ]
    rows = pl.scan_parquet(files, glob=False, hive_partitioning=False)
    return rows.collect(engine="streaming")


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
    return (EVIDENCE, EXACT) if job.design.used == "compat" else (EVIDENCE,)


def logging_names(job: Job) -> frozenset[str]:
    """The candidates that are the logging policy itself."""
    return frozenset(n.name for n in candidates_of(job) if n.kind is Kind.LOGGING)


def _kept_columns(job: Job) -> tuple[str, ...]:
    """The columns of the context that segments and reward models need."""
    named = [name for cut in job.cuts for name in cut]
    named += job.layout.context if job.doubly_robust else ()
    return tuple(dict.fromkeys(named))


def _write(
    folder: Folder, kind: str, day: Day, key: str, counts: pl.DataFrame, of: Subject
) -> None:
    is_its_own = pl.col("candidate") == of[0]
    if "other" in counts.columns:
        is_its_own &= pl.col("other") == of[1]
    dated = counts.filter(is_its_own).select(
        pl.lit(day.day).alias("day"),
        pl.lit(day.judged_as_of).alias("judged_as_of"),
        pl.lit(revision_of(folder, day), dtype=pl.Int64).alias("revision"),
        pl.all(),
    )
    folder.write_parquet(dated, kind, str(day.day), f"{key}.parquet")
