"""Context columns: declared fields of what a decision was made on.

A name joins nested names by dots, and the column has the whole name. It is whole
numbers, numbers, booleans or text where all its values are that; else the JSON text of
each value, so that 1 and "1" stay apart. What is absent is null.
"""

from __future__ import annotations

from collections.abc import Collection

import duckdb

from flows import columns as c
from flows import queries
from flows.errors import UsageError

WHOLE = {"BIGINT", "UBIGINT"}
TYPES = (
    (WHOLE, "bigint"),
    (WHOLE | {"DOUBLE", "HUGEINT"}, "double"),
    ({"BOOLEAN"}, "boolean"),
    ({"VARCHAR"}, "varchar"),
)


def require(names: Collection[str], *, taken: Collection[str] = ()) -> None:
    """Raises: UsageError for a name that cannot be a column of its own."""
    for name in names:
        if name in {*c.CANONICAL, *taken}:
            raise UsageError(
                f"{name!r} is a column of every log; context holds what a candidate "
                "may see"
            )
        if not all(name.split(".")) or '"' in name:
            raise UsageError(f"--context {name!r} is not names joined by dots")


def path(names: str) -> str:
    """Names joined by dots as a JSON path."""
    return "$" + "".join(f'."{name}"' for name in names.split("."))


def column(con: duckdb.DuckDBPyConnection, name: str, value: str) -> str | None:
    """A column as a DuckDB expression over the view `kept`, by the types of its values.

    value: the JSON of the field, as an expression. None when no decision has the field.
    """
    rows = queries.run(con, "importers/kinds", value=value)
    if not rows:
        return None
    kinds = {kind for (kind,) in rows} - {"NULL"}
    for allowed, type_ in TYPES:
        if kinds <= allowed:
            return f"({value} ->> '$')::{type_} as {queries.identifier(name)}"
    return f"({value})::varchar as {queries.identifier(name)}"
