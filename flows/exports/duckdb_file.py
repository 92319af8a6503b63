"""Another DuckDB file: the whole export is one transaction in it.

The file may hold tables of others, so it is written in place, never swapped: nobody
else can have it open meanwhile, and where somebody has, nothing is written. A file that
a failing export would have made is not left behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from flows import queries
from flows.exports.source import Night, Source, Table
from flows.exports.sql_target import SqlTarget
from flows.exports.targets import ExportError
from flows.warehouse.settings import Export


class DuckDBFile(SqlTarget):
    """A file attached to the source's connection as `target`."""

    def __init__(self, source: Source, namespace: str) -> None:
        self.con, self.namespace = source.con, namespace
        place = f"target.{queries.identifier(namespace)}"
        super().__init__(source, prefix=f"{place}.")
        self.rows(f"create schema if not exists {place}")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Executes a statement; returns its rows."""
        return queries.execute(self.con, query)

    def insert(self, table: Table, nights: Sequence[Night]) -> None:
        """Appends the source's rows."""
        rows = self.source.query(table, nights)
        self.rows(f"insert into {self.place(table)} by name {rows}")

    def found(self, table: Table) -> list[tuple[str, str]]:
        """The columns it has of a table, and their types in small letters."""
        found: list[tuple[str, str]] = queries.run(
            self.con,
            "exports/duckdb_columns",
            namespace=queries.literal(self.namespace),
            relation=queries.literal(table.name),
        )
        return found


@contextmanager
def opened(source: Source, export: Export, path: Path) -> Iterator[DuckDBFile]:
    """The file, in a transaction. Raises: ExportError."""
    if path.exists() and path.samefile(source.warehouse):
        raise ExportError(f"{path} is the warehouse that is exported; name another")
    path.parent.mkdir(parents=True, exist_ok=True)
    is_kept = path.exists()
    try:
        with _transaction(source.con, path):
            yield DuckDBFile(source, export.namespace)
        is_kept = True
    except duckdb.Error as error:
        raise ExportError(_told(path, error)) from None
    finally:
        if not is_kept:
            path.unlink(missing_ok=True)
            path.with_name(f"{path.name}.wal").unlink(missing_ok=True)


@contextmanager
def _transaction(con: duckdb.DuckDBPyConnection, path: Path) -> Iterator[None]:
    queries.execute(con, f"attach {queries.literal(str(path))} as target")
    try:
        queries.execute(con, "begin")
        yield
        queries.execute(con, "commit")
        queries.execute(con, "checkpoint target")
    except BaseException:
        with suppress(duckdb.Error):  # a full disk has ended it already
            queries.execute(con, "rollback")
        raise
    finally:
        with suppress(duckdb.Error):
            queries.execute(con, "detach target")


def _told(path: Path, error: duckdb.Error) -> str:
    said = str(error).partition("\n")[0]
    if "lock" in said:
        said = f"somebody else has it open ({said}); close it there and export again"
    return f"{path}: {said}. Nothing was written"
