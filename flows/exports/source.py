"""What is exported: the tables of a job's published warehouse, read only.

The file is opened beside others (`source`), so that a reader of it, or a night that
swaps in a new one, is not in the way: all tables are those of one moment. What columns
mean is read from the file too, where `flows.warehouse.publish` wrote it.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import duckdb
import polars as pl

from flows import queries
from flows.exports.targets import ExportError

# None: a table that is replaced whole.
Night = dt.date | None
Kind = Literal["text", "double", "integer", "boolean", "date", "instant"]

# The column that says the night; None for tables that are replaced whole.
TABLES: Mapping[str, str | None] = {
    "runs": None,
    "estimates": "night",
    "revisions": "night",
    "missing": "day",
    "rewards": "day",
    "known_segments": None,
    "settings": None,
    "candidates": None,
    "frequencies": None,
    "violations": None,
    "suggestions": None,
    "suggestion_reviews": None,
    "evidence": "day",
}
# Evidence is many rows that only our intervals read.
USUAL = tuple(table for table in TABLES if table != "evidence")
# The table that knows every night by which others are replaced.
NIGHTS = {"night": "estimates", "day": "evidence"}
KINDS: Mapping[str, Kind] = {
    "VARCHAR": "text",
    "DOUBLE": "double",
    "BIGINT": "integer",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP WITH TIME ZONE": "instant",
}
ROWS_AT_ONCE = 200_000


@dataclass(frozen=True, slots=True)
class Column:
    """A column, of a kind that every target has."""

    name: str
    kind: Kind
    meaning: str

    @property
    def quoted(self) -> str:
        """Its name as an SQL identifier."""
        return queries.identifier(self.name)


JOB = Column("job", "text", "Name of the job, as its job file says.")


@dataclass(frozen=True, slots=True)
class Table:
    """A table as targets have it: `columns` begin with the job.

    night: the column by which it is replaced; None where it is replaced whole.
    relation: where the source has it; listed: what is selected from it.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    night: str | None
    relation: str
    listed: str

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that a replacement goes by."""
        return (JOB.name,) if self.night is None else (JOB.name, self.night)

    @property
    def key(self) -> str:
        """The night of a row, as SQL."""
        return "null::date" if self.night is None else queries.identifier(self.night)


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows of a night: how many, and a digest of them and of their columns."""

    row_count: int
    digest: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What a target was told it holds of one night of one table."""

    row_count: int
    digest: str
    untaken_version: str
    exported_at: dt.datetime


Entries = Mapping[tuple[str, Night], Entry]

EXPORTED = Table(
    name="exported",
    meaning="One row a table and night that was exported; written last.",
    columns=(
        JOB,
        Column("table_name", "text", "The table."),
        Column("night", "date", "The night; null for a table that is replaced whole."),
        Column("row_count", "integer", "Number of rows of the job that it has."),
        Column("digest", "text", "Of the rows: equal digests, equal rows."),
        Column("untaken_version", "text", "The newest version that found them right."),
        Column("exported_at", "instant", "When they were written, UTC."),
    ),
    night=None,
    relation="temp.exported",
    listed="table_name, night, row_count, digest, untaken_version, exported_at",
)


class Source:
    """The tables of a job, in a connection that targets may use too."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, job: str, warehouse: Path
    ) -> None:
        """Raises: ExportError for a file that DuckDB cannot read."""
        self.con, self.job, self.warehouse = con, job, warehouse
        try:
            path = queries.literal(str(warehouse))
            queries.execute(con, f"attach {path} as source (read_only)")
        except duckdb.Error as error:
            raise ExportError(
                f"{warehouse} cannot be read: {error}. Make it anew with untaken "
                "nightly"
            ) from None
        self._tables = {table.name: table for table in self._found()}

    def _found(self) -> Iterator[Table]:
        rows: dict[str, list[Any]] = {}
        for table, *row in queries.run(self.con, "exports/meanings"):
            rows.setdefault(table, []).append(row)
        for table in TABLES:
            columns = [row for row in rows.get(table, []) if row[0] != JOB.name]
            if not columns:
                continue
            yield Table(
                name=table,
                meaning=columns[0][3],
                columns=(
                    JOB,
                    *(
                        Column(name, KINDS.get(data_type, "text"), meaning)
                        for name, data_type, meaning, _ in columns
                    ),
                ),
                night=TABLES[table],
                relation=f"source.{table}",
                listed=", ".join(_selected(*column[:2]) for column in columns),
            )

    def tables(self, wanted: Iterable[str]) -> tuple[Table, ...]:
        """Those of the wanted tables that the job has."""
        return tuple(self._tables[n] for n in wanted if n in self._tables)

    def slices(self, table: Table) -> dict[Night, Slice]:
        """The nights of a table, those without rows too."""
        nothing = _sliced(table, 0, "")
        nights: dict[Night, Slice] = {None: nothing}
        if table.night is not None:
            column, knows = queries.identifier(table.night), NIGHTS[table.night]
            known = f"select distinct {column} from source.{knows} order by 1"  # noqa: S608 - ours
            nights = {night: nothing for (night,) in queries.execute(self.con, known)}
        listed = ", ".join(column.quoted for column in table.columns[1:])
        for night, count, total in queries.run(
            self.con,
            "exports/slices",
            key=table.key,
            listed=listed,
            relation=table.relation,
        ):
            nights[night] = _sliced(table, count, total)
        return nights

    def query(
        self, table: Table, nights: Sequence[Night] | None, *left_out: str
    ) -> str:
        """The query for the rows of some nights (None: all), but for some columns."""
        job = f"{queries.literal(self.job)} as job, {table.listed}"
        query = queries.filled(
            "exports/rows",
            {
                "listed": job,
                "relation": table.relation,
                "condition": within(table, nights),
            },
        )
        if not left_out:
            return query
        names = ", ".join(queries.identifier(name) for name in left_out)
        return f"select * exclude ({names}) from ({query})"  # noqa: S608 - ours

    def frame(self, table: Table, nights: Sequence[Night]) -> pl.DataFrame:
        """The rows of some nights."""
        return queries.frame(self.con, self.query(table, nights))

    def note(self, entries: Entries) -> None:
        """Fills the table `EXPORTED`."""
        values = {
            "tables": [table for table, _ in entries],
            "nights": [night for _, night in entries],
            "counts": [one.row_count for one in entries.values()],
            "digests": [one.digest for one in entries.values()],
            "versions": [one.untaken_version for one in entries.values()],
            "instants": [one.exported_at for one in entries.values()],
        }
        queries.run(self.con, "exports/exported", values)


def within(table: Table, nights: Sequence[Night] | None) -> str:
    """The condition for some nights, as SQL."""
    if table.night is None or nights is None:
        return "true"
    listed = ", ".join(f"date '{night}'" for night in nights)
    return f"{queries.identifier(table.night)} in ({listed})"


def batches(
    nights: Iterable[Night], slices: Mapping[Night, Slice]
) -> list[list[Night]]:
    """The nights in lots that fit into memory."""
    lots: list[list[Night]] = []
    room = 0
    for night in nights:
        if room <= 0:
            lots.append([])
            room = ROWS_AT_ONCE
        lots[-1].append(night)
        room -= slices[night].row_count
    return lots


def _sliced(table: Table, count: int, total: str) -> Slice:
    columns = [(column.name, column.kind) for column in table.columns]
    text = f"{columns} {count} {total}"
    return Slice(count, hashlib.sha256(text.encode()).hexdigest()[:20])


def _selected(name: str, data_type: str) -> str:
    """A column; lists and structs, which not every target has, as JSON text."""
    quoted = queries.identifier(name)
    return quoted if data_type in KINDS else f"to_json({quoted})::varchar as {quoted}"
