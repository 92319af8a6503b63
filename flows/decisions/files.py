"""Finds the files of a log and what they hold, before a row is read.

Every footer is opened first: one unreadable file among good ones, files whose columns
differ in type, missing columns and naive timestamps are found here and told all at
once. Nothing is coerced: readers that take the types of the first file turn 1.5 into 2
without a word.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import duckdb
import polars as pl

from flows.errors import LogError

# How many file names a message shows before it says how many more there are.
SHOWN_FILES = 5


def find(patterns: Iterable[str], *, base: Path | None = None) -> tuple[str, ...]:
    """The files that `patterns` name, sorted, each once.

    A pattern is a file, a folder (all Parquet files below it) or a glob; relative ones
    start from `base`. Raises: LogError naming each pattern that matches nothing.
    """
    found: set[str] = set()
    empty = []
    for pattern in patterns:
        path = str(base / pattern) if base else pattern
        if Path(path).is_dir():
            matches = [str(file) for file in sorted(Path(path).rglob("*.parquet"))]
        elif Path(path).is_file():
            matches = [path]
        else:
            # The job's own folder may hold marks of a glob; it is meant as it is.
            wild = str(Path(glob.escape(str(base))) / pattern) if base else pattern
            named = glob.glob(wild, recursive=True)  # noqa: PTH207 - absolute ones too
            matches = [match for match in named if Path(match).is_file()]
        if not matches:
            empty.append(path)
        found.update(matches)
    if empty:
        raise LogError(
            "no Parquet file found for "
            + ", ".join(empty)
            + ". Name files, a folder or a quoted glob that matches some."
        )
    return tuple(sorted(found))


def schemas(files: Sequence[str]) -> dict[str, pl.Schema]:
    """The schema of every file. Raises: LogError listing all unreadable files."""
    read: dict[str, pl.Schema] = {}
    broken = []
    for file in files:
        try:
            scanned = pl.scan_parquet(file, glob=False, hive_partitioning=False)
            read[file] = scanned.collect_schema()
        except (pl.exceptions.PolarsError, OSError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else "unreadable"
            broken.append(f"{file}: {reason}")
    if broken:
        raise LogError(_unreadable(broken, len(files)))
    return read


def require_readable(
    files: Sequence[str], read: Callable[[tuple[str, ...]], None]
) -> None:
    """Finds the files on which `read` fails. Raises: LogError listing them."""
    broken = []
    for file in files:
        try:
            read((file,))
        except duckdb.Error as error:
            broken.append(f"{file}: {str(error).splitlines()[0]}")
    if broken:
        raise LogError(_unreadable(broken, len(files)))


def common_types(
    read: Mapping[str, pl.Schema], used: Sequence[str]
) -> dict[str, pl.DataType]:
    """The type of each used column, the same in every file.

    Raises: LogError listing the columns that no file has, and for each column whose
    type differs the files that differ from the first.
    """
    problems = []
    types: dict[str, pl.DataType] = {}
    first, reference = next(iter(read.items()))
    for column in used:
        without = [file for file, schema in read.items() if column not in schema]
        if without:
            problems.append(
                f"column {column!r} is missing in {len(without)} of {len(read)} "
                "files:\n"
                + _some(without)
                + f"\n  columns found there: {', '.join(read[without[0]].names())}"
            )
            continue
        types[column] = reference[column]
        other = [
            f"{file} has {schema[column]}"
            for file, schema in read.items()
            if schema[column] != types[column]
        ]
        if other:
            problems.append(
                f"column {column!r} is {types[column]} in {first}, but\n" + _some(other)
            )
    if problems:
        raise LogError(
            "the files do not fit together; nothing was scored.\n"
            + "\n".join(problems)
            + "\nMap other names by `columns` (ours = theirs), or write the files with "
            "one schema."
        )
    return types


def _unreadable(broken: Sequence[str], files: int) -> str:
    return (
        f"{len(broken)} of {files} files cannot be read as Parquet; nothing was "
        "scored:\n" + _some(broken) + "\nWrite them again or leave them out."
    )


def _some(lines: Sequence[str]) -> str:
    shown = "\n".join(f"  {line}" for line in lines[:SHOWN_FILES])
    more = len(lines) - SHOWN_FILES
    return shown + (f"\n  and {more} more" if more > 0 else "")
