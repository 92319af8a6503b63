"""Conditions of factors: SQL predicates over the columns of events.

Such as `watched_seconds >= greatest(300, 0.3 * length_seconds)` (000: five minutes of
the content or 30 %, whichever is longer). A predicate that is null does not hold. Which
conditions an event fulfils is one number, a bit each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import duckdb
import polars as pl

from flows import queries
from flows.errors import UsageError
from flows.rewards.settings import Rewards

# What makes a condition depend on more than the event.
OUTSIDE = re.compile(
    r"\b(select|current_(?:date|time|timestamp|local\w*)|localtime(?:stamp)?"
    r"|(?:now|today|random|age|nextval|\w*uuid\w*|get_current_\w+"
    r"|transaction_timestamp)\s*\()",
    re.IGNORECASE,
)


def columns(found: Sequence[str], rewards: Rewards) -> list[str]:
    """The columns among `found` that conditions may read."""
    said = " ".join(one.condition or "" for one in rewards.factors).casefold()
    return [
        name
        for name in found
        if re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", said)
    ]


def select_list(
    con: duckdb.DuckDBPyConnection,
    source: str,
    types: Mapping[str, pl.DataType],
    rewards: Rewards,
) -> list[str]:
    """DuckDB expressions of `met`, a bit a factor, and of `nan_in_condition`.

    Raises: UsageError for a condition that is no predicate over the events' columns, or
    whose outcome depends on more than the event.
    """
    bits = []
    for number, factor in enumerate(rewards.factors):
        if factor.condition is not None:
            _check(con, source, factor.name, factor.condition)
            holds = f"coalesce(({factor.condition}\n), false)"
            bits.append(f"({holds}::bigint << {number})")
    read = columns(list(types), rewards)
    floats = [queries.identifier(n) for n in read if types[n].is_float()]
    nan = " or ".join(f"coalesce(isnan({name}), false)" for name in floats)
    return [
        f"{' | '.join(bits) or '0::bigint'} as met",
        f"{nan or 'false'} as nan_in_condition",
    ]


def _check(
    con: duckdb.DuckDBPyConnection, source: str, name: str, condition: str
) -> None:
    said = f"the condition of factor {name!r}, {condition!r},"
    if outside := OUTSIDE.search(condition):
        raise UsageError(
            f"{said} asks for {outside[0].rstrip('( ')}: whether it holds would depend "
            "on more than the event. Use the event's own columns"
        )
    try:
        # A where clause refuses aggregates and windows; alone, no bracket is closed.
        con.sql(f"select 1 from {source} where {condition}\n limit 0")  # noqa: S608
        bound = con.sql(f"select ({condition}\n) as holds from {source} limit 0")  # noqa: S608
    except duckdb.Error as error:
        reason = str(error).split("\n\n")[0]
        raise UsageError(f"{said} cannot be read: {reason}") from None
    (kind,) = bound.types
    if str(kind) != "BOOLEAN":
        raise UsageError(f"{said} is no predicate: it is {kind}, not true or false")
