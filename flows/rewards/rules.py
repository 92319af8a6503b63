"""Refuses rewards and activations that break rules, with every row that does.

The rules are the files of `sql/rewards/checks/`, in the form of `sql/checks/`: a row
counts for the first one it breaks. One pass counts; only when something is broken is
the table read again for its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from flows import queries
from flows.decisions.rules import Chain, Rule, rule_of
from flows.decisions.violating import broken_rule
from flows.errors import ViolationsError

COLUMN = "broken_rule"


@dataclass(frozen=True, slots=True)
class Found:
    """What a table holds: by the name of its factor, how many events."""

    events: int
    outside: int
    factors: Mapping[str | None, int]


def load(table: str, absent: Iterable[str]) -> tuple[Rule, ...]:
    """The rules of `table` (`events` or `activations`) but those named `absent`."""
    left_out = {*absent}
    files = queries.names(f"rewards/checks/{table}")
    rules = (rule_of(file, about=None, pieces={}) for file in files)
    return tuple(each for each in rules if each.name not in left_out)


def check(
    con: duckdb.DuckDBPyConnection,
    view: str,
    rules: tuple[Rule, ...],
    values: Mapping[str, Any],
    *,
    is_outside: str,
    factor: str,
    listing: Path | None,
) -> Found:
    """Counts the events of `view` by the rule they break.

    is_outside, factor: DuckDB expressions over an event.
    Raises: ViolationsError when a rule is broken.
    """
    chain = Chain(COLUMN, rules)
    asked = {"rules": chain.first_broken(), "events": view}
    counted = queries.run(
        con,
        "rewards/checked",
        values,
        named_factor=factor,
        is_outside=is_outside,
        **asked,
    )
    total = sum(count for *_, count, _ in counted)
    broken = sorted({number for number, *_ in counted} - {0})
    found = [(rules[n - 1], _rows(con, n, rules[n - 1], asked, values)) for n in broken]
    if found:
        raise violations(found, total, listing)
    factors: dict[str | None, int] = {}
    for _, name, count, _ in counted:
        factors[name] = factors.get(name, 0) + count
    return Found(total, sum(outside for *_, outside in counted), factors)


def violations(
    found: Iterable[tuple[Rule, pl.DataFrame]], total: int, listing: Path | None
) -> ViolationsError:
    """The error that tells `file`, `row`, `decision_id` and `value` of broken rows."""
    broken, frames = [], []
    for rule, rows in found:
        broken.append(broken_rule(rule.name, rule.sentence, rule.remedy, rows))
        frames.append(rows.select(pl.lit(rule.name).alias("rule"), pl.all()))
    if listing is not None:
        listing.parent.mkdir(parents=True, exist_ok=True)
        pl.concat(frames).write_parquet(listing)
    told = str(listing) if listing else None
    return ViolationsError(tuple(broken), decisions=total, listing=told)


def _rows(
    con: duckdb.DuckDBPyConnection,
    number: int,
    rule: Rule,
    asked: Mapping[str, str],
    values: Mapping[str, Any],
) -> pl.DataFrame:
    query = queries.filled("rewards/broken_rows", {**asked, "value": rule.value})
    bound = {name: value for name, value in values.items() if f"${name}" in query}
    return queries.frame(con, query, bound | {"number": number})
