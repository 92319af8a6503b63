"""Runs the files of `sql/`.

A file is named by its path without ending, such as `staging/measured_decisions`.
`$name` in it is a bound value, `${name}` a piece of text put in before binding: an
identifier or a list of columns, which DuckDB cannot bind. Every connection runs in UTC,
never looks at Python variables, and spills to a folder of its own.
"""

from __future__ import annotations

import glob
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

import flows
from flows.errors import LogError

if TYPE_CHECKING:
    import polars as pl

MEMORY_LIMIT = "1GB"
# It takes a file's least and greatest value for all there is and rewrites predicates
# from them, even isnan(): a NaN, which no such pair shows, then passes every check.
DISTRUSTED = "statistics_propagation"


@cache
def folder() -> Path:
    """Where the SQL files are: inside the installed package, else beside it."""
    packaged = Path(flows.__path__[0]) / "sql"
    return packaged if packaged.is_dir() else packaged.parent.parent / "sql"


@cache
def text(name: str) -> str:
    """The text of the SQL file `name`."""
    return (folder() / f"{name}.sql").read_text(encoding="utf-8")


def names(under: str) -> list[str]:
    """The files below the folder `under`, in the order of their names."""
    files = sorted((folder() / under).glob("*.sql"))
    return [f"{under}/{file.stem}" for file in files]


def identifier(name: str) -> str:
    """`name` quoted as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """`value` quoted as an SQL string."""
    return "'" + value.replace("'", "''") + "'"


def files(paths: Iterable[str]) -> str:
    """`paths` as a list for read_parquet, which would take `[1]` for a pattern."""
    return "[" + ", ".join(literal(glob.escape(path)) for path in paths) + "]"


def filled(name: str, pieces: Mapping[str, str]) -> str:
    """The file `name` with its `${piece}` places filled."""
    return re.sub(r"\$\{(\w+)\}", lambda match: pieces[match[1]], text(name))


@contextmanager
def connection(database: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection, in memory when no `database` file is given.

    Raises: LogError when the spill folder's disk is full.
    """
    with tempfile.TemporaryDirectory(prefix="untaken-") as spill:
        con = duckdb.connect(
            str(database or ":memory:"),
            config={
                "python_enable_replacements": False,
                "memory_limit": MEMORY_LIMIT,
                "temp_directory": spill,
                "threads": int(os.environ.get("POLARS_MAX_THREADS", "0"))
                or os.cpu_count()
                or 1,
            },
        )
        try:
            con.execute("set timezone = 'UTC'")
            con.execute("set enable_progress_bar = false")
            con.execute(f"set disabled_optimizers = '{DISTRUSTED}'")
            yield con
        except duckdb.OutOfMemoryException as error:
            raise LogError(
                f"DuckDB ran out of memory or of disk for its temporary data: {error}"
            ) from None
        finally:
            con.close()


def run(
    con: duckdb.DuckDBPyConnection,
    name: str,
    values: Mapping[str, Any] | None = None,
    **pieces: str,
) -> list[tuple[Any, ...]]:
    """Executes the file `name` and returns its rows; a statement has none."""
    return execute(con, filled(name, pieces), values or {})


def execute(
    con: duckdb.DuckDBPyConnection, query: str, values: Mapping[str, Any] | None = None
) -> list[tuple[Any, ...]]:
    """Executes `query`, binding only the values that it names, to its last row.

    DuckDB refuses further work on a connection whose result was not read to the end.
    """
    named = re.findall(r"\$([a-z_]\w*)", query)
    # A quoted name may hold such a word too.
    bound = {key: values[key] for key in named if key in values} if values else None
    return con.execute(query, bound or None).fetchall()


def frame(
    con: duckdb.DuckDBPyConnection, query: str, values: Mapping[str, Any] | None = None
) -> pl.DataFrame:
    """Executes `query` and returns its rows as a polars frame."""
    import polars as pl

    return pl.DataFrame(con.sql(query, params=values or None))
