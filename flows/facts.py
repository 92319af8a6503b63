"""What a job's results folder says about its nights: the facts of their reports.

A report is made from what was kept, never from the log: days as they were when they
passed, estimates as they were made. `Kept` is read once and serves any number of
nights; a night's facts hold nothing of later ones.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from flows.policies import nearest
from flows.reports import NightFacts
from flows.warehouse import checked, estimates
from flows.warehouse.folder import Folder
from flows.warehouse.settings import Job

DAYS = {
    "day": pl.Date,
    "decisions": pl.Int64,
    "rewards": pl.Int64,
    "actions": pl.Int64,
    "revision": pl.Int64,
}
VIOLATIONS = {"day": pl.Date, "rule": pl.String, "count": pl.Int64}


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything that reports are made of.

    headlines: of every night the estimates since the start, without segments.
    violations: day, rule, count, of days that a later run refused.
    """

    folder: Folder
    job: Job
    days: tuple[checked.Kept, ...]
    made: tuple[estimates.Made, ...]
    headlines: pl.DataFrame
    violations: pl.DataFrame

    @classmethod
    def of(cls, folder: Folder, job: Job) -> Kept:
        """Reads the folder; at least one night has been estimated."""
        made = estimates.made_nights(folder)
        return cls(
            folder=folder,
            job=job,
            days=checked.kept_days(folder),
            made=made,
            headlines=estimates.headlines(folder, [one.night for one in made]),
            violations=_violations(folder),
        )

    def facts(self, night: dt.date) -> NightFacts:
        """All that the report of a night may say."""
        job = self.job
        days = [day for day in self.days if day.day <= night]
        earlier = self.headlines.filter(pl.col("night") < night)
        return NightFacts(
            job=job.name,
            night=night,
            timezone=job.timezone,
            reward_range=job.reward_range,
            propensity_floor=job.propensity_floor,
            confidence=job.confidence,
            method=job.method,
            candidates=tuple((n.name, n.spec) for n in job.candidates),
            estimates=pl.concat([earlier, estimates.read(self.folder, night)]),
            days=pl.DataFrame([_day(day) for day in days], schema=DAYS),
            warnings=_warnings(days),
            unknown_actions=self._unknown(night, days),
            violations=self.violations.filter(pl.col("day") <= night),
        )

    def _unknown(
        self, night: dt.date, days: Sequence[checked.Kept]
    ) -> dict[str, tuple[dict[str, Any], ...]]:
        """Per candidate the actions it takes that some day never lists."""
        listed = sorted({name for day in days for name in day.profile.action_names})
        unknown: dict[str, set[str]] = {}
        for one in self.made:
            for candidate, actions in one.unknown.items() if one.night <= night else ():
                unknown.setdefault(candidate, set()).update(actions)
        return {
            candidate: tuple(
                {"action": action, "nearest": nearest(action, listed)}
                for action in sorted(actions)
            )
            for candidate, actions in unknown.items()
            if actions
        }


def _day(day: checked.Kept) -> dict[str, Any]:
    return {
        "day": day.day,
        "decisions": day.profile.decisions,
        "rewards": day.profile.rewards,
        "actions": len(day.profile.action_names),
        "revision": day.revision,
    }


def _warnings(days: Sequence[checked.Kept]) -> tuple[dict[str, Any], ...]:
    counted: dict[str, dict[str, Any]] = {}
    for one in (warned for day in days for warned in day.profile.warned):
        known = counted.setdefault(
            one.rule,
            {
                "rule": one.rule,
                "sentence": one.sentence,
                "remedy": one.remedy,
                "count": 0,
            },
        )
        known["count"] += one.count
    return tuple(counted[rule] for rule in sorted(counted))


def _violations(folder: Folder) -> pl.DataFrame:
    """How many rows of each day broke which rule; those without a time have no day."""
    frames = [pl.DataFrame(schema=VIOLATIONS)]
    for file in folder.glob("violations", "[0-9]*.parquet"):
        day = dt.date.fromisoformat(file.name[:10])
        rows = (
            pl.read_parquet(file, glob=False)
            .group_by("rule")
            .agg(pl.len().cast(pl.Int64))
        )
        frames.append(rows.select(pl.lit(day).alias("day"), "rule", count="len"))
    return pl.concat(frames).group_by("day", "rule").sum().sort("day", "rule")
