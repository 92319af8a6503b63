"""One made-up night of each kind that a page has to show.

Read by `runpy`, as no test folder is a package.
"""

from __future__ import annotations

import datetime as dt
import runpy
from pathlib import Path

import polars as pl

from flows.offpolicy.frequencies import FINDINGS
from flows.offpolicy.methods import Design
from flows.reports import NightFacts
from flows.reports.night import REVISIONS

MADE_UP = runpy.run_path(str(Path(__file__).with_name("made_up.py")))
Acts, Nights, LAST_NIGHT = (MADE_UP[n] for n in ("Acts", "Nights", "LAST_NIGHT"))
THOMPSON = Acts("thompson", "candidates/thompson.parquet", 0.002, 0.55)
UNIFORM = Acts("uniform", "uniform", 0.0, 0.0)
HOUSE_PICK = Acts("house_pick", "constant:13", 0.001, 2.4)
BY_POSITION = Acts("by_position", "policies:by_position", 0.0012, 0.9)
SAMPLE = Nights((THOMPSON, UNIFORM, HOUSE_PICK, BY_POSITION))


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


def looks() -> Nights:
    """Eighteen nights of 28 by method `anytime`: pairs, and a candidate fixed late."""
    return Nights(
        (
            Acts("thompson", "candidates/thompson.parquet", 0.006, 0.3),
            Acts("ranker_v2", "column:ranker_v2", 0.001, 0.25),
            Acts("always_first", "first", -0.006, 0.3),
            Acts("ranker_v3", "column:ranker_v3", 0.02, 0.4),
            Acts("ranker_v4", "column:ranker_v4", 0.002, 0.4),
        ),
        count=18,
        design=Design("anytime", 0.95, horizon_nights=28),
        checkpoints=(7, 14, 21, 28),
        pairs=(("thompson", "ranker_v2"), ("thompson", "ranker_v3")),
        fixed_at={
            "ranker_v3": LAST_NIGHT + dt.timedelta(3),
            "ranker_v4": dt.date(2019, 11, 22),
        },
    )


def moving() -> Nights:
    """A log of propensities alone, whose logging policy learns from its rewards."""
    return Nights(
        (
            Acts("thompson", "column:thompson", 0.002, 0.5, unsupported=0.01),
            Acts("always_first", "first", -0.0045, 0.4),
        ),
        count=40,
        design=Design("anytime", 0.95, logging="adaptive", is_drifting=True),
        support="unknown",
    )


def moved() -> pl.DataFrame:
    """A revision of 27 November that moved two published nights."""
    rows = [
        (27, "improvement", 0.1, -0.1, 0.3, 0.05, -0.2, 0.2),
        (28, "improvement", 0.1, -0.1, 0.3, 0.1, -0.1, 0.29),
        (28, "value", 0.1, 0.0, 0.3, None, None, None),
    ]
    dated = [([dt.date(2019, 11, day)] * 2, numbers) for day, *numbers in rows]
    told = [(*days, "thompson", "", *numbers, "1") for days, numbers in dated]
    return pl.DataFrame(told, schema=REVISIONS, orient="row")


def deviating() -> pl.DataFrame:
    """Three actions, of which one is taken too often, most of all on one day."""
    day = dt.date(2019, 11, 28)
    rows = [
        (None, "coat", 9000, 3000, 3010.0, 40.0, -0.25, 200.0, False),
        (None, "hat", 9000, 4100, 3400.0, 41.0, 17.1, 210.0, True),
        (None, "scarf", 9000, 1900, 2590.0, 36.0, -19.2, 190.0, True),
        (day, "hat", 1429, 900, 480.0, 16.0, 26.2, 110.0, True),
    ]
    return pl.DataFrame(rows, schema=FINDINGS, orient="row")


def gallery() -> dict[str, NightFacts]:
    """One night of each kind that a page has to show."""
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
        "sample": SAMPLE.facts(),
        "supported": supported.facts(),
        "wrong": wrong.facts(
            days=days,
            warnings=(
                {
                    "rule": "logging_policy_explores",
                    "sentence": "The logging policy gave several actions a chance.",
                    "remedy": "let it explore.",
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
            revisions=moved(),
            frequencies=deviating(),
        ),
        "gaps": gaps(),
        "looks": looks().facts(),
        "moving": moving().facts(),
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
