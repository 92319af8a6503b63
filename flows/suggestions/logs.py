"""Opens the files of a log of questions or of feedback records: Parquet or JSON.

A file's kind is its ending: `.parquet`, or `.json`, `.jsonl` and `.ndjson`, which hold
one JSON body on each line that is not blank, or up to 32 MiB of one document (a list
counts as its elements).
Names of columns and fields are taken in any case, with or without underscores: `qnaId`,
`QnaID` and `qna_id` are one. Every Parquet file is read by its own schema, so that the
types of one never decide over another's values. A file is known by the digest of its
bytes: two copies are one file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl

from flows import queries
from flows.folder import digest_of_file

PARQUET = ".parquet"
JSON = (".json", ".jsonl", ".ndjson")
LARGEST_DOCUMENT = 32 << 20  # bytes; it is held in memory as a whole, more than once


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file that could be opened; `schema` is None for JSON."""

    path: str
    digest: str
    schema: pl.Schema | None


@dataclass(frozen=True, slots=True)
class Kind:
    """What a column may be in Parquet, its DuckDB type, and how to write it."""

    duckdb: str
    is_fitting: Callable[[pl.DataType], bool]
    remedy: str


def _is_text(dtype: pl.DataType) -> bool:
    return dtype in (pl.String, pl.Categorical, pl.Enum)


def _is_instant(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.Datetime) and dtype.time_zone is not None


TEXT = Kind("varchar", _is_text, "write text")
IDENTITY = Kind(
    "varchar", lambda t: _is_text(t) or t.is_integer(), "write text or whole numbers"
)
INSTANT = Kind("timestamptz", _is_instant, "write times with their zone, such as UTC")
TRUTH = Kind("boolean", lambda t: t == pl.Boolean, "write true or false")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one Parquet file; what is wrong goes into `problems`."""

    path: str
    schema: pl.Schema
    problems: list[str]

    def named(self, *names: str) -> str | None:
        """The column that has one of `names`, if there is one."""
        found = matching(self.schema.names(), names)
        if len(found) > 1:
            self.tell(f"columns {' and '.join(found)} have one name; leave one")
        return found[0] if found else None

    def value(self, kind: Kind, *names: str, is_required: bool = False) -> str:
        """The DuckDB expression of a column; null when the file need not have it."""
        column = self.named(*names)
        if column is None:
            if is_required:
                found = ", ".join(self.schema.names())
                self.tell(f"no column {names[0]!r}; found: {found}")
            return f"null::{kind.duckdb}"
        dtype = self.schema[column]
        if dtype != pl.Null and not kind.is_fitting(dtype):
            self.tell(f"column {column!r} is {dtype}; {kind.remedy}")
        return f"{queries.identifier(column)}::{kind.duckdb}"

    def tell(self, fact: str) -> None:
        """Adds a problem of this file."""
        self.problems.append(f"{self.path}: {fact}")


def matching(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The `names` that are one of `wanted`, but for case and underscores."""
    plain = {name.lower().replace("_", "") for name in wanted}
    return [name for name in names if name.lower().replace("_", "") in plain]


def open_files(paths: Sequence[str | Path], problems: list[str]) -> list[LogFile]:
    """The files in order of their paths, those left out that cannot be opened."""
    opened = []
    for path in sorted({str(path) for path in paths}):
        try:
            kind = Path(path).suffix.lower()
            if kind not in (PARQUET, *JSON):
                problems.append(f"{path}: neither {PARQUET} nor {', '.join(JSON)}")
                continue
            digest = digest_of_file(path)
            schema = None
            if kind == PARQUET:
                scanned = pl.scan_parquet(path, glob=False, hive_partitioning=False)
                schema = scanned.collect_schema()
            opened.append(LogFile(path, digest, schema))
        except (pl.exceptions.PolarsError, OSError, ValueError) as error:
            problems.append(_unreadable(path, error))
    return opened


def add(
    con: duckdb.DuckDBPyConnection,
    file: LogFile,
    statement: str,
    problems: list[str],
    **pieces: str,
) -> None:
    """Runs the statement that adds a file to its log.

    A JSON file stands as the view `bodies` while it does: `row` from 1, and `json`,
    null for a line that is none.
    """
    files = queries.files([file.path])
    values = {"path": file.path, "file_digest": file.digest}
    try:
        if file.schema is None and (wrong := _bodies(con, file.path)):
            problems.append(f"{file.path}: {wrong}")
            return
        queries.run(con, f"suggestions/{statement}", values, files=files, **pieces)
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        problems.append(_unreadable(file.path, error))


def _bodies(con: duckdb.DuckDBPyConnection, path: str) -> str | None:
    """Makes `bodies` of lines or, where a line is no object, of a document.

    Returns: why it is no document, where it was meant for one.
    """
    files = queries.files([path])
    may_be_document = Path(path).stat().st_size <= LARGEST_DOCUMENT
    odd = "select 1 from bodies where (json_type(json) <> 'ARRAY') is not true limit 1"
    try:
        queries.run(con, "suggestions/json_lines", files=files)
        if not (may_be_document and queries.execute(con, odd)):
            return None
    except duckdb.InvalidInputException:
        # A line is longer than DuckDB's buffers.
        if not may_be_document:
            raise
    con.execute(f"set memory_limit = '{queries.MEMORY_LIMIT}'")
    try:
        queries.run(con, "suggestions/json_document", files=files)
    except duckdb.InvalidInputException:
        return _no_document(path)
    broken = queries.execute(con, "select 1 from bodies where json is null limit 1")
    return _no_document(path) if broken else None


def _no_document(path: str) -> str | None:
    """Where a file stops being JSON; None where it is, or is lines of it."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        json.loads(text)
    except UnicodeDecodeError as error:
        return f"is not UTF-8 at byte {error.start + 1:,}; save it as UTF-8"
    except ValueError as error:
        first = next((line for line in text.splitlines() if line.strip()), "")
        return None if _is_json(first) else f"is not JSON: {error}; write it anew"
    return None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _unreadable(path: str, error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{path}: cannot be opened ({error.strerror}); name a readable file"
    reason = str(error).splitlines()[0] if str(error) else "cannot be read"
    # What stands behind it may be a user's text.
    told = reason.split(" Input: ")[0].strip()
    kind = "Parquet" if path.lower().endswith(PARQUET) else "JSON"
    return f"{path}: is no {kind} that can be read ({told}); write the file anew"
