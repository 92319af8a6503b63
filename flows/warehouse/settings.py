"""What a night needs to know of its job, as frozen settings.

The job file is read by `flows.job`; the rooms below it know only this.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flows.decisions import Layout
from flows.importers import LearningMode
from flows.offpolicy.methods import Design
from flows.places import results_of
from flows.policies import Candidate
from flows.rewards import Rewards

# The logging policy's own rows in the tables carry this name.
BASELINE = "logging"


@dataclass(frozen=True, slots=True)
class ServiceLog:
    """How the log of a decision service is read (`flows.importers.dsjson`)."""

    learning_mode: LearningMode | None
    reward_path: str | None
    max_reject_share: float


@dataclass(frozen=True, slots=True)
class Export:
    """A place that the tables of the warehouse are exported to (`flows.exports`).

    name: by which it is asked for; to: what it is.
    path: its file or folder, relative to the job file's; None for a server.
    url_env: the variable of the environment that holds the server's URL.
    namespace: the schema, dataset or namespace that the tables stand in there.
    uri: where BigQuery finds the files of `path`.
    tables: those that are exported, where the job has them.
    """

    name: str
    to: str
    path: str | None
    url_env: str | None
    namespace: str
    uri: str | None
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """A job: one log, its candidates, and how they are estimated.

    base: the job file's folder, from which relative paths start.
    timezone: of the night's border.
    log: patterns of the log's files, relative to `base`.
    service: how the log is imported each night that a decision service wrote; None
        where it is a log of Parquet.
    rewards: how rewards are joined that come in a table of their own; None where the
        log holds them.
    design: how intervals are made.
    cuts: the declared segments, each some context columns.
    pairs: candidates whose difference is declared.
    fixed_at: of a candidate the night from which on it was left as it is.
    doubly_robust: whether estimates have a doubly robust twin.
    has_suggestions: whether the job's suggestions stand beside its nights.
    reports: the forms in which a night is reported.
    also: further job files of the same night, relative to `base`.
    exports: where the tables go when the night is done.
    digest: of the settings, for the record of a run.
    """

    name: str
    base: Path
    timezone: str
    log: tuple[str, ...]
    layout: Layout
    candidates: tuple[Candidate, ...]
    reward_range: tuple[float, float]
    propensity_floor: float
    design: Design
    least_sample_probability: float
    cuts: tuple[tuple[str, ...], ...]
    pairs: tuple[tuple[str, str], ...]
    fixed_at: Mapping[str, dt.date]
    reports: tuple[str, ...]
    also: tuple[str, ...]
    digest: str
    service: ServiceLog | None = None
    rewards: Rewards | None = None
    doubly_robust: bool = False
    has_suggestions: bool = False
    exports: tuple[Export, ...] = ()

    @property
    def results(self) -> Path:
        """The folder the job writes to."""
        return results_of(self.base, self.name)
