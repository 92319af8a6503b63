"""The results folder of a job: what stands where, and how it is written.

    files.json                  digest and days of every log file seen
    events.json                 digest and times of every file of rewards seen
    imported/                   the log of a decision service, as Parquet
    sources.json                digest of every file that holds a candidate
    candidates.json             candidates in the order in which they first appeared
    days/DAY.json               what a day held when it last passed the checks
    judged/DAY.json, DAY/       rewards that come apart, as each night knew them
    ids/DAY-KEY.parquet         sorted 64-bit hashes of a day's decision ids
    evidence/DAY/KEY.parquet    counts of one candidate on one day
    frequencies/DAY/KEY.parquet how often each action was logged on a day
    exact/DAY/KEY.parquet       the same for the method `compat`
    models/NIGHT-KEY.json       the reward model of a night, and in seen/ what it learnt
    doubly_robust/DAY/KEY.parquet   counted scores of one candidate on one day
    pairs.json                  compared pairs likewise
    looks.json                  which horizon was declared from which night on
    estimates/NIGHT.parquet     all estimates of a night, beside what they depend on
    revisions/NIGHT-RUN.parquet how much a night moved when it was made again
    runs/RUN.json               one record a finished run
    violations/DAY-*.parquet    every row that made a run stop, with its rule; below
                                repaired/ once the day passes or is gone
    tables/                     the small tables of the warehouse, as Parquet
    warehouse.duckdb            all of it as tables and views
    reports/NIGHT.html, .md, .json
    prefect/                    home of the local Prefect server

Every file is written beside its place and renamed onto it, so a run that is killed
leaves the last good state and can simply be started again. What a file depends on is a
digest inside it or in its name; a file whose digest still fits is not made again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from flows.errors import UsageError

# In a path DuckDB takes the one for a pattern and the other for a separator.
UNOPENABLE = "?\\"
VIOLATIONS = "violations"
REPAIRED = "violations/repaired"
# Folders of a run that was killed start with this, and are swept by the next.
WORK = ".work-"
# So do files that were not finished end.
BESIDE = ".new"
LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class Folder:
    """A job's results folder."""

    root: Path

    def __post_init__(self) -> None:
        marks = sorted(set(str(self.root.resolve())) & set(UNOPENABLE))
        if marks:
            raise UsageError(
                f"the path {self.root.resolve()} holds {' '.join(marks)}, which DuckDB "
                "cannot open; rename the folder"
            )
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot write to {self.root}: {error.strerror}. Results go beside the "
                "job file; copy it to a folder that can be written to"
            ) from None

    def path(self, *parts: str) -> Path:
        """The path below the folder; its parent folder exists."""
        path = self.root.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def glob(self, folder: str, pattern: str) -> list[Path]:
        """The files of a folder that match, sorted; none when it does not exist."""
        return sorted((self.root / folder).glob(pattern))

    def read_json(self, *parts: str) -> Any:  # noqa: ANN401 - a JSON value
        """The content of a JSON file, None when it is absent or was cut short."""
        try:
            return json.loads(self.root.joinpath(*parts).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None

    def write_json(self, value: Any, *parts: str) -> None:  # noqa: ANN401
        """Writes a JSON file in one step."""
        text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
        self.write_text(text + "\n", *parts)

    def write_text(self, text: str, *parts: str) -> Path:
        """Writes a text file in one step; leaves an equal one alone."""
        path = self.path(*parts)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            with replacing(path) as beside:
                beside.write_text(text, encoding="utf-8")
        return path

    def write_parquet(self, frame: pl.DataFrame, *parts: str) -> Path:
        """Writes a Parquet file in one step."""
        path = self.path(*parts)
        with replacing(path) as beside:
            frame.write_parquet(beside, compression="zstd", compression_level=1)
        return path

    @contextmanager
    def work(self) -> Iterator[Path]:
        """A folder for files written on the way, gone when the block ends."""
        with tempfile.TemporaryDirectory(prefix=WORK, dir=self.root) as folder:
            yield Path(folder)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Holds the folder for this run. Raises: UsageError when another run does."""
        with holding(self.root):
            for left in self.root.glob(f"{WORK}*"):
                shutil.rmtree(left, ignore_errors=True)
            for path, folders, files in os.walk(self.root):
                # A folder with a lock of its own is another run's to sweep.
                folders[:] = [n for n in folders if not Path(path, n, LOCK).exists()]
                for name in files:
                    if name.startswith(".") and name.endswith(BESIDE):
                        Path(path, name).unlink(missing_ok=True)
            yield


@contextmanager
def holding(root: Path, *, is_waiting: bool = False) -> Iterator[None]:
    """Holds a folder, by its lock, until the block ends.

    is_waiting: until another run has let it go. Raises: UsageError where it is not, and
    another run holds it.
    """
    with (root / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if is_waiting else fcntl.LOCK_NB))
        except BlockingIOError:
            raise UsageError(
                f"another run is writing to {root}; wait until it has ended"
            ) from None
        yield


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path`, renamed onto it when the block ends well."""
    beside = path.with_name(f".{path.name}{BESIDE}")
    beside.unlink(missing_ok=True)
    try:
        yield beside
        put(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def put(beside: Path, path: Path) -> None:
    """Renames a finished file onto its place once it is on the disk."""
    with beside.open("rb") as written:
        os.fsync(written.fileno())
    beside.replace(path)


def digest_of_file(path: Path | str) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    status = Path(path).stat()
    return _digest(str(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _digest(path: str, size: int, changed_ns: int) -> str:  # noqa: ARG001 - the key
    """The digest, kept while size and time of change stay what they were."""
    with Path(path).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def digest_of(*parts: object) -> str:
    """A short digest of values that have a stable text."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:20]
