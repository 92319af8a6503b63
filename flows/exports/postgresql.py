"""A PostgreSQL server by ADBC: the whole export is one transaction.

Rows travel as Arrow, by COPY. A lock of the database keeps two exports from writing the
same nights at once; readers see the nights of before until the transaction commits.
A schema that is there is used as it is, so the user needs no right to create one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flows import queries
from flows.exports.source import Night, Source, Table
from flows.exports.sql_target import SqlTarget
from flows.exports.targets import ExportError, install
from flows.warehouse.settings import Export

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Connection, Cursor

# Of libpq, where neither the URL nor the environment says otherwise.
CONNECT_SECONDS = 30
LOCK_SECONDS = 60
# libpq quotes pieces of a URL that it cannot read, and a password may be in them.
UNREADABLE = ("URI", "connection option", "connection info string")


class PostgreSQL(SqlTarget):
    """A schema of the database that a cursor is connected to."""

    def __init__(self, source: Source, cursor: Cursor, namespace: str) -> None:
        self.cursor, self.namespace = cursor, namespace
        place = queries.identifier(namespace)
        super().__init__(source, prefix=f"{place}.")
        self.rows(f"set local lock_timeout = '{LOCK_SECONDS}s'")
        self.rows("select pg_advisory_xact_lock(hashtext('untaken'))")
        found = self.rows("select nspname from pg_namespace")
        if (namespace,) not in found:
            self.rows(f"create schema {place}")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Executes a statement; returns its rows."""
        self.cursor.execute(query)
        found = self.cursor.fetch_polars()
        return found.rows()

    def insert(self, table: Table, nights: Sequence[Night]) -> None:
        """Appends the source's rows."""
        self.cursor.adbc_ingest(
            table.name,
            self.source.frame(table, nights),
            mode="append",
            db_schema_name=self.namespace,
        )

    def found(self, table: Table) -> list[tuple[str, str]]:
        """The columns it has of a table, and their types in small letters."""
        place = queries.literal(self.place(table))
        query = queries.filled("exports/postgresql_columns", {"place": place})
        return self.rows(query)


@contextmanager
def opened(source: Source, export: Export, url: str) -> Iterator[PostgreSQL]:
    """The server, in a transaction. Raises: ExportError."""
    try:
        from adbc_driver_manager import Error
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise install("postgresql", export.to) from None
    os.environ.setdefault("PGCONNECT_TIMEOUT", str(CONNECT_SECONDS))
    try:
        connection = dbapi.connect(url)
    except Error as error:
        raise ExportError(_unreachable(export, url, error)) from None
    try:
        with _transaction(connection) as cursor:
            yield PostgreSQL(source, cursor, export.namespace)
    except Error as error:
        said = _said(error, url)
        raise ExportError(f"PostgreSQL: {said}. Nothing was written") from None


@contextmanager
def _transaction(connection: Connection) -> Iterator[Cursor]:
    try:
        with connection.cursor() as cursor:
            yield cursor
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
    finally:
        connection.close()


def _unreachable(export: Export, url: str, error: Exception) -> str:
    said = _said(error, url)
    if any(mark in said for mark in UNREADABLE):
        return (
            f"the URL in {export.url_env} cannot be read. It is "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with marks inside the "
            "password percent-encoded"
        )
    return f"the server of {export.url_env} cannot be reached: {said}"


def _said(error: Exception, url: str) -> str:
    """What the server said, on one line, without the statement and the URL."""
    told = str(error).replace(url, "the URL").partition("\n\nQuery was")[0]
    for mark in ("ERROR:", "FATAL:", "[libpq]"):
        told = told.rpartition(mark)[2]
    return " ".join(told.split()).rstrip(".")
