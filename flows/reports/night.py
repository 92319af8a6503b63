"""The facts of one night: all that its report may say.

Frames are as the warehouse holds them; the schemas of those that may be empty stand
here, so that an empty one is easily made.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from flows.offpolicy.methods import Design
from flows.rewards import Counts, Delays, Rewards

# How it is known which actions the logging policy could take: every probability was
# logged; the job file declares it; or it is not known (validity.md 2).
Support = Literal["logged", "declared", "unknown"]
NUMBERS = ("estimate", "lower", "upper")

VIOLATIONS: Mapping[str, type[pl.DataType]] = {
    "day": pl.Date,
    "rule": pl.String,
    "count": pl.Int64,
}
REVISIONS: Mapping[str, type[pl.DataType]] = {
    "night": pl.Date,
    "known_from": pl.Date,
    "candidate": pl.String,
    "other": pl.String,
    "estimand": pl.String,
    **{f"{name}_before": pl.Float64 for name in NUMBERS},
    **{f"{name}_after": pl.Float64 for name in NUMBERS},
    "run_id": pl.String,
}


@dataclass(frozen=True)
class JudgedDay:
    """How the decisions of a day were judged by the rewards that the night knows.

    known_from: the first night that knows them; the day itself, or a later night for
        which rewards had become known since.
    is_open: more of them may arrive in time; what is not there is missing.
    closes_at: when none may any more, in the job's zone.
    delays: None without any reward.
    """

    day: dt.date
    known_from: dt.date
    is_open: bool
    closes_at: dt.datetime
    counts: Counts
    delays: Delays | None


@dataclass(frozen=True)
class RewardFacts:
    """Rewards that come in a table of their own.

    judged: a day each, oldest first.
    """

    declared: Rewards
    judged: tuple[JudgedDay, ...]


@dataclass(frozen=True)
class DefaultFacts:
    """A declared default reward.

    reward: what a decision without one earns.
    without: of table `estimates` the rows of the night since the start, without
        segment, in which a default reward is as good as none; empty where none counts.
    """

    reward: float
    without: pl.DataFrame


@dataclass(frozen=True)
class NightFacts:
    """All that a report may say.

    night: the reported night; every frame holds nights up to it.
    reward_range: lowest and highest reward, lowest first.
    design: how intervals are made; its horizon is that of the night's looks. Each
        estimate carries its own method, confidence, look and what it assumes.
    checkpoint_nights: of `anytime`, counted from the first night looked at as 1,
        ascending; empty by other methods.
    candidates: (name, spec) in the order of the job file.
    fixed_at: of a candidate the night from which on it was left as it is.
    estimates: table `estimates`; of earlier nights only the rows since the start,
        without segment, are read, and others may be left out.
    doubly_robust: of table `estimates` the doubly robust rows of the night since the
        start, without segment; empty where the job does not ask for them.
    days: day, decisions, rewards (that arrived), actions (distinct), revision (0: as
        first read; one more for each change after it closed).
    rewards: None where the log holds them.
    default: None where no default reward is declared.
    warnings: rule, sentence, remedy, count (of decisions); for advice about rewards
        also days on which it applies, and the last of them.
    unknown_actions: candidate -> entries with action and nearest (text or None).
    violations: of `VIOLATIONS`; of days that are still not repaired.
    revisions: of `REVISIONS`; what changed in the published numbers of which night.
        Where `known_from` is later than the night, that night stays as published, and
        the later one knows of rewards that move it.
    frequencies: what `flows.offpolicy.frequencies.findings` found, of all days up to
        the night together and of each; empty where probabilities are not logged.
    suggested: document `untaken.suggestions/1`, of the night or before; None without.
    switch_rule: by the rule of the retired service, since each candidate's start:
        candidate, value, lower, upper, the same of the policy that ran (`online_`), and
        would_switch; no row where nothing is known. None of any other log.
    """

    job: str
    night: dt.date
    timezone: str
    reward_range: tuple[float, float]
    propensity_floor: float
    design: Design
    checkpoint_nights: tuple[int, ...]
    support: Support
    least_sample_probability: float
    candidates: tuple[tuple[str, str], ...]
    fixed_at: Mapping[str, dt.date]
    estimates: pl.DataFrame
    doubly_robust: pl.DataFrame
    days: pl.DataFrame
    rewards: RewardFacts | None
    default: DefaultFacts | None
    warnings: tuple[dict[str, Any], ...]
    unknown_actions: Mapping[str, tuple[dict[str, Any], ...]]
    violations: pl.DataFrame
    revisions: pl.DataFrame
    frequencies: pl.DataFrame
    suggested: Mapping[str, Any] | None
    switch_rule: pl.DataFrame | None
