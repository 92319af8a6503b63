"""The evidence of every day and candidate, counted once and kept.

The name of an evidence file is a digest of all that its counts depend on: the day's
content, the grid, the segments, the layout and the candidate with its table or source
file. A candidate that is added later is counted by itself; a file that exists is never
counted again. `exact/` holds the distinct scores that `compat` needs, and only then.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import polars as pl

from flows import queries
from flows.offpolicy import evidence, exact
from flows.offpolicy.grid import Grid
from flows.policies import Candidate, Kind, Request, parse, prepare, sources
from flows.warehouse.checked import profile_of, revision_of
from flows.warehouse.days import Day, open_day
from flows.warehouse.folder import Folder, digest_of, digest_of_file
from flows.warehouse.settings import BASELINE, Job


def grid_of(job: Job) -> Grid:
    """The grid of a job: its floor and reward range."""
    lowest, highest = job.reward_range
    floor = job.propensity_floor
    return Grid(floor=floor, lowest=lowest, highest=highest)


def candidates_of(job: Job) -> tuple[Candidate, ...]:
    """The logging policy itself, then the job's candidates."""
    return (parse(BASELINE, name=BASELINE), *job.candidates)


def for_day(candidate: Candidate, day: dt.date) -> Candidate:
    """The candidate as it is on `day`: of a table kept by day, that day's files."""
    return dataclasses.replace(candidate, day=day.isoformat())


def key_of(job: Job, day: Day, candidate: Candidate) -> str:
    """Digest of all that the counts of a candidate on a day depend on."""
    layout = asdict(job.layout)
    files = [digest_of_file(file) for file in sources(for_day(candidate, day.day))]
    return digest_of(
        evidence.SCHEMA_VERSION,
        day.digest,
        asdict(grid_of(job)),
        job.cuts,
        layout,
        candidate.name,
        candidate.spec,
        files,
    )


def uncounted(folder: Folder, job: Job, day: Day) -> tuple[Candidate, ...]:
    """The candidates whose evidence for the day is not there yet."""
    kinds = ["evidence", *(["exact"] if _is_exact(job) else [])]
    return tuple(
        candidate
        for candidate in candidates_of(job)
        if not all(
            _path(folder, kind, day, key_of(job, day, candidate)).exists()
            for kind in kinds
        )
    )


def count_day(folder: Folder, job: Job, day: Day) -> None:
    """Counts the evidence of a day for the candidates that lack it."""
    wanted = uncounted(folder, job, day)
    if not wanted:
        return
    grid = grid_of(job)
    with queries.connection() as con, folder.work() as work:
        request = Request(
            log=open_day(job, day.files),
            candidates=tuple(for_day(candidate, day.day) for candidate in wanted),
            reward_range=job.reward_range,
            work=work,
            keep=tuple({name for cut in job.cuts for name in cut}),
            window=day.window,
        )
        prepared = prepare(con, request, profile_of(folder, job, day))
        cells = evidence.count(
            prepared.scorable,
            prepared.scored(grid.tolerated_floor),
            grid=grid,
            segments=job.cuts,
            has_ids=True,
        )
        scores = None
        if _is_exact(job):
            scores = exact.count(
                prepared.scorable,
                prepared.scored(grid.floor),
                grid=grid,
                segments=job.cuts,
            )
    for candidate in wanted:
        key = key_of(job, day, candidate)
        chosen = pl.col("candidate") == candidate.name
        unknown = prepared.unknown.get(candidate.name, ())
        folder.write_json(list(unknown), "evidence", day.day.isoformat(), f"{key}.json")
        if scores is not None:
            _write(folder, "exact", day, key, scores.filter(chosen))
        _write(folder, "evidence", day, key, cells.filter(chosen))


def read(
    folder: Folder, job: Job, days: Sequence[Day], kind: str = "evidence"
) -> pl.DataFrame:
    """The counts of all candidates on `days`."""
    files = [file for day in days for file in files_of_day(folder, job, day, kind)]
    return pl.concat([pl.read_parquet(f, hive_partitioning=False) for f in files])


def files_of_day(
    folder: Folder, job: Job, day: Day, kind: str = "evidence"
) -> list[Path]:
    """The files that hold the counts of a day, one a candidate."""
    return [
        _path(folder, kind, day, key_of(job, day, candidate))
        for candidate in candidates_of(job)
    ]


def read_exact(folder: Folder, job: Job, days: Sequence[Day]) -> pl.DataFrame | None:
    """The distinct scores, where the job's method needs them."""
    return read(folder, job, days, "exact") if _is_exact(job) else None


def unknown_actions(
    folder: Folder, job: Job, days: Iterable[Day]
) -> dict[str, tuple[str, ...]]:
    """Per candidate, the actions it takes that the log of `days` never lists."""
    names: dict[str, set[str]] = {}
    for day in days:
        for candidate in job.candidates:
            key = key_of(job, day, candidate)
            found = folder.read_json("evidence", day.day.isoformat(), f"{key}.json")
            names.setdefault(candidate.name, set()).update(found or [])
    return {name: tuple(sorted(found)) for name, found in names.items() if found}


def logging_names(job: Job) -> frozenset[str]:
    """The candidates that are the logging policy itself."""
    return frozenset(n.name for n in candidates_of(job) if n.kind is Kind.LOGGING)


def _is_exact(job: Job) -> bool:
    return job.method == "compat"


def _path(folder: Folder, kind: str, day: Day, key: str) -> Path:
    return folder.path(kind, day.day.isoformat(), f"{key}.parquet")


def _write(folder: Folder, kind: str, day: Day, key: str, frame: pl.DataFrame) -> None:
    dated = frame.select(
        pl.lit(day.day).alias("day"),
        pl.lit(day.window[1]).alias("judged_as_of"),
        pl.lit(revision_of(folder, day), dtype=pl.Int64).alias("revision"),
        pl.all(),
    )
    folder.write_parquet(dated, kind, day.day.isoformat(), f"{key}.parquet")
