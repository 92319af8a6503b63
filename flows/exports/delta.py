"""Delta Lake: a table a folder, partitioned by job and night.

Each replacement is one commit of its table; tables are committed one after the other,
`exported` last. What columns mean stands in the schema. Older versions of a table stay
in its folder until they are vacuumed, which is left to whoever keeps the lake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

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
    within,
)
from flows.exports.targets import ExportError, install
from flows.warehouse.settings import Export

if TYPE_CHECKING:
    from deltalake import DeltaTable, Field

TYPES: Mapping[Kind, str] = {
    "text": "string",
    "double": "double",
    "integer": "long",
    "boolean": "boolean",
    "date": "date",
    "instant": "timestamp",
}
KINDS = {name: kind for kind, name in TYPES.items()}
LOG = "_delta_log"


class Delta:
    """A folder of Delta tables."""

    def __init__(self, source: Source, root: Path) -> None:
        self.source, self.root = source, root

    def columns(self, table: Table) -> Mapping[str, str] | None:
        """The kinds of the table's columns by name."""
        from deltalake import DeltaTable

        folder = self.root / table.name
        files = [one for one in folder.rglob("*") if one.is_file()]
        # A log without a version is what a table leaves whose making failed.
        if all(one.parent.name == LOG and one.suffix != ".json" for one in files):
            return None
        if not DeltaTable.is_deltatable(str(folder)):
            raise ExportError(
                f"{folder} holds something else than a Delta table; name another "
                "folder. Nothing was written"
            )
        types = {one.name: one.type for one in self._open(table).schema().fields}
        named = {name: getattr(of, "type", str(of)) for name, of in types.items()}
        return {name: KINDS.get(of, of) for name, of in named.items()}

    def create(self, table: Table) -> None:
        """Makes the table, empty."""
        from deltalake import DeltaTable, Schema

        DeltaTable.create(
            str(self.root / table.name),
            schema=Schema(_fields(table.columns)),
            partition_by=list(table.keys),
            name=table.name,
            description=table.meaning,
        )

    def add(self, table: Table, columns: Sequence[Column]) -> None:
        """Adds columns."""
        self._open(table).alter.add_columns(_fields(columns))

    def describe(self, table: Table) -> None:
        """Says anew what columns mean whose words changed: each is a commit."""
        fields = {one.name: one for one in self._open(table).schema().fields}
        for one in table.columns:
            if fields[one.name].metadata.get("comment") != one.meaning:
                self._open(table).alter.set_column_metadata(
                    one.name, {"comment": one.meaning}
                )

    def counts(self, table: Table) -> Mapping[Night, int]:
        """How many rows of the job it has, by night."""
        files = pl.DataFrame(self._open(table).get_add_actions(flatten=True))
        night = pl.lit(None, pl.Date)
        if table.night is not None:
            night = pl.col(f"partition.{table.night}")
        found = files.filter(pl.col(f"partition.{JOB.name}") == self.source.job)
        summed = found.group_by(night.alias("night")).agg(pl.col("num_records").sum())
        return dict(summed.rows())

    def replace(self, table: Table, nights: Sequence[Night]) -> None:
        """Overwrites the partitions of the job and nights."""
        from deltalake import write_deltalake

        job = queries.literal(self.source.job)
        write_deltalake(
            self._open(table),
            self.source.frame(table, nights),
            mode="overwrite",
            predicate=f"job = {job} and {within(table, nights)}",
        )

    def exported(self) -> Entries:
        """What it was told it holds of the job."""
        found = pl.read_delta(self._open(EXPORTED))
        found = found.filter(pl.col(JOB.name) == self.source.job).drop(JOB.name)
        return {(table, night): Entry(*row) for table, night, *row in found.rows()}

    def _open(self, table: Table) -> DeltaTable:
        from deltalake import DeltaTable

        return DeltaTable(str(self.root / table.name))


@contextmanager
def opened(source: Source, export: Export, root: Path) -> Iterator[Delta]:
    """The folder. Raises: ExportError."""
    try:
        from deltalake.exceptions import DeltaError
    except ImportError:
        raise install("delta", export.to) from None
    try:
        root.mkdir(parents=True, exist_ok=True)
        yield Delta(source, root)
    except (DeltaError, OSError) as error:
        raise ExportError(
            f"{root}: {error}. Tables written before stay as they are now"
        ) from None


def _fields(columns: Sequence[Column]) -> list[Field]:
    from deltalake import Field
    from deltalake.schema import PrimitiveType

    return [
        Field(
            one.name,
            PrimitiveType(TYPES[one.kind]),
            nullable=True,
            metadata={"comment": one.meaning},
        )
        for one in columns
    ]
