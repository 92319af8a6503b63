"""Lines of files, as DuckDB reads them into the table of a form.

The CSV reader of DuckDB, told that there is one column, reads the lines of many files
in parallel and in their order, but ends a line at a carriage return too, drops what
follows the delimiter and fails on bytes that are no UTF-8. A file with any of these is
copied line by line, split at line feeds alone, before it is read; the copy says the
same of every line.
"""

from __future__ import annotations

import shutil
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from flows import queries
from flows.errors import LogError

CHUNK_BYTES = 2**18
COPIED_BYTES = 2**26
# What is read at once: of small files many, for each statement has its cost.
BATCH_BYTES = 2**26
BATCH_FILES = 256
SCHEMA = {"line": pl.String}
# A control character that no JSON text holds.
DELIMITER = "\x01"
LONGEST_LINE_BYTES = 2**21
# What a thread reads at a time: by default so much that one reads all of most files.
BUFFER_BYTES = 2**22


@dataclass(frozen=True, slots=True)
class Form:
    """A form of lines: the folder `sql/importers/<name>`.

    steps: the SQL files that add the lines of `${source}` to its table, in order.
    values, pieces: what they, and the table, bind and put in.
    """

    name: str
    steps: tuple[str, ...] = ("read_file",)
    values: Mapping[str, Any] = field(default_factory=dict)
    pieces: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Survey:
    """What a look at the bytes of a file tells: its lines, and how they can be read."""

    line_count: int
    is_plain: bool


def survey(path: Path) -> Survey:
    """Counts the lines of a file; an end without a line feed ends a line too."""
    count, last, is_plain = 0, b"\n", True
    with path.open("rb", buffering=0) as opened:
        while chunk := opened.read(CHUNK_BYTES):
            count += chunk.count(b"\n")
            is_plain = is_plain and b"\r" not in chunk and b"\x01" not in chunk
            last = chunk
    return Survey(count + (not last.endswith(b"\n")), is_plain)


def batches(files: Sequence[Path]) -> Iterator[dict[int, Path]]:
    """The files by their numbers, so many as are read at once. Raises: LogError."""
    batch: dict[int, Path] = {}
    size = 0
    for number, path in enumerate(files):
        try:
            more = path.stat().st_size
        except OSError as error:
            raise _unreadable(path, error) from None
        if batch and (size + more > BATCH_BYTES or len(batch) == BATCH_FILES):
            yield batch
            batch, size = {}, 0
        batch[number] = path
        size += more
    yield batch


def read_lines(
    con: duckdb.DuckDBPyConnection, form: Form, files: Mapping[int, Path], folder: Path
) -> dict[int, int]:
    """Adds the lines of files to the table of the form; returns how many, by file.

    files: by their numbers, which follow one another. folder: for copies, made and
    removed here. Raises: LogError when a file cannot be read, or changes meanwhile.
    """
    seen = {number: _surveyed(path) for number, path in files.items()}
    counts = {number: one.line_count for number, one in seen.items()}
    is_plain = all(one.is_plain for one in seen.values())
    if not any(counts.values()):
        return counts
    if is_plain and _inserted(con, form, as_csv(files), counts):
        return counts
    if len(files) > 1:
        for number, path in files.items():
            counts |= read_lines(con, form, {number: path}, folder)
        return counts
    ((number, path),) = files.items()
    try:
        if not _inserted(con, form, as_copy(number, path, folder), counts):
            raise LogError(f"{path} changed while it was read; nothing was imported")
    except OSError as error:
        raise _unreadable(path, error) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return counts


def as_csv(files: Mapping[int, Path]) -> str:
    """The lines of plain files as a DuckDB table: `line`, and the `file`'s number."""
    listed = queries.files(str(path) for path in files.values())
    read = (
        f"read_csv({listed}, columns = {{'line': 'varchar'}}, "
        f"delim = '{DELIMITER}', quote = '', escape = '', new_line = '\\n', "
        "header = false, auto_detect = false, strict_mode = false, "
        f"max_line_size = {LONGEST_LINE_BYTES}, buffer_size = {BUFFER_BYTES}, "
        "compression = 'none')"
    )
    return f"(select line, {min(files)} + file_index as file from {read})"  # noqa: S608


def as_copy(number: int, path: Path, folder: Path) -> str:
    """The lines of any file likewise, copied to Parquet files in `folder` first.

    A line that is no UTF-8 is made one that everybody takes for malformed JSON. A mark
    of UTF-8 at the start is no part of the first line, as for the CSV reader.
    """
    folder.mkdir()
    rest = b""
    copies: list[Path] = []

    def copy(lines: Sequence[bytes]) -> None:
        copies.append(folder / f"{len(copies)}.parquet")
        pl.DataFrame({"line": map(_text, lines)}, SCHEMA).write_parquet(copies[-1])

    with path.open("rb") as opened:
        if opened.read(len(BOM_UTF8)) != BOM_UTF8:
            opened.seek(0)
        while chunk := opened.read(COPIED_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            copy(lines)
    if rest:
        copy([rest])
    listed = queries.files(str(copy) for copy in copies)
    return f"(select line, {number} as file from read_parquet({listed}))"  # noqa: S608


def _inserted(
    con: duckdb.DuckDBPyConnection, form: Form, source: str, counts: Mapping[int, int]
) -> bool:
    """Whether as many lines were added as each file has; else none stays."""
    first = {"first": min(counts)}
    con.execute("begin")
    try:
        for step in form.steps:
            queries.run(
                con,
                f"importers/{form.name}/{step}",
                form.values,
                **form.pieces,
                source=source,
            )
        found = dict(queries.run(con, f"importers/{form.name}/line_counts", first))
    except (duckdb.InvalidInputException, duckdb.NotImplementedException):
        found = {}
    is_complete = found == {number: count for number, count in counts.items() if count}
    con.execute("commit" if is_complete else "rollback")
    return is_complete


def _surveyed(path: Path) -> Survey:
    try:
        return survey(path)
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> LogError:
    return LogError(f"{path} cannot be read: {error.strerror}")


def _text(line: bytes) -> str:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        return "{" + line.decode(errors="replace") + DELIMITER
