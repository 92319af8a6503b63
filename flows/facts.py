"""What a job's results folder says about its nights: the facts of their reports.

A report is made from what was kept, never from the log: days as they were when they
passed, estimates as they were made. `Kept` is read once and serves any number of
nights; a night's facts hold nothing of later ones.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from flows.decisions import Warned
from flows.folder import Folder
from flows.intervals.block_plan import checkpoint_shares
from flows.offpolicy.methods import Design
from flows.offpolicy.nights import (
    DOUBLY_ROBUST,
    HEADLINE,
    IMPORTANCE_WEIGHTING,
    WITHOUT_DEFAULT,
    headline,
)
from flows.policies import nearest
from flows.reports import NightFacts
from flows.reports.night import (
    VIOLATIONS,
    DefaultFacts,
    JudgedDay,
    RewardFacts,
    Support,
)
from flows.warehouse import (
    checked,
    estimates,
    frequencies,
    judging,
    plans,
    revisions,
    rewarded,
    service_rule,
    suggested,
)
from flows.warehouse.arrivals import closing
from flows.warehouse.settings import Job

DAYS = {
    "day": pl.Date,
    "decisions": pl.Int64,
    "rewards": pl.Int64,
    "actions": pl.Int64,
    "revision": pl.Int64,
}
MOST_MODELS = 5


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything that reports are made of.

    headlines: of every night the estimates since the start, without segments.
    violations: day, rule, count, of days that a later run refused.
    revisions: how far published nights moved.
    judged: of rewards that come apart, every version of every day.
    service: of a log that the retired service wrote, what its rule is told from.
    """

    folder: Folder
    job: Job
    days: tuple[checked.Kept, ...]
    made: tuple[estimates.Made, ...]
    headlines: pl.DataFrame
    violations: pl.DataFrame
    revisions: pl.DataFrame
    judged: tuple[judging.Judgement, ...]
    service: service_rule.Sums | None

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
            revisions=revisions.read(folder),
            judged=judging.judgements(folder) if job.rewards else (),
            service=service_rule.read(folder, job, made) if job.service else None,
        )

    def facts(self, night: dt.date) -> NightFacts:
        """All that the report of a night may say."""
        job, design = self.job, self._design(night)
        judged = judging.standing(self.judged, night)
        days = [day for day in self.days if day.day <= night]
        made = estimates.read(self.folder, night)
        own = made.filter(pl.col("estimator") == IMPORTANCE_WEIGHTING)
        return NightFacts(
            job=job.name,
            night=night,
            timezone=job.timezone,
            reward_range=job.reward_range,
            propensity_floor=job.propensity_floor,
            design=design,
            checkpoint_nights=_checkpoint_nights(design),
            support=_support(job),
            least_sample_probability=job.least_sample_probability,
            candidates=tuple((n.name, n.spec) for n in job.candidates),
            fixed_at=job.fixed_at,
            estimates=pl.concat([self.headlines.filter(pl.col("night") < night), own]),
            doubly_robust=made.filter(
                pl.col("estimator") == DOUBLY_ROBUST, pl.col("window") == HEADLINE
            ),
            days=_days(days, judged),
            rewards=_rewards(job, judged),
            default=_default(job, made),
            warnings=(*_warnings(job, days), *_advice(judged)),
            unknown_actions=self._unknown(night, days),
            violations=self.violations.filter(pl.col("day") <= night),
            revisions=self.revisions.filter(pl.col("known_from") <= night),
            frequencies=frequencies.found(self.folder, job, [day.day for day in days]),
            suggested=self._suggested(night),
            switch_rule=self._switch_rule(own, night),
        )

    def _switch_rule(self, made: pl.DataFrame, night: dt.date) -> pl.DataFrame | None:
        """What the service's rule says; made: the estimates of the night."""
        if self.service is None:
            return None
        rows = made.filter(
            headline(), pl.col("other") == "", pl.col("estimand") == "value"
        )
        starts = dict(rows.select("candidate", "window_start").iter_rows())
        return service_rule.told(self.service, starts, night)

    def _suggested(self, night: dt.date) -> dict[str, Any] | None:
        """The list of suggestions, unless it knows of what was asked later."""
        if not self.job.has_suggestions:
            return None
        made: dict[str, Any] | None = self.folder.read_json(*suggested.LIST)
        if made is None or made["as_of"] is None:
            return None
        end = dt.datetime.fromisoformat(made["as_of"])
        is_known = end.astimezone(ZoneInfo(self.job.timezone)).date() <= night
        return made if is_known else None

    def _design(self, night: dt.date) -> Design:
        """How the night's intervals are made, by the horizon of its own looks."""
        looks = [
            one
            for one in plans.declared(self.folder, self.job)
            if one.first_night <= night
        ]
        return replace(self.job.design, horizon_nights=looks[-1].horizon_nights)

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


def _days(
    days: Sequence[checked.Kept], judged: Sequence[judging.Judgement]
) -> pl.DataFrame:
    """The days of the log, with the rewards that had arrived."""
    observed = {one.day: one.counts.observed for one in judged}
    rows = [
        {
            "day": day.day,
            "decisions": day.profile.decisions,
            "rewards": observed.get(day.day, day.profile.rewards),
            "actions": len(day.profile.action_names),
            "revision": day.revision,
        }
        for day in days
    ]
    return pl.DataFrame(rows, schema=DAYS)


def _rewards(job: Job, judged: Sequence[judging.Judgement]) -> RewardFacts | None:
    """What became of rewards that come apart."""
    if job.rewards is None:
        return None
    zone = ZoneInfo(job.timezone)
    return RewardFacts(
        declared=job.rewards,
        judged=tuple(
            JudgedDay(
                day=one.day,
                known_from=one.night,
                is_open=one.is_open,
                closes_at=closing(job.rewards, one.day, job.timezone).astimezone(zone),
                counts=rewarded.settled(one),
                delays=one.delays,
            )
            for one in judged
        ),
    )


def _default(job: Job, made: pl.DataFrame) -> DefaultFacts | None:
    """The declared default reward; made: the estimates of the night."""
    of_log = job.layout.default_reward
    reward = of_log if job.rewards is None else job.rewards.default
    if reward is None:
        return None
    without = (pl.col("estimator") == WITHOUT_DEFAULT) & (pl.col("segment_by") == "")
    return DefaultFacts(reward, made.filter(without, pl.col("window") == HEADLINE))


def _advice(judged: Sequence[judging.Judgement]) -> list[dict[str, Any]]:
    """Advice about rewards, in the words of the last day on which it applies."""
    found: dict[str, dict[str, Any]] = {}
    for one in judged:
        for warned in one.warnings:
            before = found.get(warned.rule, {"count": 0, "days": 0})
            found[warned.rule] = asdict(warned) | {
                "count": before["count"] + warned.count,
                "days": before["days"] + 1,
                "last_day": one.day.isoformat(),
            }
    return [found[rule] for rule in sorted(found)]


def _checkpoint_nights(design: Design) -> tuple[int, ...]:
    """At which nights intervals may narrow most, counted from the first as 1."""
    if design.used != "anytime":
        return ()
    return tuple(checkpoint_shares(design.horizon_nights))


def _support(job: Job) -> Support:
    if not job.layout.has_propensities:
        return "logged"
    return "declared" if job.layout.full_support else "unknown"


def _several_models(job: Job, days: Sequence[checked.Kept]) -> list[Warned]:
    """A warning where more than one model decided, though logging counts as fixed.

    A service that trains its model again changes its probabilities (validity.md 12).
    """
    names = sorted({name for day in days for name in day.profile.model_ids})
    if job.design.logging != "fixed" or len(names) < 2:  # noqa: PLR2004 - several
        return []
    told = ", ".join(names[:MOST_MODELS]) + ", ..." * (len(names) > MOST_MODELS)
    return [
        Warned(
            "one_model_decides",
            f"One model decided all along; model_id names {told}.",
            'declare logging = "adaptive" where models were trained on rewards of '
            "this log.",
            sum(day.profile.decisions for day in days if day.profile.model_ids),
        )
    ]


def _warnings(job: Job, days: Sequence[checked.Kept]) -> list[dict[str, Any]]:
    """Rules that decisions break, of all days together."""
    counted: dict[str, dict[str, Any]] = {}
    warned = [one for day in days for one in day.profile.warned]
    for one in [*_several_models(job, days), *warned]:
        known = counted.setdefault(one.rule, asdict(one) | {"count": 0})
        known["count"] += one.count
    return [counted[rule] for rule in sorted(counted)]


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
