"""Facts of one night -> the report document, the one source of every form of report.

The document (`untaken.report/2`) is a plain JSON value. It answers in this order:
should we switch (`answer`), how sure (`candidates[].improvement`), which candidate
(`differences`, `ranking`), since when (`candidates[].nights`, `supported_since`), for
whom (`candidates[].segments`), and what was missing or wrong (`missing`, `diagnostics`,
`warnings`, `violations`, `days`, `revisions`, `frequencies`).

It is a function of the facts alone: no clock, no run id, no order of rows. Rewards are
in the unit of the log, per decision. A candidate's own entry (`value`, `improvement`,
`missing`, `diagnostics`, `assumptions`) is that of all decisions since the start of its
looks, which is the night on which the log, the declared horizon or the candidate's
`fixed_at` begins, whichever comes last. What is withheld or unknown is null with a
`state`; NaN never appears.

Every estimate names its `method`, `confidence`, the looks under which it holds (`look`:
`every look`, `single look`, `exploratory`) and what it `assumes` of the mean reward
(`constant_mean`, or nothing: `running_average`). What is exploratory decides nothing:
neither the answer nor `supported_since` nor the ranking.

`doubly_robust` holds, where the job asks for it, value and improvement of every
candidate by the doubly robust estimator since the start; nothing decides on it.

`ranking` places all candidates and the logging policy, best middle first; it is null
where intervals do not hold together. `revisions` tell what was first published for a
night (`before`) and what holds now (`after`). `frequencies` list only actions that were
taken more or less often than their probabilities say, among how many.

`rewards` tell what became of rewards that come in a table of their own
(`flows.reports.joined`); null where the log holds them. `default_reward` tells what
would hold without it; null where none is declared. `warnings` are rules that some
decisions break; advice about rewards has the number of `days` on which it applies and
the `last_day` of them, others null. In `revisions` a `known_from` after the night says
that the night stays as it was published, and `after` is what it would be with the
rewards that this later night knows.

`switch_rule` tells of logs of the retired service what its rule would have done
(`flows.reports.exchanged`); null for any other.

`suggestions` sum up what users asked of a knowledge base (`flows.reports.suggested`);
null where the job has none.

Version 1 knew one method for all windows, candidates that began with the log, and
neither `assumes` nor `exploratory`.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import asdict

import polars as pl

from flows.offpolicy import frequencies
from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.ranking import ranking
from flows.reports import entries, exchanged, joined, rewarded, suggested
from flows.reports.answer import LOGGING, UNADJUSTED, answer, is_exploratory
from flows.reports.entries import Document
from flows.reports.night import NUMBERS, NightFacts
from flows.reports.numbers import canonical, unit_of

SCHEMA = "untaken.report/2"
WARNED = ("rule", "sentence", "remedy", "count", "days", "last_day")


def build(facts: NightFacts) -> Document:
    """The report document of one night.

    Raises: KeyError when a candidate, or the logging policy, has no estimate for the
    night: the tables and the job file contradict each other.
    """
    tonight = entries.tonight(facts)
    history = entries.history(facts)
    candidates = [
        entries.candidate(
            name,
            spec,
            facts,
            tonight[name, NO_OTHER],
            history.get((name, NO_OTHER), []),
        )
        for name, spec in facts.candidates
    ]
    pairs = entries.pairs(tonight, [name for name, _ in facts.candidates])
    document = canonical(
        {
            "schema": SCHEMA,
            "job": facts.job,
            "night": facts.night.isoformat(),
            "timezone": facts.timezone,
            "log": _log(facts),
            "evaluation": _evaluation(facts),
            "answer": {},
            "logging_policy": entries.logging_policy(tonight[LOGGING, NO_OTHER]),
            "candidates": candidates,
            "doubly_robust": entries.doubly_robust(facts),
            "differences": [
                entries.difference(pair, facts, tonight[pair], history.get(pair, []))
                for pair in pairs
            ],
            "ranking": _ranking(candidates),
            "rewards": joined.told(facts),
            "default_reward": joined.default(facts),
            "warnings": [
                {key: entry.get(key) for key in WARNED} for entry in facts.warnings
            ],
            "violations": _dated(facts.violations, ("day", "rule", "count")),
            "days": _dated(facts.days, ("day", "decisions", "rewards", "revision")),
            "revisions": _revisions(facts),
            "frequencies": frequencies.told(facts.frequencies),
            "switch_rule": exchanged.told(facts, candidates),
            "suggestions": suggested.told(facts.suggested),
        }
    )
    document["answer"] = answer(
        document["candidates"],
        document["ranking"],
        document["night"],
        unit_of(facts.reward_range),
    )
    if told := rewarded.opening(document):
        document["answer"]["sentence"] += f" {told}"
    return dict(document)


def to_json(document: Document) -> str:
    """The document as JSON text: keys in a fixed order, no NaN, one final newline."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _evaluation(facts: NightFacts) -> Document:
    design = facts.design
    return {
        "reward_range": [float(end) for end in facts.reward_range],
        "propensity_floor": facts.propensity_floor,
        "confidence": design.confidence,
        "method": design.used,
        "declared_method": design.method,
        "assumes": design.assumes,
        "logging": design.logging,
        "is_drifting": design.is_drifting,
        "horizon_nights": design.horizon_nights,
        "support": facts.support,
        "least_sample_probability": facts.least_sample_probability,
    }


def _ranking(candidates: Sequence[Document]) -> list[Document] | None:
    """Places and who is certainly better; None where intervals share no error."""
    if any(each["improvement"]["method"] == UNADJUSTED for each in candidates):
        return None
    ends: dict[str, tuple[float | None, float | None]] = {LOGGING: (0.0, 0.0)}
    for each in candidates:
        entry = each["improvement"]
        is_open = is_exploratory(entry)
        ends[each["candidate"]] = (
            (None, None) if is_open else (entry["lower"], entry["upper"])
        )
    return [asdict(rank) | {"worse_than": [*rank.worse_than]} for rank in ranking(ends)]


def _log(facts: NightFacts) -> Document:
    days = facts.days.filter(pl.col("day") <= facts.night).sort("day")
    tonight = days.filter(pl.col("day") == facts.night)
    first, last = days["day"].min(), days["day"].max()
    return {
        "decisions": int(days["decisions"].sum()),
        "days": days.height,
        "first_day": first.isoformat() if isinstance(first, dt.date) else None,
        "last_day": last.isoformat() if isinstance(last, dt.date) else None,
        "night_decisions": int(tonight["decisions"].sum()),
        "rewards": int(days["rewards"].sum()),
        "actions": int(max(days["actions"], default=0)),
    }


def _revisions(facts: NightFacts) -> list[Document]:
    """Per published number: what it was first, what it is now, how often it moved.

    What a later night knows moves no published one: of that the newest makings count.
    """
    keys = ["night", "known_from", "candidate", "other", "estimand"]
    is_later = pl.col("known_from") > pl.col("night")
    rows = (
        facts.revisions.filter(pl.col("night") <= facts.night)
        .sort(*keys, "run_id")
        .group_by(keys, maintain_order=True)
        .agg(
            *(
                pl.when(is_later.first())
                .then(pl.col(f"{name}_before").last())
                .otherwise(pl.col(f"{name}_before").first())
                for name in NUMBERS
            ),
            *(pl.col(f"{name}_after").last() for name in NUMBERS),
            times=pl.when(is_later.first()).then(1).otherwise(pl.len()),
        )
    )
    return [
        {key: row[key] for key in ("candidate", "other", "estimand", "times")}
        | {key: row[key].isoformat() for key in ("night", "known_from")}
        | {
            when: {name: row[f"{name}_{when}"] for name in NUMBERS}
            for when in ("before", "after")
        }
        for row in rows.iter_rows(named=True)
    ]


def _dated(frame: pl.DataFrame, keys: tuple[str, ...]) -> list[Document]:
    return [
        {
            key: value.isoformat() if isinstance(value, dt.date) else value
            for key, value in row.items()
        }
        for row in frame.select(keys).sort(keys).iter_rows(named=True)
    ]
