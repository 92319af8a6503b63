"""Files to import, and their lines as DuckDB reads them.

The service's folders are `<time of configuration, 14 digits>/data/yyyy/mm/dd_*.json`; a
change of configuration opens a new one and replays up to two days into it. Observations
that found no decision stand in `skipped-data` and are not looked for.

The CSV reader of DuckDB, told that there is one column, reads lines in parallel and in
their order, but ends a line at a carriage return too, drops what follows the delimiter
and fails on bytes that are no UTF-8. A file with any of these is copied line by line,
split at line feeds alone, before it is read; the copy says the same of every line.
"""

from __future__ import annotations

import glob
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl

from flows import queries
from flows.errors import LogError

# What an import leaves in its own folder, which may lie among the logs.
MANIFEST = "import.json"
CHUNK_BYTES = 2**18
COPIED_BYTES = 2**26
SCHEMA = {"line": pl.String}
# A control character that no JSON text holds.
DELIMITER = "\x01"
LONGEST_LINE_BYTES = 2**21
# What a thread reads at a time: by default so much that one reads all of most files.
BUFFER_BYTES = 2**23
PACKED = (".gz", ".zst", ".bz2", ".zip")
CONFIGURED = re.compile(r"(?:^|/)(\d{14})/data/")


@dataclass(frozen=True, slots=True)
class Survey:
    """What a look at the bytes of a file tells: its lines, and how they can be read."""

    line_count: int
    is_plain: bool


def find(patterns: Iterable[str], *, endings: Sequence[str]) -> tuple[Path, ...]:
    """The files that `patterns` name, in the order of their paths, each once.

    A pattern is a file, a folder (all files below it with one of `endings`) or a glob.
    Raises: LogError naming each pattern that matches nothing, and packed files.
    """
    found: set[Path] = set()
    empty = []
    for pattern in patterns:
        path = Path(pattern)
        if path.is_dir():
            inside = [f for f in path.rglob("*") if f.suffix in endings and f.is_file()]
            matches = [
                f
                for f in inside
                if "skipped-data" not in f.parts and f.name != MANIFEST
            ]
        elif path.is_file():
            matches = [path]
        else:
            named = glob.glob(pattern, recursive=True)  # noqa: PTH207 - absolute too
            matches = [Path(name) for name in named if Path(name).is_file()]
        if not matches:
            empty.append(pattern)
        found.update(matches)
    if empty:
        kinds = ", ".join(endings)
        raise LogError(
            f"nothing to import in {', '.join(empty)}. Name files, a folder that holds "
            f"some ({kinds}) or a quoted glob that matches some."
        )
    packed = sorted(str(file) for file in found if file.suffix in PACKED)
    if packed:
        raise LogError(f"unpack these files first: {', '.join(packed)}")
    return tuple(sorted(found))


def configured_at(path: Path) -> str:
    """The time in the name of a file's configuration folder; empty without one."""
    known = CONFIGURED.search(path.as_posix())
    return known[1] if known else ""


def survey(path: Path) -> Survey:
    """Counts the lines of a file; an end without a line feed ends a line too."""
    count, last, is_plain = 0, b"\n", True
    with path.open("rb", buffering=0) as opened:
        while chunk := opened.read(CHUNK_BYTES):
            count += chunk.count(b"\n")
            is_plain = is_plain and b"\r" not in chunk and b"\x01" not in chunk
            last = chunk
    return Survey(count + (not last.endswith(b"\n")), is_plain)


def as_csv(path: Path) -> str:
    """The lines of a plain file as a DuckDB table of one column, `line`."""
    return (
        f"read_csv({queries.files([str(path)])}, columns = {{'line': 'varchar'}}, "
        f"delim = '{DELIMITER}', quote = '', escape = '', header = false, "
        "auto_detect = false, new_line = '\\n', strict_mode = false, "
        f"max_line_size = {LONGEST_LINE_BYTES}, buffer_size = {BUFFER_BYTES}, "
        "compression = 'none')"
    )


def as_copy(path: Path, folder: Path) -> str:
    """The lines of any file likewise, copied to Parquet files in `folder` first.

    A line that is no UTF-8 is made one that everybody takes for malformed JSON.
    """
    folder.mkdir()
    rest = b""
    copies: list[Path] = []
    with path.open("rb") as opened:
        while chunk := opened.read(COPIED_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            copies.append(folder / f"{len(copies)}.parquet")
            pl.DataFrame({"line": map(_text, lines)}, SCHEMA).write_parquet(copies[-1])
    if rest:
        copies.append(folder / f"{len(copies)}.parquet")
        pl.DataFrame({"line": [_text(rest)]}, SCHEMA).write_parquet(copies[-1])
    return f"read_parquet({queries.files(str(copy) for copy in copies)})"


def read_lines(
    con: duckdb.DuckDBPyConnection, insert: str, path: Path, number: int, folder: Path
) -> int:
    """Runs the SQL file `insert` over the lines of a file and returns their number.

    The statement must add one row a line, in order. Raises: LogError when the file
    cannot be read.
    """
    try:
        seen = survey(path)
        if seen.line_count == 0:
            return 0
        if seen.is_plain and _inserted(con, insert, number, as_csv(path), seen):
            return seen.line_count
        _inserted(con, insert, number, as_copy(path, folder), seen)
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return seen.line_count


def _inserted(
    con: duckdb.DuckDBPyConnection, insert: str, number: int, source: str, seen: Survey
) -> bool:
    """Whether as many rows were added as the file has lines; else none stays."""
    con.execute("begin")
    try:
        ((count,),) = queries.run(con, insert, {"file": number}, source=source)
    except duckdb.InvalidInputException:
        count = -1
    is_complete = bool(count == seen.line_count)
    con.execute("commit" if is_complete else "rollback")
    return is_complete


def _text(line: bytes) -> str:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        return "{" + line.decode(errors="replace") + DELIMITER
