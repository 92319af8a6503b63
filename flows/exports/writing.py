"""Brings a target up to date.

First every table's columns are compared: a refusal comes before anything is written.
Then table by table, only the nights that differ, and at last the table `exported`. A
run that dies in between leaves that table behind the others, so that the next one
writes those nights again.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flows.errors import counted
from flows.exports.source import (
    EXPORTED,
    Column,
    Entries,
    Entry,
    Night,
    Slice,
    Source,
    Table,
    batches,
)
from flows.exports.targets import ExportError, Target
from flows.version import version


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: rows, and the names of the tables that changed.

    script: what is to be run yet.
    """

    row_count: int
    tables: tuple[str, ...]
    script: Path | None = None

    def told(self) -> str:
        """In words."""
        if not self.tables:
            return "up to date"
        tables = counted(len(self.tables), "table")
        told = f"{counted(self.row_count, 'row')} written in {tables}"
        return told if self.script is None else f"{told}; to load them: {self.script}"


def write(source: Source, target: Target, tables: Sequence[Table]) -> Written:
    """Writes what the target lacks. Raises: ExportError, with nothing written."""
    there = {one.name: target.columns(one) for one in (*tables, EXPORTED)}
    lacking = _lacking((*tables, EXPORTED), there)
    known: Entries = {} if there[EXPORTED.name] is None else target.exported()
    entries = dict(known)
    rows, changed = 0, list[str]()
    for table in tables:
        is_new, slices = there[table.name] is None, source.slices(table)
        ours = {
            night: one for (name, night), one in known.items() if name == table.name
        }
        is_touched = _prepare(target, table, lacking[table.name], is_new=is_new)
        is_older = any(one.untaken_version != version() for one in ours.values())
        if is_touched or is_older:
            target.describe(table)
        nights = _changed(slices, {} if is_new else target.counts(table), ours)
        for lot in batches(nights, slices):
            target.replace(table, lot)
        rows += sum(slices[night].row_count for night in nights)
        entries |= {
            (table.name, night): replace(one, untaken_version=version())
            for night, one in ours.items()
        }
        entries |= entries_of(table, slices, nights)
        if nights or is_touched or is_older:
            changed.append(table.name)
    if changed:
        is_new = there[EXPORTED.name] is None
        if _prepare(target, EXPORTED, lacking[EXPORTED.name], is_new=is_new):
            target.describe(EXPORTED)
        source.note(entries)
        target.replace(EXPORTED, [None])
    return Written(rows, tuple(changed))


def _lacking(
    tables: Sequence[Table], there: Mapping[str, Mapping[str, str] | None]
) -> dict[str, list[Column]]:
    """The columns to add, by table. Raises: ExportError with all that cannot be."""
    lacking, wrong = {}, list[str]()
    for table in tables:
        found = there[table.name]
        if found is None:
            lacking[table.name] = list[Column]()
            continue
        lacking[table.name] = [one for one in table.columns if one.name not in found]
        wrong += _unfit(table, found)
    if wrong:
        lines = "\n".join(f"  {one}" for one in wrong)
        raise ExportError(
            f"the tables there are not those of this version:\n{lines}\n"
            "Nothing was written. Move those tables away, or name another place, and "
            "export again: all nights that the results hold are written anew"
        )
    return lacking


def _unfit(table: Table, found: Mapping[str, str]) -> list[str]:
    """Why a table cannot be brought to this version's columns."""
    if strange := [key for key in table.keys if key not in found]:
        return [f"{table.name} has no column {', '.join(strange)}: it is not ours"]
    ours = {column.name: column.kind for column in table.columns}
    return [
        f"{table.name}.{name} is not known to this version"
        if name not in ours
        else f"{table.name}.{name} is {kind} there and {ours[name]} here"
        for name, kind in found.items()
        if ours.get(name) != kind
    ]


def _prepare(
    target: Target, table: Table, lacking: Sequence[Column], *, is_new: bool
) -> bool:
    """Makes the table fit; returns whether it did not."""
    if is_new:
        target.create(table)
    elif lacking:
        target.add(table, lacking)
    return is_new or bool(lacking)


def _changed(
    slices: Mapping[Night, Slice],
    held: Mapping[Night, int],
    known: Mapping[Night, Entry],
) -> list[Night]:
    """The nights whose rows are not those of now, by their number or digest."""
    return [
        night
        for night, one in slices.items()
        if held.get(night, 0) != one.row_count
        or (one.row_count and (night not in known or known[night].digest != one.digest))
    ]


def entries_of(
    table: Table, slices: Mapping[Night, Slice], nights: Iterable[Night]
) -> Entries:
    """What is to be told of some nights that were written."""
    now = dt.datetime.now(dt.UTC)
    return {
        (table.name, night): Entry(
            slices[night].row_count, slices[night].digest, version(), now
        )
        for night in nights
    }
