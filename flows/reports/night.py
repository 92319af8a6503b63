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
    "candidate": pl.String,
    "other": pl.String,
    "estimand": pl.String,
    **{f"{name}_before": pl.Float64 for name in NUMBERS},
    **{f"{name}_after": pl.Float64 for name in NUMBERS},
    "run_id": pl.String,
}


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
    warnings: rule, sentence, remedy, count.
    unknown_actions: candidate -> entries with action and nearest (text or None).
    violations: of `VIOLATIONS`; of days that are still not repaired.
    revisions: of `REVISIONS`; what changed in the published numbers of which night.
    frequencies: what `flows.offpolicy.frequencies.findings` found, of all days up to
        the night together and of each; empty where probabilities are not logged.
    suggested: document `untaken.suggestions/1`, of the night or before; None without.
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
    warnings: tuple[dict[str, Any], ...]
    unknown_actions: Mapping[str, tuple[dict[str, Any], ...]]
    violations: pl.DataFrame
    revisions: pl.DataFrame
    frequencies: pl.DataFrame
    suggested: Mapping[str, Any] | None
