"""The rows of a log that count, each event once, block by block.

The event of a row is XXH64 of its id or, without one, of its file's digest and its
position there, behind the name of the log: a feedback record may carry the id of the
query it is about, and is an event of its own.

A block is what is in memory at a time; the log itself stands in DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import polars as pl
import polars_hash as plh

from flows import queries

BLOCK = 65_536  # rows


def distinct_events(
    con: duckdb.DuckDBPyConnection, log: str, rows: int, values: Mapping[str, Any]
) -> Iterator[pl.DataFrame]:
    """Blocks of the rows that `kept_queries` or `kept_feedback` selects.

    log: `queries` or `feedback`. rows: how many it has. Each block has `event` and the
    columns selected, but for those that the event is made of. Rows of an event that
    came before are left out.
    """
    seen = pl.DataFrame(schema={"event": pl.UInt64})
    for block in _blocks(con, log, rows, values):
        fresh = block.unique("event").join(seen, on="event", how="anti")
        seen = pl.concat([seen, fresh.select("event")])
        yield fresh


def _blocks(
    con: duckdb.DuckDBPyConnection, log: str, rows: int, values: Mapping[str, Any]
) -> Iterator[pl.DataFrame]:
    name = f"suggestions/kept_{log}"
    place = pl.concat_str("digest", pl.lit(":"), "row")
    identity = plh.concat_str(pl.lit(f"{log}:"), pl.coalesce("event_id", place))
    event = identity.nchash.xxhash64()
    for first in range(0, rows, BLOCK):
        bounds = {**values, "first": first, "after": first + BLOCK}
        text = queries.text(name)
        bound = {key: value for key, value in bounds.items() if f"${key}" in text}
        block = queries.frame(con, text, bound)
        yield block.with_columns(event=event).drop("digest", "event_id", "row")
