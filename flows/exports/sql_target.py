"""What targets share that speak SQL: DuckDB and PostgreSQL.

Types have the names of the SQL standard, which both read; their catalogs name some
otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from flows import queries
from flows.exports.source import (
    EXPORTED,
    Column,
    Entries,
    Entry,
    Kind,
    Night,
    Source,
    Table,
    within,
)

TYPES: Mapping[Kind, str] = {
    "text": "text",
    "double": "double precision",
    "integer": "bigint",
    "boolean": "boolean",
    "date": "date",
    "instant": "timestamp with time zone",
}
KINDS: Mapping[str, Kind] = {
    **{name: kind for kind, name in TYPES.items()},
    "varchar": "text",
    "character varying": "text",
    "double": "double",
}


class SqlTarget(ABC):
    """Tables of one namespace; the first three methods are each engine's own.

    prefix: what stands before a table's name.
    """

    def __init__(self, source: Source, *, prefix: str) -> None:
        self.source, self.prefix = source, prefix

    @abstractmethod
    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Executes a statement; returns its rows."""

    @abstractmethod
    def insert(self, table: Table, nights: Sequence[Night]) -> None:
        """Appends the source's rows."""

    @abstractmethod
    def found(self, table: Table) -> list[tuple[str, str]]:
        """The columns it has of a table, and their types in small letters."""

    def columns(self, table: Table) -> Mapping[str, str] | None:
        """The kinds of its columns by name."""
        found = self.found(table)
        return {name: KINDS.get(of, of) for name, of in found} or None

    def create(self, table: Table) -> None:
        """Makes the table, empty."""
        listed = ", ".join(f"{one.quoted} {TYPES[one.kind]}" for one in table.columns)
        self.rows(f"create table {self.place(table)} ({listed})")

    def add(self, table: Table, columns: Sequence[Column]) -> None:
        """Adds columns."""
        for one in columns:
            column = f"{one.quoted} {TYPES[one.kind]}"
            self.rows(f"alter table {self.place(table)} add column {column}")

    def describe(self, table: Table) -> None:
        """Comments on the table and its columns."""
        place = self.place(table)
        self.rows(f"comment on table {place} is {queries.literal(table.meaning)}")
        for one in table.columns:
            meaning = queries.literal(one.meaning)
            self.rows(f"comment on column {place}.{one.quoted} is {meaning}")

    def counts(self, table: Table) -> Mapping[Night, int]:
        """How many rows of the job it has, by night."""
        pieces = {
            "key": "cast(null as date)" if table.night is None else table.key,
            "place": self.place(table),
            "job": queries.literal(self.source.job),
        }
        return dict(self.rows(queries.filled("exports/counts", pieces)))

    def replace(self, table: Table, nights: Sequence[Night]) -> None:
        """Deletes the rows of the job and nights, and appends the source's."""
        job = queries.literal(self.source.job)
        condition = f"job = {job} and {within(table, nights)}"
        self.rows(f"delete from {self.place(table)} where {condition}")  # noqa: S608 - ours
        self.insert(table, nights)

    def exported(self) -> Entries:
        """What it was told it holds of the job."""
        place, job = self.place(EXPORTED), queries.literal(self.source.job)
        query = f"select {EXPORTED.listed} from {place} where job = {job}"  # noqa: S608 - ours
        return {(table, night): Entry(*row) for table, night, *row in self.rows(query)}

    def place(self, table: Table) -> str:
        """The table's name as SQL."""
        return self.prefix + queries.identifier(table.name)
