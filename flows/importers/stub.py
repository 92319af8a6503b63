"""A start of a job file for an imported log; what only its owner knows is blank."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from flows import columns as c
from flows import queries
from flows.folder import replacing

STUB = "untaken.toml"
TEMPLATE = """\
# A start for the imported log. Run it, once filled in: untaken nightly untaken.toml

[job]
name = "imported"
timezone = "UTC"

[decisions]
log = "decisions/day=*/part-*.parquet"
{decisions}context = [{context}]

[evaluation]
# The lowest and the highest reward a decision can have, by design.
# reward_range = [lowest, highest]
# The least probability the logging policy gives any action a candidate may take, by
# design: its exploration rate divided by the number of actions.
# propensity_floor = least
{evaluation}confidence = 0.95

[candidates]
{candidates}
[outputs]
report = ["html", "markdown", "json"]
"""
TOLERANCE = "sum_tolerance = 1e-4  # probabilities were rounded when they were logged\n"
SAMPLED = """\
# Decisions were dropped before they were logged. The least probability that one was
# kept, by design; {least:g} is the least in these files.
# least_sample_probability = least
"""
ADAPTIVE = 'logging = "adaptive"  # the service learned from rewards while it ran\n'


@dataclass(frozen=True, slots=True)
class Stub:
    """What a job file starts from: lines of its sections, and names."""

    candidates: Mapping[str, str]
    context: Sequence[str] = ()
    decisions: str = ""
    evaluation: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """What an imported log says of itself: numbers of rows, and two extremes."""

    decisions: int
    defaults: int
    unknowns: int
    without_baseline: int
    sum_deviation: float
    least_sample_probability: float

    def notes(self, defaults: Sequence[float]) -> list[str]:
        """What a reader should know before using the log.

        defaults: what the service counted where it observed no reward.
        """
        notes = []
        if self.defaults:
            counted = ", ".join(f"{reward:g}" for reward in defaults)
            notes.append(
                f"{self.defaults:,} of {self.decisions:,} decisions got no reward: "
                f"theirs is null, where the service counted {counted}; a default "
                "applies by declaration alone."
            )
        if self.unknowns:
            notes.append(
                f"{self.unknowns:,} of {self.decisions:,} rewards stand without an "
                "observation that tells them from a default."
            )
        if self.without_baseline:
            notes.append(
                f"{self.without_baseline:,} of {self.decisions:,} decisions name no "
                "baseline action, so the candidate baseline cannot be evaluated."
            )
        return notes

    def stub(self, *, is_adaptive: bool, context: Sequence[str] = ()) -> Stub:
        """The start of a job for this log, with its ready candidates."""
        least = self.least_sample_probability
        candidates = {"online": "logging", "random": "column:random"}
        if not self.without_baseline:
            candidates["baseline"] = "column:baseline"
        return Stub(
            candidates=candidates,
            context=context,
            decisions=TOLERANCE if self.sum_deviation > c.SUM_TOLERANCE else "",
            evaluation=(SAMPLED.format(least=least) if least < 1 else "")
            + (ADAPTIVE if is_adaptive else ""),
        )


def profile(con: duckdb.DuckDBPyConnection, decisions: Path) -> Profile:
    """Reads what the log of a service below the folder `decisions` says."""
    files = queries.files(str(file) for file in sorted(decisions.glob("*/*.parquet")))
    (row,) = queries.run(con, "importers/dsjson/profile", files=files)
    return Profile(*row)


def write(out: Path, stub: Stub) -> None:
    """Writes `untaken.toml` into the folder `out`, unless there is one."""
    if (out / STUB).exists():
        return
    text = TEMPLATE.format(
        decisions=stub.decisions,
        context=", ".join(map(_quoted, stub.context)),
        evaluation=stub.evaluation,
        candidates="".join(f'{name} = "{s}"\n' for name, s in stub.candidates.items()),
    )
    with replacing(out / STUB) as beside:
        beside.write_text(text, encoding="utf-8")


def _quoted(text: str) -> str:
    """The text as a TOML basic string; JSON escapes the same, but for U+007F."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
