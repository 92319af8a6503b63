"""The warehouse: one DuckDB file with everything, built beside and swapped in.

Tables `runs`, `evidence`, `known_segments`, `estimates`, `revisions`, `rewards` (empty
where the log holds them), `frequencies`, `violations`, `missing`, `settings`,
`candidates`; views `answers`, `differences`, `closing_in`, `segments`,
`doubly_robust`, `without_default`; the macros of `sql/macros/`. A job with suggestions
has `suggestions`, those that wait, and `suggestion_reviews`, what became of others.
Somebody who has the old file open goes on reading it; whoever opens the name finds the
new one, complete. The small tables stand beside it as sorted Parquet in `tables/`;
evidence already is Parquet. What each column means, and in which unit, its comment says
(`sql/marts/comments/`), here and wherever the tables are exported to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import polars as pl

from flows import queries
from flows.folder import REPAIRED, VIOLATIONS, Folder, replacing
from flows.places import WAREHOUSE
from flows.warehouse import designs, frequencies, rewarded, suggested
from flows.warehouse.checked import kept_days
from flows.warehouse.estimates import ESTIMATES, made_nights
from flows.warehouse.evidence import EVIDENCE, path_of
from flows.warehouse.revisions import REVISIONS
from flows.warehouse.settings import Job

VIEWS = (
    "answers",
    "differences",
    "closing_in",
    "segments",
    "doubly_robust",
    "without_default",
)
COPIED = (
    "runs",
    "known_segments",
    "estimates",
    "revisions",
    "rewards",
    "frequencies",
    "violations",
    "missing",
    "settings",
    "candidates",
)


def publish(folder: Folder, job: Job) -> Path:
    """Builds the warehouse from every night that was estimated."""
    target = folder.path(WAREHOUSE)
    for left in target.parent.glob(f".{WAREHOUSE}.new*"):
        left.unlink()
    with (
        folder.work() as work,
        replacing(target) as beside,
        queries.connection(beside) as con,
    ):
        days = [day.day for day in kept_days(folder)]
        frames = {
            "frequencies": frequencies.found(folder, job, days),
            "rewards": rewarded.table(folder, job),
            "settings": designs.settings(job),
            "candidates": designs.candidates(job),
        }
        _build(con, folder)
        _build_of(con, frames, work)
        for name in (*(f"marts/{view}" for view in VIEWS), *queries.names("macros")):
            queries.run(con, name)
        also = _suggested(con, folder, job, work)
        for table in (*COPIED, "evidence", *also):
            queries.run(con, f"marts/comments/{table}")
        for table in (*COPIED, *also):
            _copy(con, table, folder.path("tables", f"{table}.parquet"))
        queries.execute(con, "checkpoint")
    return target


def _build(con: duckdb.DuckDBPyConnection, folder: Folder) -> None:
    nights = made_nights(folder)
    estimates = [folder.path(ESTIMATES, f"{one.night}.parquet") for one in nights]
    counted = [
        path_of(folder, EVIDENCE, day, key)
        for one in nights
        for day, of_day in one.evidence.items()
        for key in of_day.values()
    ]
    violations = [
        *folder.glob(VIOLATIONS, "*.parquet"),
        *folder.glob(REPAIRED, "*.parquet"),
    ]
    runs = folder.glob("runs", "*.json")
    queries.run(con, "marts/runs", files=_listed(runs))
    queries.run(con, "marts/evidence", files=_listed(counted))
    queries.run(con, "marts/known_segments")
    queries.run(con, "marts/estimates", files=_listed(estimates))
    if violations:
        queries.run(con, "marts/violations", files=_listed(violations))
    else:
        queries.run(con, "marts/no_violations")
    moved = folder.glob(REVISIONS, "*.parquet")
    if moved:
        queries.run(con, "marts/revisions", files=_listed(moved))
    else:
        queries.run(con, "marts/no_revisions")
    queries.run(con, "marts/missing")


def _build_of(
    con: duckdb.DuckDBPyConnection, frames: Mapping[str, pl.DataFrame], work: Path
) -> None:
    """Builds the tables that are small frames."""
    for table, frame in frames.items():
        file = work / f"{table}.parquet"
        frame.write_parquet(file)
        queries.run(con, f"marts/{table}", files=_listed([file]))


def _suggested(
    con: duckdb.DuckDBPyConnection, folder: Folder, job: Job, work: Path
) -> list[str]:
    """Builds the tables of suggestions where there are some; returns their names."""
    made = folder.read_json(*suggested.LIST) if job.has_suggestions else None
    if made is None:
        return []
    frames = suggested.tables(made)
    _build_of(con, frames, work)
    return list(frames)


def _copy(con: duckdb.DuckDBPyConnection, table: str, path: Path) -> None:
    with replacing(path) as beside:
        target = queries.literal(str(beside))
        queries.execute(con, f"copy {table} to {target} (format parquet)")


def _listed(files: Sequence[Path]) -> str:
    return queries.files(str(file) for file in files)
