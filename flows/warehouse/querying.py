"""`untaken query`: an analyst's SQL over a job's warehouse, for reading alone.

Tables, views and macros are there by their plain names, and files by `read_parquet`.
The warehouse is attached read-only, without a lock: a night that ends meanwhile puts a
new file in its place and leaves the open one alone. One statement that reads is run;
whatever would write, set or load something is refused before it starts, and the
read-only file refuses what hides inside a statement.

An answer is a table for the terminal, which shows the first and last rows of a long one
and says so, or complete: CSV, JSON (an array; NaN and infinity, which JSON has not, are
null) or Parquet. DuckDB writes these row by row to a file, so that memory stays flat,
and only a complete answer is passed on.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import duckdb

from flows import queries
from flows.errors import UsageError

Form = Literal["table", "csv", "json", "parquet"]
WRITTEN: dict[Form, str] = {
    "csv": "format csv, header true",
    "json": "format json, array true",
    "parquet": "format parquet, compression zstd",
}
# Rows that a table shows, and how wide it is where there is no terminal.
MOST_ROWS, ANY_WIDTH = 40, 10_000
FLOATS = ("DOUBLE", "FLOAT")
PIVOTING = re.compile(r"(pivot|from|select|with)\b", re.IGNORECASE)


def answer(warehouse: Path, query: str, *, form: Form, out: Path | None) -> None:
    """Answers a query to a file, or to standard output when `out` is None.

    Raises: UsageError for what is no query, DuckDB cannot answer or would write, and
    for a form that does not fit the place; LogError when memory or disk do not suffice.
    """
    if form == "table" and out is not None:
        raise UsageError("--out takes an answer as --format csv, json or parquet")
    if form == "parquet" and out is None and sys.stdout.isatty():
        raise UsageError("parquet is nothing to look at: name a file with --out")
    if out is not None and out.resolve() == warehouse.resolve():
        raise UsageError(f"--out {out} is the warehouse itself; name another file")
    with _opened(warehouse) as con, _told(con):
        text = _one_that_reads(con, query)
        if form == "table":
            _show(con, text)
        elif out is None:
            with tempfile.TemporaryDirectory(prefix="untaken-") as folder:
                file = Path(folder) / "answer"
                _write(con, text, form, file)
                with file.open("rb") as written:
                    shutil.copyfileobj(written, sys.stdout.buffer)
        else:
            _put(con, text, form, out)


@contextmanager
def _opened(warehouse: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The warehouse for reading, its names without a prefix."""
    with queries.connection() as con:
        file = queries.literal(str(warehouse))
        try:
            queries.execute(con, f"attach {file} as warehouse (read_only)")
        except duckdb.Error as error:
            raise UsageError(f"{warehouse} cannot be opened: {error}") from None
        queries.execute(con, "use warehouse")
        yield con


@contextmanager
def _told(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """DuckDB's message as ours, with what there is where a table is not."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        message = str(error)
        if "Table with name" in message:
            tables = [name for (name,) in queries.execute(con, "show tables")]
            message += f"\nThere are: {', '.join(tables)}"
        raise UsageError(message) from None


def _one_that_reads(con: duckdb.DuckDBPyConnection, query: str) -> str:
    """The text of the one statement. Raises: UsageError for anything but one query."""
    statements = con.extract_statements(query)
    if len(statements) != 1:
        found = len(statements) or "none"
        raise UsageError(f"one query is answered at a time; there are {found}")
    kind, text = statements[0].type, statements[0].query.strip().rstrip(";")
    # PIVOT is several statements to DuckDB: it looks for its columns first.
    is_pivot = kind == duckdb.StatementType.MULTI and PIVOTING.match(text)
    if kind != duckdb.StatementType.SELECT and not is_pivot:
        raise UsageError(
            f"the warehouse is only read, and {kind.name} is no SELECT. "
            "Answers go to a file by --format and --out"
        )
    return text


def _show(con: duckdb.DuckDBPyConnection, text: str) -> None:
    """Prints a table, as wide as the terminal."""
    width = ANY_WIDTH
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        con.sql(text).show(max_rows=MOST_ROWS, max_width=width)
    drawn = shown.getvalue().rstrip()
    if drawn.endswith(" shown)"):
        drawn += "\nAll of it: --format csv, json or parquet"
    sys.stdout.write(drawn + "\n")


def _put(con: duckdb.DuckDBPyConnection, text: str, form: Form, out: Path) -> None:
    """Writes an answer to its file in one step."""
    from flows.folder import replacing

    if out.is_dir() or not out.parent.is_dir():
        raise UsageError(f"--out {out} is no file in a folder that is there")
    with replacing(out) as beside:
        _write(con, text, form, beside)


def _write(con: duckdb.DuckDBPyConnection, text: str, form: Form, file: Path) -> None:
    if form == "json":
        text = _without_nan(con, text)
    # A comment at the end of the query ends with its line.
    target, how = queries.literal(str(file)), WRITTEN[form]
    queries.execute(con, f"copy (\n{text}\n) to {target} ({how})")


def _without_nan(con: duckdb.DuckDBPyConnection, text: str) -> str:
    """The query with null in place of numbers that JSON has not."""
    answered = con.sql(text)
    places = [f"c{place}" for place in range(len(answered.columns))]
    columns = [
        (f"case when isfinite({place}) then {place} end" if kind in FLOATS else place)
        + f" as {queries.identifier(name)}"
        for place, name, kind in zip(
            places, answered.columns, map(str, answered.types), strict=True
        )
    ]
    named, made = ", ".join(places), ", ".join(columns)
    return f"select {made} from (\n{text}\n) as answer({named})"  # noqa: S608 - theirs
