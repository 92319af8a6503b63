"""Facts of made-up nights: numbers behave as estimates do, without any chance."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass

import polars as pl
import pytest

from flows.reports import NightFacts

LAST_NIGHT = dt.date(2019, 11, 30)
WINDOWS = (("night", 1), ("last_7", 7), ("last_28", 28), ("since_start", None))
ASSUMPTIONS = (
    {
        "assumption": "The logged probabilities are those the policy acted on.",
        "status": "checked",
        "finding": "the mean weight agrees with them",
    },
    {
        "assumption": "A reward depends on its own decision alone.",
        "status": "cannot be checked",
        "finding": "nothing in a log can show it",
    },
    {
        "assumption": "The logging policy kept its probabilities.",
        "status": "checked",
        "finding": "one distribution a position on all nights",
    },
    {
        "assumption": "The answer is about decisions like these.",
        "status": "cannot be checked",
        "finding": "the log covers its own dates only",
    },
)
FLOATS = (
    "estimate",
    "lower",
    "upper",
    "identified_lower",
    "identified_upper",
    "confidence",
    "unsupported_probability",
    "mean_weight",
    "expected_mean_weight",
    "effective_sample_size",
    "largest_weight",
    "top_share",
)
SCHEMA = {
    "night": pl.Date,
    "window": pl.String,
    "window_start": pl.Date,
    "window_end": pl.Date,
    "candidate": pl.String,
    "segment_by": pl.String,
    "segment": pl.String,
    "estimand": pl.String,
    "method": pl.String,
    "look": pl.String,
    "state": pl.String,
    "decisions": pl.Int64,
    "missing_reward": pl.Int64,
    "missing_support": pl.Int64,
    "missing_both": pl.Int64,
    "assumptions": pl.List(
        pl.Struct({"assumption": pl.String, "status": pl.String, "finding": pl.String})
    ),
    "run_id": pl.String,
    **dict.fromkeys(FLOATS, pl.Float64),
}


@dataclass(frozen=True)
class Acts:
    """A made-up candidate: its true improvement and how fast its interval closes.

    spread: half-width after one decision; it shrinks with the root of their number.
        Without spread the candidate acts as the logging policy does.
    missing: share of decisions without reward; unsupported: without support.
    """

    name: str
    spec: str = "uniform"
    improvement: float = 0.0
    spread: float = 0.2
    missing: float = 0.0
    unsupported: float = 0.0
    state: str = "estimated"
    unknown: tuple[dict, ...] = ()


@dataclass(frozen=True)
class Nights:
    """A made-up log."""

    candidates: tuple[Acts, ...]
    count: int = 7
    decisions: int = 1429
    logged: float = 0.0051
    logged_missing: float = 0.0
    segments: tuple[tuple[str, tuple[str, ...]], ...] = (("position", ("1", "2", "3")),)
    confidence: float = 0.95

    def facts(self, **changes) -> NightFacts:
        """The facts of the last night."""
        days = [
            LAST_NIGHT - dt.timedelta(self.count - 1 - i) for i in range(self.count)
        ]
        rows = [
            row
            for position, night in enumerate(days)
            for acts in (
                Acts("logging", spread=0.09, missing=self.logged_missing),
                *self.candidates,
            )
            for row in self._rows(acts, night, position + 1)
        ]
        every = self.decisions
        told = {
            "job": "sample",
            "night": LAST_NIGHT,
            "timezone": "UTC",
            "reward_range": (0.0, 1.0),
            "propensity_floor": 0.029,
            "confidence": self.confidence,
            "method": "mixture",
            "candidates": tuple((acts.name, acts.spec) for acts in self.candidates),
            "estimates": pl.DataFrame(rows, schema=SCHEMA, orient="row"),
            "days": pl.DataFrame(
                {
                    "day": days,
                    "decisions": [every] * self.count,
                    "rewards": [every - round(every * self.logged_missing)]
                    * self.count,
                    "actions": [34] * self.count,
                    "revision": [0] * self.count,
                }
            ),
            "warnings": (),
            "unknown_actions": {
                acts.name: acts.unknown for acts in self.candidates if acts.unknown
            },
            "violations": pl.DataFrame(
                schema={"day": pl.Date, "rule": pl.String, "count": pl.Int64}
            ),
        }
        return NightFacts(**told | changes)

    def _rows(self, acts, night, passed):
        last = night == LAST_NIGHT
        for window, length in WINDOWS if last else WINDOWS[-1:]:
            nights = min(passed, length or passed)
            cuts = [("", "", 1.0)]
            if last and window == "since_start":
                cuts += [
                    (by, value, 1 / len(values))
                    for by, values in self.segments
                    for value in values
                ]
            start = night - dt.timedelta(nights - 1)
            for place, (by, value, share) in enumerate(cuts):
                count = round(self.decisions * nights * share)
                for estimand in ("value", "improvement"):
                    if (acts.name, estimand) != ("logging", "improvement"):
                        yield {
                            "night": night,
                            "window": window,
                            "window_start": start,
                            "window_end": night,
                            "segment_by": by,
                            "segment": value,
                            "look": "every look"
                            if window == "since_start"
                            else "single look",
                            **self._estimate(acts, estimand, count, place + passed),
                        }

    def _estimate(self, acts, estimand, count, place):
        spread = max(acts.spread, 0.09) if estimand == "value" else acts.spread
        half = spread / math.sqrt(count) + acts.missing / 2 + acts.unsupported
        noise = half * 0.4 * math.sin(2.3 * place + len(acts.name))
        truth = acts.improvement + (self.logged if estimand == "value" else 0.0)
        estimate = truth + noise
        floor = 0.0 if estimand == "value" else -1.0
        lower, upper = max(estimate - half, floor), min(estimate + half, 1.0)
        if acts.state != "estimated":
            estimate = lower = upper = None
        gap = acts.missing / 2 + acts.unsupported
        known = acts.state == "estimated"
        return {
            "candidate": acts.name,
            "estimand": estimand,
            "estimate": truth if gap and known else estimate,
            "lower": lower,
            "upper": upper,
            "identified_lower": max(truth - gap, floor) if known else None,
            "identified_upper": truth + gap if known else None,
            "method": "mixture",
            "confidence": self.confidence,
            "state": acts.state,
            "decisions": count,
            "missing_reward": round(count * acts.missing),
            "missing_support": round(count * acts.unsupported),
            "missing_both": 0,
            "unsupported_probability": acts.unsupported,
            "mean_weight": 1.0 + noise * bool(acts.spread),
            "expected_mean_weight": 1.0 - acts.unsupported,
            "effective_sample_size": count / (1 + 20 * acts.spread),
            "largest_weight": 1 + 50 * acts.spread,
            "top_share": min(0.08 + acts.spread, 1.0) if estimand == "value" else None,
            "assumptions": [dict(each) for each in ASSUMPTIONS],
            "run_id": "20191201",
        }


THOMPSON = Acts("thompson", "candidates/thompson.parquet", 0.002, 0.55)
UNIFORM = Acts("uniform", "uniform", 0.0, 0.0)
HOUSE_PICK = Acts("house_pick", "constant:13", 0.001, 2.4)
BY_POSITION = Acts("by_position", "policies:by_position", 0.0012, 0.9)


@pytest.fixture(scope="session")
def make():
    """Facts of some candidates: make(Acts(...), count=7, ...).facts(...)."""
    return lambda *candidates, **log: Nights(tuple(candidates), **log)


@pytest.fixture(scope="session")
def acts():
    """Makes a candidate."""
    return Acts


@pytest.fixture(scope="session")
def sample():
    """Seven nights of few clicks: the log decides nothing."""
    return Nights((THOMPSON, UNIFORM, HOUSE_PICK, BY_POSITION))


def gaps() -> NightFacts:
    """Missing rewards, a candidate without support, absent days and long names."""
    night = Nights(
        (
            Acts("thompson", missing=0.1, spread=0.4),
            Acts("never_logged", spread=0.4, unsupported=1.0),
        ),
        count=10,
        logged=0.24,
        logged_missing=0.1,
        segments=(
            ("city", ("a rather long name of a city", "Villarriba")),
            ("city, device", ("Berlin\\, Mitte, mobile", "\\(null), a|b", "x, (null)")),
        ),
    )
    facts = night.facts()
    absent = [dt.date(2019, 11, 23), dt.date(2019, 11, 25), dt.date(2019, 11, 26)]
    return night.facts(days=facts.days.filter(~pl.col("day").is_in(absent)))


def gallery() -> dict[str, NightFacts]:
    """One night of each kind that a page has to show."""
    sample = Nights((THOMPSON, UNIFORM, HOUSE_PICK, BY_POSITION))
    supported = Nights(
        (
            Acts("thompson", "candidates/thompson.parquet", 0.0045, 0.42),
            Acts("ranker_v2", "column:ranker_v2", 0.002, 0.3, missing=0.004),
            Acts("always_first", "first", -0.0045, 0.4),
        ),
        count=28,
    )
    wrong = Nights(
        (
            Acts("thompson", "column:thompson", 0.002, 0.5, missing=0.02),
            Acts(
                "new_catalogue",
                "candidates/new.parquet",
                0.0,
                0.4,
                unsupported=0.03,
                unknown=(
                    {"action": "Jacket-22", "nearest": "jacket-22"},
                    {"action": "scarf", "nearest": None},
                ),
            ),
            Acts("ranker", "column:ranker", 0.003, 0.4, state="withheld"),
        ),
        segments=(
            ("device", ("(null)", "mobile", "desktop")),
            ("position, device", ("1, mobile", "2, mobile", "10, desktop")),
        ),
    )
    days = wrong.facts().days.with_columns(
        revision=pl.when(pl.col("day") == dt.date(2019, 11, 26)).then(1).otherwise(0),
        rewards=pl.col("rewards") - 28,
    )
    return {
        "sample": sample.facts(),
        "supported": supported.facts(),
        "wrong": wrong.facts(
            days=days,
            warnings=(
                {
                    "rule": "logging_policy_explores",
                    "sentence": "Some decisions left the policy one action only.",
                    "remedy": "Log every action the policy could have taken.",
                    "count": 212,
                },
            ),
            violations=pl.DataFrame(
                {
                    "day": [dt.date(2019, 11, 28)],
                    "rule": ["probabilities_sum_to_one"],
                    "count": [14],
                }
            ),
        ),
        "gaps": gaps(),
        "withheld": Nights((Acts("thompson", state="withheld"),)).facts(),
        "no_rewards": Nights(
            (Acts("thompson", missing=1.0, state="all_rewards_missing"),)
        ).facts(),
        "worse": Nights(
            (
                Acts("always_first", "first", -0.0045, 0.15),
                Acts("x", improvement=-0.004),
            )
        ).facts(),
        "many": Nights(
            tuple(
                Acts(f"candidate {i:02}", improvement=(i - 20) / 4000, spread=0.8)
                for i in range(50)
            ),
            count=400,
            segments=(("shop", tuple(map(str, range(1, 51)))),),
        ).facts(),
    }


@pytest.fixture(scope="session")
def nights():
    """Facts by kind of night, the same that the browser is shown."""
    return gallery()
