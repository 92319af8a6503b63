"""Validates a log in DuckDB before anything is scored.

One fused pass counts, for each chain of rules, the decisions by the first rule they
break; actions listed twice are found on the distinct lists of that pass, ids logged
twice by a grouping of their own. Only when something is broken is the log read again,
for the rows. All violations are listed at once: the first of each rule in the message,
every one of them in a Parquet file.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from flows import columns as c
from flows import queries
from flows.decisions.files import require_readable
from flows.decisions.log import Log
from flows.decisions.profile import Profile, profile
from flows.decisions.rules import Chain, Rule, load
from flows.decisions.violating import broken_rule
from flows.errors import ViolationsError

Window = tuple[dt.datetime, dt.datetime]


@dataclass(frozen=True, slots=True)
class CandidateColumn:
    """A candidate's probabilities in the log.

    column: DuckDB expression of a list parallel to `actions`, or of one number.
    unlisted: DuckDB expression of the mass the candidate puts on unlisted actions.
    is_list: False for the probability of the logged action alone.
    """

    name: str
    column: str
    unlisted: str = "0"
    is_list: bool = True


def check(
    con: duckdb.DuckDBPyConnection,
    log: Log,
    *,
    reward_range: tuple[float, float],
    candidates: Sequence[CandidateColumn] = (),
    window: Window | None = None,
    listing: Path | None = None,
) -> Profile:
    """Applies every rule to the log and says what the log holds.

    window: half-open; decisions made outside it are not looked at.
    listing: where to write all violating rows.
    Raises: ViolationsError when a rule is broken, LogError naming the files whose
    pages cannot be read.
    """
    values: dict[str, Any] = {
        "sum_tolerance": log.layout.sum_tolerance,
        "reward_lowest": reward_range[0],
        "reward_highest": reward_range[1],
    }
    chains = _chains(log, candidates)
    warn = load("warn")

    def read(files: tuple[str, ...]) -> None:
        measure(con, replace(log, files=files), window=window)
        _one_pass(con, log, chains, warn, values)

    try:
        read(log.files)
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error:
        require_readable(log.files, read)
        raise
    found, is_repeating = profile(con, log, warn)
    is_doubled = _has_duplicates(con, log)
    if is_repeating or is_doubled or _any_broken(con, chains):
        raise _violations(con, chains, values, log, found.decisions, listing)
    return found


def measure(
    con: duckdb.DuckDBPyConnection, log: Log, *, window: Window | None = None
) -> None:
    """Makes `measured_decisions`, the view that rules are about."""
    floats = [n for n in log.layout.context if log.types[n].is_float()]
    nan = " or ".join(
        f"coalesce(isnan({queries.identifier(n)}), false)" for n in floats
    )
    within = "true"
    if window is not None:
        start, end = (queries.literal(t.isoformat()) + "::timestamptz" for t in window)
        at = c.DECIDED_AT
        within = f"{at} is null or ({at} >= {start} and {at} < {end})"
    measured = "propensities" if log.layout.has_propensities else "decisions"
    queries.run(
        con,
        f"staging/measured_{measured}",
        columns=log.select_list(),
        log=log.source(),
        nan_in_context=nan or "false",
        window=within,
    )


def _chains(log: Log, candidates: Sequence[CandidateColumn]) -> list[Chain]:
    absent = {
        "decision_id_is_present": log.has_ids,
        "decided_at_is_present": log.is_dated,
        "sample_probability_lies_in_0_1": log.is_sampled,
    }
    form = "propensity" if log.layout.has_propensities else "lists"
    rules = [r for r in load("stop", f"stop/{form}") if absent.get(r.name, True)]
    chains = [Chain("broken_rule", tuple(rules))]
    for number, candidate in enumerate(candidates):
        pieces = {"candidate": candidate.column, "unlisted": candidate.unlisted}
        folder = f"candidates/{'lists' if candidate.is_list else 'propensity'}"
        chains.append(
            Chain(
                f"broken_candidate_{number}",
                load(folder, about=candidate.name, **pieces),
            )
        )
    return chains


def _one_pass(
    con: duckdb.DuckDBPyConnection,
    log: Log,
    chains: Sequence[Chain],
    warn: Sequence[Rule],
    values: dict[str, Any],
) -> None:
    counts = [
        f"count(*) filter (where ({rule.holds}) is not true) as warned_{number}"
        for number, rule in enumerate(warn)
    ]
    queries.run(
        con,
        "checks/pass",
        values,
        chains=",\n        ".join(chain.first_broken() for chain in chains),
        broken=",\n    ".join(chain.column for chain in chains),
        warnings=",\n    ".join(counts),
        names=f"[{c.ACTION}]" if log.layout.has_propensities else c.ACTIONS,
    )


def _any_broken(con: duckdb.DuckDBPyConnection, chains: Sequence[Chain]) -> bool:
    broken = " or ".join(f"{chain.column} > 0" for chain in chains)
    query = f"select count(*) from checked where {broken}"  # noqa: S608 - our columns
    ((count,),) = queries.execute(con, query)
    return bool(count)


def _has_duplicates(con: duckdb.DuckDBPyConnection, log: Log) -> bool:
    if not log.has_ids:
        return False
    query = queries.filled("checks/duplicate_ids", {"key": _key(log)})
    found = queries.execute(con, f"select 1 from ({query}) limit 1")  # noqa: S608
    return bool(found)


def _key(log: Log) -> str:
    """What identifies a decision: its id, and its slot where decisions have slots."""
    return f"{c.DECISION_ID}, {c.SLOT}" if c.SLOT in log.optional else c.DECISION_ID


def _violations(
    con: duckdb.DuckDBPyConnection,
    chains: Sequence[Chain],
    values: dict[str, Any],
    log: Log,
    decisions: int,
    listing: Path | None,
) -> ViolationsError:
    parts = [chain.broken_rows() for chain in chains]
    said = {r.name: (r.sentence, r.remedy) for chain in chains for r in chain.rules}
    extra = []
    if not log.layout.has_propensities:
        extra.append(("actions_are_distinct", "checks/repeated_actions"))
    if log.has_ids:
        extra.append(("decision_id_is_unique", "checks/duplicate_ids"))
    for rule, file in extra:
        query = queries.filled(file, {"key": _key(log)})
        head = queries.text(file).splitlines()
        said[rule] = (head[0].removeprefix("-- "), head[1].removeprefix("-- Do: "))
        shown = f"{queries.literal(rule)} as rule, value, file, row, decision_id"
        parts.append(f"select {shown} from ({query})")  # noqa: S608 - a file of sql/
    union = "\nunion all by name\n".join(parts)
    queries.execute(
        con,
        queries.filled("checks/broken_rows", {"queries": union}),
        values,
    )
    frame = queries.frame(
        con, "select rule, file, row, decision_id, value from broken_rows"
    ).sort("rule", "file", "row", "value")
    if listing is not None:
        listing.parent.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(listing)
    broken = tuple(
        broken_rule(rule, *said[rule], frame.filter(pl.col("rule") == rule))
        for rule in said
        if (frame["rule"] == rule).any()
    )
    return ViolationsError(
        broken, decisions=decisions, listing=str(listing) if listing else None
    )
