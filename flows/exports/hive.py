"""Parquet in hive partitions, one file a night.

    PATH/estimates/job=shop/night=2024-05-01/part-0.parquet
    PATH/runs/job=shop/part-0.parquet

The keys stand in the path alone, as readers of such folders expect. All files are
written to a folder beside first; only when every one of them is on the disk are they
renamed onto their places, one by one, the table `exported` last. What the columns mean
stands in each file's metadata. Files written by an older version lack newer columns:
read them by name (`union_by_name`).
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl

from flows import queries
from flows.exports.source import (
    EXPORTED,
    JOB,
    Column,
    Entries,
    Entry,
    Kind,
    Night,
    Source,
    Table,
)
from flows.exports.targets import ExportError
from flows.folder import put

FILE = "part-0.parquet"
KINDS: Mapping[pl.DataType, Kind] = {
    pl.String(): "text",
    pl.Float64(): "double",
    pl.Int64(): "integer",
    pl.Boolean(): "boolean",
    pl.Date(): "date",
    pl.Datetime("us", "UTC"): "instant",
}


class Hive:
    """A folder of tables, each a folder of partitions.

    stage: where files stand until they are renamed.
    """

    def __init__(self, source: Source, root: Path, stage: Path) -> None:
        self.source, self.root, self.stage = source, root, stage
        self.emptied: list[Path] = []

    def columns(self, table: Table) -> Mapping[str, str] | None:
        """The kinds of the columns of its newest file, any job's, and of the path.

        Before there is one, those of ours: a table is its files.
        """
        ours = {column.name: column.kind for column in table.columns}
        folder = self.root / table.name
        entries = list(folder.iterdir()) if folder.exists() else []
        strange = [one for one in entries if not one.name.startswith(f"{JOB.name}=")]
        if strange:
            raise ExportError(
                f"{folder} holds {strange[0].name}, which no export has written; name "
                "another folder. Nothing was written"
            )
        files = sorted(folder.rglob(FILE), key=lambda file: file.parts[::-1])
        if not files:
            return ours
        schema = pl.read_parquet_schema(files[-1])
        found = {name: KINDS.get(of, str(of)) for name, of in schema.items()}
        return {key: ours[key] for key in table.keys} | found

    def create(self, table: Table) -> None:
        """Nothing, and never called: a table is its files."""

    def add(self, table: Table, columns: Sequence[Column]) -> None:
        """Nothing: files written from now on have them."""

    def describe(self, table: Table) -> None:
        """Nothing: each file says it."""

    def counts(self, table: Table) -> Mapping[Night, int]:
        """How many rows each file of the job has."""
        files = {
            str(file): _night(file, table)
            for file in sorted(self._folder(self.root, table).rglob(FILE))
        }
        if not files:
            return {}
        listed = queries.files(files)
        query = f"select file_name, num_rows from parquet_file_metadata({listed})"  # noqa: S608 - ours
        found = queries.execute(self.source.con, query)
        return {files[name]: count for name, count in found}

    def replace(self, table: Table, nights: Sequence[Night]) -> None:
        """Stages a file a night; those of nights without rows are to go."""
        meanings = {one.name: one.meaning for one in table.columns}
        told = ", ".join(
            f"{queries.identifier(name)}: {queries.literal(meaning)}"
            for name, meaning in meanings.items()
        )
        for night in nights:
            place = self._folder(self.stage, table)
            if table.night is not None:
                place /= f"{table.night}={night}"
            place.mkdir(parents=True)
            file = place / FILE
            rows = self.source.query(table, [night], *table.keys)
            target = queries.literal(str(file))
            ((count,),) = queries.execute(
                self.source.con,
                f"copy ({rows}) to {target} "
                f"(format parquet, compression zstd, kv_metadata {{{told}}})",
            )
            if not count and table.night is not None:
                file.unlink()
                self.emptied.append(self.root / file.relative_to(self.stage))

    def exported(self) -> Entries:
        """What it was told it holds of the job."""
        file = self._folder(self.root, EXPORTED) / FILE
        if not file.exists():
            return {}
        rows = pl.read_parquet(file, glob=False, hive_partitioning=False).rows()
        return {(table, night): Entry(*row) for table, night, *row in rows}

    def swap(self) -> None:
        """Renames all files onto their places, those of `EXPORTED` last."""
        files = sorted(
            self.stage.rglob(FILE),
            key=lambda file: (file.is_relative_to(self.stage / EXPORTED.name), file),
        )
        for file in self.emptied:
            file.unlink(missing_ok=True)
            if file.parent.exists():
                file.parent.rmdir()
        for file in files:
            place = self.root / file.relative_to(self.stage)
            place.parent.mkdir(parents=True, exist_ok=True)
            put(file, place)

    def _folder(self, root: Path, table: Table) -> Path:
        return root / table.name / f"{JOB.name}={self.source.job}"


@contextmanager
def opened(source: Source, root: Path) -> Iterator[Hive]:
    """The folder; files come to their places when the block ends well.

    Raises: ExportError.
    """
    stage = root / f".{source.job}.new"
    try:
        root.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(stage, ignore_errors=True)
        target = Hive(source, root, stage)
        yield target
        target.swap()
    except (duckdb.Error, OSError, pl.exceptions.PolarsError) as error:
        raise ExportError(f"{root}: {error}. Nothing was written") from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _night(file: Path, table: Table) -> Night:
    if table.night is None:
        return None
    return dt.date.fromisoformat(file.parent.name.partition("=")[2])
