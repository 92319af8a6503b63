"""What the warehouse alone tells of any window and segment; the log is never read.

`look` is what a night said since the start, as it stands in `estimates`: the only look
that may be taken again and again (validity.md 9). For every other window `read` adds up
the evidence. Days and blocks are added in the query wherever the interval does not tell
them apart (validity.md 8), so years of nights come out as a few hundred cells.

The warehouse is attached read-only: a night may be running, which puts a new file in
its place without touching the one that is open. Evidence is sorted by candidate,
segment and day, so only the row groups that hold the window are read.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from flows import queries
from flows.intervals import block_plan
from flows.offpolicy.assumptions import Assumption
from flows.offpolicy.diagnostics import Diagnostics
from flows.offpolicy.estimate import Estimate, Finding, Missing
from flows.offpolicy.methods import Design, Window
from flows.offpolicy.nights import EPOCH
from flows.offpolicy.plan import Subject
from flows.warehouse.segments import Chosen

Integers = NDArray[np.int64]
# Room for the blocks of a night in the number of a unit.
NIGHT = 128
DIAGNOSTICS = [one.name for one in fields(Diagnostics)]


@dataclass(frozen=True, slots=True)
class Look:
    """What a night said since the start, whose first day is `first`."""

    first: dt.date
    finding: Finding
    assumptions: tuple[Assumption, ...]


@contextmanager
def opened(warehouse: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The warehouse, for reading alone."""
    with queries.connection() as con:
        file = queries.literal(str(warehouse))
        queries.execute(con, f"attach {file} as warehouse (read_only)")
        yield con


def known_segments(con: duckdb.DuckDBPyConnection, subject: Subject) -> pl.DataFrame:
    """Every segment of a candidate or pair, all decisions together among them.

    Returns: `segment_by`, `segment`, `first_day`, `last_day`; no row where the
        warehouse knows nothing of the subject.
    """
    return queries.frame(con, queries.text("evidence/known_segments"), _bound(subject))


def last_night(
    con: duckdb.DuckDBPyConnection, subject: Subject, until: dt.date
) -> dt.date | None:
    """The last night up to a day; None when there is none."""
    values = {**_bound(subject), "until": until}
    night: dt.date | None = queries.run(con, "evidence/last_night", values)[0][0]
    return night


def look(
    con: duckdb.DuckDBPyConnection,
    subject: Subject,
    part: Chosen,
    night: dt.date,
    *,
    is_logging: bool,
) -> Look | None:
    """What a night said of one declared segment; None when nothing."""
    values = {
        **_bound(subject),
        "night": night,
        "segment_by": part.cut,
        "segment": part.segments[0],
    }
    rows = queries.frame(con, queries.text("evidence/look"), values).to_dicts()
    if not rows:
        return None
    first = rows[0]
    missing = Missing(
        reward=first["missing_reward"],
        support=first["missing_support"],
        both=first["missing_both"],
        unsupported_probability=first["unsupported_probability"],
    )
    finding = Finding(
        decisions=first["decisions"],
        estimates=tuple(map(_estimate, rows)),
        missing=missing,
        diagnostics=Diagnostics(**{name: first[name] for name in DIAGNOSTICS}),
        is_logging=is_logging,
    )
    told = tuple(Assumption(**one) for one in first["assumptions"])
    return Look(first["window_start"], finding, told)


def read(
    con: duckdb.DuckDBPyConnection,
    subject: Subject,
    part: Chosen,
    window: Window,
    design: Design | None,
    as_of: dt.datetime | None,
) -> pl.DataFrame:
    """The evidence of a window, as far as intervals of the design tell it apart.

    as_of: of rewards that come apart, what was known at this instant.
    design: None where nothing is to be told apart.
    Returns: columns of evidence from `other` on, with `day`; no row without a decision.
    """
    unit, units = _unit(design, window)
    first = EPOCH + dt.timedelta(days=window.first)
    values = {
        **_bound(subject),
        "segment_by": part.cut,
        "segments": list(part.segments),
        "first": first,
        "last": first + dt.timedelta(days=window.nights - 1),
        "as_of": as_of,
        **units,
    }
    rows = queries.frame(
        con, queries.filled("evidence/window", {"place": unit}), values
    )
    return (
        rows.sort("unit", "kind", "sample_probability", "weight_cell", "reward_cell")
        .with_columns(
            day=pl.lit(first) + pl.duration(days=pl.col("unit") // NIGHT),
            block=pl.col("unit") % NIGHT,
            other=pl.lit(subject[1]),
        )
        .drop("unit")
    )


def _estimate(row: Mapping[str, Any]) -> Estimate:
    return Estimate(**{one.name: row[one.name] for one in fields(Estimate)})


def _bound(subject: Subject) -> dict[str, Any]:
    candidate, other = subject
    return {"candidate": candidate, "other": other}


def _unit(design: Design | None, window: Window) -> tuple[str, dict[str, list[int]]]:
    """The number of what is told apart, as text of a query, and what it looks up.

    Night times `NIGHT`, from the window's first, plus block.
    """
    if design is None or design.used == "compat":
        return "0", {}
    if design.is_by_night:
        return f"(day - $first::date) * {NIGHT}", {}
    if design.used == "fixed":
        return "block", {}
    if design.used == "mixture":
        return "0", {}
    blocks = block_plan.SUB_BLOCKS
    place = _places(design, window)
    # Sub-blocks that share a place are added where the first of them stands; nights
    # after the plan's last go to the one after it.
    _, index, group = np.unique(place, return_index=True, return_inverse=True)
    beyond = np.full(max(window.nights * blocks - place.size, 0), place.size)
    same = np.concatenate([index[group.ravel()], beyond])[: window.nights * blocks]
    units = same // blocks * NIGHT + same % blocks
    return (
        f"$units[(day - $first::date) * {blocks} + block + 1]",
        {"units": units.tolist()},
    )


def _places(design: Design, window: Window) -> Integers:
    """Of each night and sub-block its place in the plan, one after the other."""
    if window.is_from_start:
        _, place = block_plan.nightly_plan(1.0, horizon_nights=design.horizon_nights)
    else:
        _, place = block_plan.window_plan(1.0, nights=window.nights)
    return place.ravel()
