"""`[outputs] export` of a job file: where the tables of the warehouse go too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from flows.exports import TABLES, USUAL
from flows.section import Section
from flows.warehouse.settings import Export

# Of each target the keys that it needs, and those that it may have.
KEYS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "duckdb": (frozenset({"path"}), frozenset({"namespace"})),
    "parquet": (frozenset({"path"}), frozenset()),
    "postgresql": (frozenset({"url_env"}), frozenset({"namespace"})),
    "delta": (frozenset({"path"}), frozenset()),
    "iceberg": (frozenset({"path"}), frozenset({"namespace", "url_env"})),
    "snowflake": (frozenset({"path"}), frozenset({"namespace"})),
    "bigquery": (frozenset({"path", "uri"}), frozenset({"namespace"})),
}
FOR_ALL = frozenset({"to", "name", "tables"})
NAMESPACE = "untaken"


def _local(path: str) -> str:
    if "://" in path:
        raise ValueError("a file or folder of this machine is needed, not a URL")
    return path


def _known(tables: list[str]) -> list[str]:
    if unknown := [table for table in tables if table not in TABLES]:
        raise ValueError(f"no table {', '.join(unknown)}; known: {', '.join(TABLES)}")
    return tables


class ExportSection(Section):
    """A target: what it is, where it is, and which tables go there."""

    to: Literal[
        "duckdb", "parquet", "postgresql", "delta", "iceberg", "snowflake", "bigquery"
    ]
    name: Annotated[str, Field(min_length=1)] | None = None
    path: Annotated[str, Field(min_length=1), AfterValidator(_local)] | None = None
    url_env: Annotated[str, Field(min_length=1)] | None = None
    namespace: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*$")] = NAMESPACE
    uri: Annotated[str, Field(pattern=r"^gs://[\w./-]+$")] | None = None
    tables: Annotated[list[str], Field(min_length=1), AfterValidator(_known)] = [*USUAL]

    @model_validator(mode="after")
    def _fits_target(self) -> ExportSection:
        needed, further = KEYS[self.to]
        if lacking := sorted(needed - self.model_fields_set):
            raise ValueError(f'to = "{self.to}" needs {" and ".join(lacking)}')
        known = FOR_ALL | needed | further
        if strange := sorted(self.model_fields_set - known):
            raise ValueError(f'{", ".join(strange)} is not for to = "{self.to}"')
        return self

    def settings(self) -> Export:
        """What is declared."""
        return Export(
            name=self.name or self.to,
            to=self.to,
            path=self.path,
            url_env=self.url_env,
            namespace=self.namespace,
            uri=self.uri,
            tables=tuple(dict.fromkeys(self.tables)),
        )


def exports(sections: Sequence[ExportSection]) -> tuple[Export, ...]:
    """All targets. Raises: ValueError where two cannot be told apart."""
    found = tuple(section.settings() for section in sections)
    for key in ("name", "path"):
        values = [getattr(one, key) for one in found if getattr(one, key) is not None]
        if twice := sorted({one for one in values if values.count(one) > 1}):
            raise ValueError(
                f"two exports have the {key} {twice[0]!r}; give each its own"
            )
    return found
