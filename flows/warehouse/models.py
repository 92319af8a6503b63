"""Reward models, and the doubly robust scores that are counted with them.

models/seen/DAY-KEY.parquet      what a day's decisions earned, by context and action,
                                 as its own night knew it
models/NIGHT-KEY.json            the model of a night, fitted when it was first counted
                                 on at most the last 28 days before it, with a digest;
                                 the key is one of how the log is read
doubly_robust/DAY/KEY.parquet    counted scores of one candidate on one day; the key is
                                 one of its evidence and of the model

A model that is kept is never fitted again, whatever changes in the days it was fitted
on (validity.md 16): only then was it there before the night. What a revised day earned
is learnt by later nights alone. Days are counted oldest first.
"""

from __future__ import annotations

import datetime as dt
import importlib.util
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from flows.errors import LogError, UsageError
from flows.folder import Folder, digest_of
from flows.offpolicy import doubly_robust
from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.grid import Grid
from flows.offpolicy.plan import Plan, Subject
from flows.offpolicy.reward_fit import NOT_INSTALLED, fit, seen
from flows.offpolicy.reward_fit import SEEN as NOTHING
from flows.offpolicy.reward_model import RewardModel, is_usable
from flows.offpolicy.twins import Scores
from flows.policies import Kind, Prepared
from flows.policies.scorable import Lists, Scored
from flows.warehouse.checked import profile_of, revision_of
from flows.warehouse.days import Day, days_in_log
from flows.warehouse.settings import Job

MODELS = "models"
SEEN = "models/seen"
SCORES = "doubly_robust"
VERSION = 1
# How many earlier days a model is fitted on.
LEARNT_DAYS = 28
# Letters of a date in a file's name.
DATE = 10
DIFFERENT_LISTS = (
    "doubly_robust needs decisions that all list the same actions within a day, in the "
    "same order; those of {days} do not. Leave doubly_robust out of the job file"
)


def require(folder: Folder, job: Job, days: Sequence[Day]) -> None:
    """Refuses days that checked out but that no model can be used on.

    Raises: LogError where decisions list different actions, UsageError when
    scikit-learn is not installed.
    """
    if not job.doubly_robust:
        return
    found = {day.day: profile_of(folder, job, day) for day in days}
    odd = [str(day) for day, one in found.items() if one and one.actions is None]
    if odd:
        more = ", ..." if len(odd) > 1 else ""
        raise LogError(DIFFERENT_LISTS.format(days=odd[0] + more))
    if importlib.util.find_spec("sklearn") is None:
        raise UsageError(NOT_INSTALLED)


def is_uncounted(
    folder: Folder, job: Job, day: Day, keys: Mapping[str, str], subject: Subject
) -> bool:
    """Whether a candidate's doubly robust scores of the day are wanted and not there.

    keys: label of each subject to the digest that names its evidence of the day.
    """
    if subject not in _subjects(job):
        return False
    digest = _digest(_model_path(folder, job, day.day))
    is_learnt = not _is_first(day) or _seen_path(folder, job, day).exists()
    if digest is None or not is_learnt:
        return True
    return not _path(folder, day.day, keys[subject[0]], digest).exists()


def count_day(
    folder: Folder,
    job: Job,
    day: Day,
    keys: Mapping[str, str],
    prepared: Prepared,
    scored: Sequence[Scored],
    grid: Grid,
) -> None:
    """Keeps what a day earned and its model, and counts the scores that lack.

    prepared, scored: the day's decisions, with candidates that may want scores.
    """
    log, actions = prepared.scorable, prepared.profile.actions
    if not job.doubly_robust or not isinstance(log, Lists) or actions is None:
        return
    _keep_seen(folder, job, day, prepared, log, grid)
    path = _model_path(folder, job, day.day)
    kept = folder.read_json(MODELS, path.name) or _fitted(folder, path)
    wanted = [
        one
        for one in scored
        if is_uncounted(folder, job, day, keys, (one.name, NO_OTHER))
    ]
    if not wanted:
        return
    counts = doubly_robust.count(
        log,
        wanted,
        actions=actions,
        model=RewardModel.read(kept["model"]),
        grid=grid,
        blocks=job.design.blocks,
    )
    dated = counts.select(
        pl.lit(day.day).alias("day"),
        pl.lit(day.judged_as_of).alias("judged_as_of"),
        pl.lit(revision_of(folder, day), dtype=pl.Int64).alias("revision"),
        pl.all(),
    )
    for one in wanted:
        rows = dated.filter(pl.col("candidate") == one.name)
        path = _path(folder, day.day, keys[one.name], kept["digest"])
        folder.write_parquet(rows, SCORES, str(day.day), path.name)


def digests(folder: Folder, job: Job, days: Iterable[dt.date]) -> dict[dt.date, str]:
    """The digest of the model of each of some nights; none without the option."""
    found = {day: _digest(_model_path(folder, job, day)) for day in days}
    return {day: digest or "" for day, digest in found.items() if job.doubly_robust}


def scores(
    folder: Folder,
    job: Job,
    keys: Mapping[dt.date, Mapping[str, str]],
    subject: Subject,
    plan: Plan,
) -> Scores | None:
    """The counted scores of a candidate on some days; None where there are none."""
    if subject not in _subjects(job):
        return None
    fitted = digests(folder, job, keys)
    files = [
        _path(folder, day, of_day[subject[0]], fitted[day])
        for day, of_day in keys.items()
    ]
    rows = pl.scan_parquet(files, glob=False, hive_partitioning=False)
    return Scores.of(rows.collect(engine="streaming"), subject, plan)


def _subjects(job: Job) -> set[Subject]:
    """Whose estimates have a doubly robust twin: candidates that may act otherwise."""
    if not job.doubly_robust:
        return set()
    return {(n.name, NO_OTHER) for n in job.candidates if n.kind is not Kind.LOGGING}


def _is_first(day: Day) -> bool:
    """Whether it is the version of a day that its night knew: models learn from it."""
    return day.judged is None or day.judged.is_first


def _keep_seen(
    folder: Folder, job: Job, day: Day, prepared: Prepared, log: Lists, grid: Grid
) -> None:
    target = _seen_path(folder, job, day)
    if not _is_first(day) or target.exists():
        return
    schema = log.frames[0].collect_schema()
    rows = seen(
        log,
        actions=prepared.profile.actions or (),
        context=[name for name in job.layout.context if is_usable(schema[name])],
        grid=grid,
        decisions=prepared.profile.decisions,
    )
    folder.write_parquet(rows, SEEN, target.name)
    for old in folder.glob(SEEN, f"{day.day}-*.parquet"):
        if old != target:
            old.unlink()


def _fitted(folder: Folder, path: Path) -> dict[str, Any]:
    """Fits the model of a night on days before it, and keeps it in `path`."""
    held = days_in_log(folder)
    files = {
        file.name[:DATE]: file
        for file in folder.glob(SEEN, "*.parquet")
        if file.name[:DATE] in held and file.name[:DATE] < path.name[:DATE]
    }
    learnt = sorted(files)[-LEARNT_DAYS:]
    rows = [pl.read_parquet(files[day], glob=False) for day in learnt]
    none = pl.DataFrame(schema=NOTHING)
    model = fit(pl.concat([none, *rows], how="diagonal_relaxed"))
    kept: dict[str, Any] = {"learnt": learnt, "model": model.content}
    kept["digest"] = digest_of(VERSION, kept)
    folder.write_json(kept, MODELS, path.name)
    return kept


def _digest(model: Path) -> str | None:
    """The digest of a model; None where it is not there."""
    if not model.exists():
        return None
    return _read_digest(str(model), model.stat().st_mtime_ns)


@lru_cache(maxsize=4096)
def _read_digest(model: str, changed_ns: int) -> str:  # noqa: ARG001 - the key
    digest: str = json.loads(Path(model).read_text(encoding="utf-8"))["digest"]
    return digest


def _model_path(folder: Folder, job: Job, night: dt.date) -> Path:
    return folder.path(MODELS, f"{night}-{_read_as(job)}.json")


def _seen_path(folder: Folder, job: Job, day: Day) -> Path:
    key = digest_of(day.scored_digest, _read_as(job))
    return folder.path(SEEN, f"{day.day}-{key}.parquet")


def _read_as(job: Job) -> str:
    """A digest of how a model reads the log."""
    return digest_of(VERSION, asdict(job.layout), job.reward_range)


def _path(folder: Folder, day: dt.date, key: str, model: str) -> Path:
    return folder.path(SCORES, str(day), f"{digest_of(key, model)}.parquet")
