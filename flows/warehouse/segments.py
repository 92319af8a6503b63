"""Which segments a predicate means: `--where "position = 2 and device = 'phone'"`.

Evidence knows segments as text: one column's value, or several joined by ", "
(`flows.offpolicy.evidence.segment_text`). Here the texts become a small table again,
one typed column for each declared one, and the predicate is evaluated over that table
by a DuckDB of its own, in memory and without access to any file. A column holds numbers
when each of its values is written as one, booleans when each is `true` or `false`; a
null is null.

Among the declared cuts that hold all columns of the predicate, the one with the fewest
columns answers. A predicate that is true for exactly one of its segments means that
declared segment. One that is true for several of them cuts the log in a way that nobody
declared, and whatever is said of it is exploratory (validity.md 9).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import polars as pl

from flows import queries
from flows.errors import UsageError
from flows.offpolicy.evidence import NO_SEGMENT, NULL_SEGMENT

# One of several values, each with commas and backslashes of its own behind a backslash.
VALUE = re.compile(r"((?:\\.|[^\\,])*)(?:, |$)", re.DOTALL)
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
BOOLEANS = {"true": True, "false": False}
# How DuckDB says that a predicate names a column which is not there.
ABSENT = re.compile('^Binder Error: (Referenced (column|table) "|Table ")')
# No declared column is named like this.
KEY = " segment"
MOST_NAMED = 20

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """Some segments of one cut; `WHOLE`, all decisions together, has no cut."""

    cut: str
    segments: tuple[str, ...]

    @property
    def is_declared(self) -> bool:
        """Whether somebody declared exactly this part of the log."""
        return len(self.segments) == 1


WHOLE = Chosen(NO_SEGMENT, (NO_SEGMENT,))


def matching(where: str, cuts: Sequence[Sequence[str]], known: pl.DataFrame) -> Chosen:
    """The segments for which the predicate `where` is true.

    cuts: the declared ones, each some columns.
    known: every segment: `segment_by`, `segment`.

    Raises:
        UsageError: the predicate cannot be read, no cut holds its columns, or it is
            true for no segment.
    """
    if not cuts:
        raise UsageError(
            "--where needs declared segments, and the job file declares none: "
            '[evaluation] segments = [["COLUMN"]]'
        )
    for cut in sorted(cuts, key=len):
        name = ", ".join(cut)
        texts = known.filter(pl.col("segment_by") == name)["segment"].to_list()
        columns = _columns(texts, cut)
        try:
            found = _evaluated(where, texts, columns)
        except duckdb.Error as error:
            told = str(error).partition("\n")[0]
            if ABSENT.search(told):
                continue
            raise UsageError(f"--where {where!r}: {told}") from None
        if not found:
            raise UsageError(f"no segment has {where}. There are {_named(columns)}")
        return Chosen(name, found)
    declared = "; ".join(", ".join(cut) for cut in cuts)
    raise UsageError(
        f"--where {where!r} names columns that no declared segment has together. "
        f"Declared in [evaluation] segments: {declared}"
    )


def values(text: str, columns: int) -> list[str | None]:
    """The values in a segment's text, None for a null: `segment_text` turned back."""
    parts = [text] if columns == 1 else VALUE.findall(text)[:columns]
    return [None if part == NULL_SEGMENT else _plain(part, columns) for part in parts]


def _plain(part: str, columns: int) -> str:
    """A value without the backslashes that kept it apart."""
    if columns == 1:
        return NULL_SEGMENT if part == f"\\{NULL_SEGMENT}" else part
    return re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL)


def _columns(texts: Sequence[str], cut: Sequence[str]) -> dict[str, list[Value]]:
    """The values of each column, typed."""
    rows = [values(text, len(cut)) for text in texts]
    return {name: _typed([row[at] for row in rows]) for at, name in enumerate(cut)}


def _typed(texts: list[str | None]) -> list[Value]:
    """Numbers or booleans where all of them are written as such, else text."""
    present = {text for text in texts if text is not None}
    kind: type[int | float | bool] | None = None
    if present and present <= BOOLEANS.keys():
        return [None if text is None else BOOLEANS[text] for text in texts]
    if present and all(map(NUMBER.fullmatch, present)):
        kind = int if all(text.lstrip("-").isdecimal() for text in present) else float
    return [text if text is None or kind is None else kind(text) for text in texts]


def _evaluated(
    where: str, texts: list[str], columns: dict[str, list[Value]]
) -> tuple[str, ...]:
    """The segments of which the predicate is true, evaluated without any access."""
    listed = {KEY: texts, **columns}
    table = ", ".join(
        f"unnest($c{at}) as {queries.identifier(name)}"
        for at, name in enumerate(listed)
    )
    bound = {f"c{at}": column for at, column in enumerate(listed.values())}
    with queries.connection() as con:
        queries.execute(con, f"create table segments as select {table}", bound)
        queries.execute(con, "set enable_external_access = false")
        queries.execute(con, "set lock_configuration = true")
        found = con.table("segments").filter(where).select(queries.identifier(KEY))
        return tuple(row[0] for row in found.fetchall())


def _named(columns: dict[str, list[Value]]) -> str:
    """The values that there are."""
    told = []
    for name, column in columns.items():
        # Of one type but for nulls, which come last.
        distinct = sorted(set(column), key=lambda n: (n is None, n))
        shown = ["null" if n is None else repr(n) for n in distinct[:MOST_NAMED]]
        rest = len(distinct) - len(shown)
        more = f" and {rest} more" if rest else ""
        told.append(f"{name}: {', '.join(shown)}{more}")
    return "; ".join(told)
