"""Facts of made-up nights: numbers behave as estimates do, without any chance.

Read by `runpy`, as no test folder is a package.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, field, replace

import polars as pl

from flows.offpolicy.frequencies import FINDINGS
from flows.offpolicy.methods import Design
from flows.offpolicy.nights import SCHEMA
from flows.reports import NightFacts
from flows.reports.night import REVISIONS, VIOLATIONS

LAST_NIGHT = dt.date(2019, 11, 30)
WINDOWS = (("night", 1), ("last_7", 7), ("last_28", 28), ("since_start", None))
ESTIMATES = {**SCHEMA, "run_id": pl.String}
MIXTURE = Design("mixture", 0.95)
ASSUMED = [
    {"assumption": assumption, "status": status, "finding": "as it should be"}
    for assumption, status in (
        ("The logged probabilities are those acted on.", "checked"),
        ("A reward depends on its own decision.", "cannot be checked"),
        ("The logging policy kept its probabilities.", "checked"),
        ("The answer is about decisions like these.", "cannot be checked"),
    )
]


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

    def over(self, other):
        """The first one minus the other."""
        gained = self.improvement - other.improvement
        return replace(self, improvement=gained, spread=self.spread + other.spread)


@dataclass(frozen=True)
class Nights:
    """A made-up log. checkpoints: of method `anytime`, nights from 1."""

    candidates: tuple[Acts, ...]
    count: int = 7
    decisions: int = 1429
    logged: float = 0.0051
    logged_missing: float = 0.0
    segments: tuple[tuple[str, tuple[str, ...]], ...] = (("position", ("1", "2", "3")),)
    design: Design = MIXTURE
    checkpoints: tuple[int, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    fixed_at: dict[str, dt.date] = field(default_factory=dict)
    support: str = "logged"

    def facts(self, **changes) -> NightFacts:
        """The facts of the last night."""
        days = [LAST_NIGHT - dt.timedelta(i) for i in reversed(range(self.count))]
        acting = {acts.name: acts for acts in self.candidates}
        subjects = [
            (Acts("logging", spread=0.09, missing=self.logged_missing), ""),
            *((acts, "") for acts in self.candidates),
            *((acting[a].over(acting[b]), b) for a, b in self.pairs),
        ]
        rows = [
            row
            for night in days
            for acts, other in subjects
            for row in self._rows(acts, other, days[0], night)
        ]
        rewards = self.decisions - round(self.decisions * self.logged_missing)
        told = {
            "job": "sample",
            "night": LAST_NIGHT,
            "timezone": "UTC",
            "reward_range": (0.0, 1.0),
            "propensity_floor": 0.029,
            "design": self.design,
            "checkpoint_nights": self.checkpoints,
            "support": self.support,
            "least_sample_probability": 1.0,
            "candidates": tuple((acts.name, acts.spec) for acts in self.candidates),
            "fixed_at": self.fixed_at,
            "estimates": pl.DataFrame(rows, schema=ESTIMATES),
            "doubly_robust": pl.DataFrame(schema=ESTIMATES),
            "days": pl.DataFrame({"day": days}).with_columns(
                decisions=pl.lit(self.decisions, pl.Int64),
                rewards=pl.lit(rewards, pl.Int64),
                actions=pl.lit(34, pl.Int64),
                revision=pl.lit(0, pl.Int64),
            ),
            "rewards": None,
            "default": None,
            "warnings": (),
            "unknown_actions": {n.name: n.unknown for n in self.candidates},
            "violations": pl.DataFrame(schema=VIOLATIONS),
            "revisions": pl.DataFrame(schema=REVISIONS),
            "frequencies": pl.DataFrame(schema=FINDINGS),
            "suggested": None,
            "switch_rule": None,
        }
        return NightFacts(**told | changes)

    def _rows(self, acts, other, first, night):
        fixed = max(self.fixed_at.get(name, dt.date.min) for name in (acts.name, other))
        start = max(first, fixed) if fixed <= night else first
        for window, length in WINDOWS if night == LAST_NIGHT else WINDOWS[-1:]:
            begin = night - dt.timedelta(length - 1) if length else start
            nights = (night - max(begin, first)).days + 1
            look = "every look" if window == "since_start" else "single look"
            cuts = [("", "", 1.0)]
            if night == LAST_NIGHT and window == "since_start":
                cuts += [
                    (by, value, 1 / len(values))
                    for by, values in self.segments
                    for value in values
                ]
            for place, (by, value, share) in enumerate(cuts):
                count = round(self.decisions * nights * share)
                for estimand in ("difference",) if other else ("value", "improvement"):
                    if (acts.name, estimand) != ("logging", "improvement"):
                        yield {
                            "night": night,
                            "window": window,
                            "window_start": begin,
                            "window_end": night,
                            "other": other,
                            "segment_by": by,
                            "segment": value,
                            "look": "exploratory" if begin < fixed else look,
                            **self._estimate(acts, estimand, count, place, nights),
                        }

    def _ends(self, acts, estimand, count, place):
        """Estimate, lower and upper end after so many decisions."""
        spread = max(acts.spread, 0.09) if estimand == "value" else acts.spread
        half = spread / math.sqrt(count) + acts.missing / 2 + acts.unsupported
        noise = half * 0.4 * math.sin(2.3 * place + len(acts.name))
        truth = acts.improvement + (self.logged if estimand == "value" else 0.0)
        estimate = truth + noise
        floor = 0.0 if estimand == "value" else -1.0
        return estimate, max(estimate - half, floor), min(estimate + half, 1.0)

    def _closed(self, acts, estimand, count, place, nights):
        """The same where ends never move outward, and hardly between checkpoints."""
        wide = replace(acts, spread=acts.spread * 1.3)
        every = [
            self._ends(
                acts if k in self.checkpoints else wide,
                estimand,
                round(count * k / nights),
                place + k,
            )
            for k in range(1, min(nights, self.checkpoints[-1]) + 1)
        ]
        lower, upper = max(e[1] for e in every), min(e[2] for e in every)
        return self._ends(acts, estimand, count, place + nights)[0], lower, upper

    def _estimate(self, acts, estimand, count, place, nights):
        known = acts.state == "estimated"
        ends = self._ends(acts, estimand, count, place + nights)
        if self.checkpoints:
            ends = self._closed(acts, estimand, count, place, nights)
        estimate, lower, upper = ends if known else (None, None, None)
        truth = acts.improvement + (self.logged if estimand == "value" else 0.0)
        gap = acts.missing / 2 + acts.unsupported
        expected = None if self.support == "unknown" else 1.0 - acts.unsupported
        return {
            "candidate": acts.name,
            "estimand": estimand,
            "estimate": truth if gap and known else estimate,
            "lower": lower,
            "upper": upper,
            "identified_lower": truth - gap if known else None,
            "identified_upper": truth + gap if known else None,
            "method": self.design.used,
            "confidence": self.design.confidence,
            "assumes": self.design.assumes,
            "state": acts.state,
            "decisions": count,
            "missing_reward": round(count * acts.missing),
            "missing_support": round(count * acts.unsupported),
            "missing_both": 0,
            "unsupported_probability": acts.unsupported,
            "mean_weight": 1.0 + 0.02 * math.sin(place + nights) * bool(acts.spread),
            "expected_mean_weight": expected,
            "effective_sample_size": count / (1 + 20 * acts.spread),
            "largest_weight": 1 + 50 * acts.spread,
            "top_share": min(0.08 + acts.spread, 1.0) if estimand == "value" else None,
            "assumptions": ASSUMED,
            "run_id": "20191201",
        }
