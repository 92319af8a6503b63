"""Iceberg with an SQL catalog: a table a folder, partitioned by job and night.

The catalog is a SQLite file in the folder, or the database whose URL (as SQLAlchemy
reads it) stands in a variable of the environment. Each replacement is one transaction
of its table; tables are committed one after the other, `exported` last. What columns
mean stands in the schema. Older snapshots stay until whoever keeps the lake expires
them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from flows.exports.targets import ExportError, install
from flows.warehouse.settings import Export

if TYPE_CHECKING:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.table import Table as Opened

CATALOG = "catalog.db"
TYPES: Mapping[Kind, str] = {
    "text": "string",
    "double": "double",
    "integer": "long",
    "boolean": "boolean",
    "date": "date",
    "instant": "timestamptz",
}
KINDS = {name: kind for kind, name in TYPES.items()}


class Iceberg:
    """The tables of one namespace of a catalog."""

    def __init__(self, source: Source, catalog: SqlCatalog, namespace: str) -> None:
        self.source, self.catalog, self.namespace = source, catalog, namespace
        catalog.create_namespace_if_not_exists(namespace)

    def columns(self, table: Table) -> Mapping[str, str] | None:
        """The kinds of the table's columns by name."""
        if not self.catalog.table_exists(self._name(table)):
            return None
        fields = self._open(table).schema().fields
        types = {one.name: str(one.field_type) for one in fields}
        return {name: KINDS.get(of, of) for name, of in types.items()}

    def create(self, table: Table) -> None:
        """Makes the table, empty."""
        from pyiceberg.partitioning import PartitionField, PartitionSpec
        from pyiceberg.schema import Schema
        from pyiceberg.transforms import IdentityTransform
        from pyiceberg.types import NestedField

        schema = Schema(
            *(
                NestedField(
                    number, one.name, _type(one), required=False, doc=one.meaning
                )
                for number, one in enumerate(table.columns, start=1)
            )
        )
        parts = [
            PartitionField(
                source_id=schema.find_field(key).field_id,
                field_id=1000 + number,
                transform=IdentityTransform(),
                name=key,
            )
            for number, key in enumerate(table.keys)
        ]
        self.catalog.create_table(
            self._name(table),
            schema,
            partition_spec=PartitionSpec(*parts),
            properties={"comment": table.meaning},
        )

    def add(self, table: Table, columns: Sequence[Column]) -> None:
        """Adds columns."""
        with self._open(table).update_schema() as update:
            for one in columns:
                update.add_column(one.name, _type(one), doc=one.meaning)

    def describe(self, table: Table) -> None:
        """Says anew what columns mean whose words changed."""
        opened = self._open(table)
        docs = {one.name: one.doc for one in opened.schema().fields}
        changed = [one for one in table.columns if docs[one.name] != one.meaning]
        if not changed:
            return
        with opened.update_schema() as update:
            for one in changed:
                update.update_column(one.name, doc=one.meaning)

    def counts(self, table: Table) -> Mapping[Night, int]:
        """How many rows of the job it has, by night."""
        rows = self._rows(table, table.keys)
        night = pl.lit(None, pl.Date) if table.night is None else pl.col(table.night)
        return dict(rows.group_by(night.alias("night")).len().rows())

    def replace(self, table: Table, nights: Sequence[Night]) -> None:
        """Overwrites the rows of the job and nights."""
        from pyiceberg.io.pyarrow import schema_to_pyarrow

        opened, condition = self._open(table), self._of_job()
        if table.night is not None:
            listed = ", ".join(f"'{night}'" for night in nights)
            condition = f"{condition} and {table.night} in ({listed})"
        frame = self.source.frame(table, nights)
        shape = schema_to_pyarrow(opened.schema(), include_field_ids=False)
        rows = frame.select(shape.names).to_arrow().cast(shape)
        with warnings.catch_warnings():
            # That there was nothing to delete is no news.
            warnings.simplefilter("ignore")
            opened.overwrite(rows, overwrite_filter=condition)

    def exported(self) -> Entries:
        """What it was told it holds of the job."""
        names = [column.name for column in EXPORTED.columns[1:]]
        rows = self._rows(EXPORTED, names).select(names).rows()
        return {(table, night): Entry(*row) for table, night, *row in rows}

    def _rows(self, table: Table, names: Sequence[str]) -> pl.DataFrame:
        scan = self._open(table).scan(self._of_job(), selected_fields=tuple(names))
        found: Any = pl.from_arrow(scan.to_arrow())
        return found  # type: ignore[no-any-return]

    def _of_job(self) -> str:
        return f"{JOB.name} = {queries.literal(self.source.job)}"

    def _open(self, table: Table) -> Opened:
        return self.catalog.load_table(self._name(table))

    def _name(self, table: Table) -> str:
        return f"{self.namespace}.{table.name}"


@contextmanager
def opened(
    source: Source, export: Export, root: Path, url: str | None
) -> Iterator[Iceberg]:
    """The catalog. Raises: ExportError."""
    try:
        import pyarrow as pa
        from pyiceberg.catalog.sql import SqlCatalog
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise install("iceberg", export.to) from None
    expected = (SQLAlchemyError, OSError, pa.ArrowException)
    try:
        root.mkdir(parents=True, exist_ok=True)
        catalog = SqlCatalog(
            "untaken",
            uri=url or f"sqlite:///{(root / CATALOG).resolve()}",
            warehouse=root.resolve().as_uri(),
        )
        try:
            yield Iceberg(source, catalog, export.namespace)
        finally:
            catalog.close()
    except Exception as error:
        is_theirs = type(error).__module__.startswith("pyiceberg.")
        if not (is_theirs or isinstance(error, expected)):
            raise
        raise ExportError(
            f"{root}: {_said(error, url)}. Tables written before stay as they are now"
        ) from None


def _said(error: Exception, url: str | None) -> str:
    told = str(error).partition("\n")[0]
    return told.replace(url, "the URL") if url else told


def _type(column: Column) -> Any:  # noqa: ANN401 - one of pyiceberg's classes
    from pyiceberg import types

    classes = {
        "string": types.StringType,
        "double": types.DoubleType,
        "long": types.LongType,
        "boolean": types.BooleanType,
        "date": types.DateType,
        "timestamptz": types.TimestamptzType,
    }
    return classes[TYPES[column.kind]]()
