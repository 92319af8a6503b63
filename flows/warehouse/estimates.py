"""The estimates of every night, made once from the evidence and kept."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import polars as pl

from flows.offpolicy.nights import SCHEMA, Plan, estimate_night
from flows.warehouse import evidence
from flows.warehouse.days import Day
from flows.warehouse.folder import Folder, digest_of
from flows.warehouse.settings import BASELINE, Job

APPEARED = "candidates.json"
VERSION = 1


def plan_of(folder: Folder, job: Job) -> Plan:
    """How the job's estimates are made; remembers who appeared when."""
    appeared = folder.read_json(APPEARED) or []
    new = [n.name for n in job.candidates if n.name not in appeared]
    if new:
        appeared = [*appeared, *new]
        folder.write_json(appeared, APPEARED)
    return Plan(
        grid=evidence.grid_of(job),
        method=job.method,
        confidence=job.confidence,
        appeared=appeared,
        logging=evidence.logging_names(job),
        baseline=BASELINE,
    )


def estimate(
    folder: Folder,
    job: Job,
    days: Sequence[Day],
    night: dt.date,
    counts: tuple[pl.DataFrame, pl.DataFrame | None],
    run_id: str,
) -> bool:
    """Makes a night's estimates unless they are there; says whether it did.

    days: those up to the night; counts: their evidence, and exact counts if needed.
    """
    plan = plan_of(folder, job)
    key = digest_of(
        VERSION,
        [
            evidence.key_of(job, day, n)
            for day in days
            for n in evidence.candidates_of(job)
        ],
        [plan.method, plan.confidence, list(plan.appeared)],
        [n.spec for n in job.candidates],
    )
    kept = folder.read_json("estimates", f"{night}.json")
    if kept == {"key": key} and folder.path("estimates", f"{night}.parquet").exists():
        return False
    cells, exact = (
        frame.filter(pl.col("day") <= night) if frame is not None else None
        for frame in counts
    )
    assert cells is not None
    rows = estimate_night(night, cells, exact, plan)
    folder.write_parquet(
        rows.with_columns(pl.lit(run_id).alias("run_id")),
        "estimates",
        f"{night}.parquet",
    )
    folder.write_json({"key": key}, "estimates", f"{night}.json")
    return True


def read(folder: Folder, nights: Sequence[dt.date]) -> pl.DataFrame:
    """The estimates of `nights`."""
    frames = [
        pl.read_parquet(folder.path("estimates", f"{night}.parquet"))
        for night in nights
    ]
    return pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)
