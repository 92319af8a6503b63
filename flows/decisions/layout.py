"""How a log is laid out, and one way to read it in each engine.

A `Layout` says which of the log's columns is ours and in which of the accepted forms
the probabilities stand (DESIGN section 4):

    lists     `actions` list of text, `logging_probabilities` list of double, parallel
    structs   `logging_probabilities` list of struct{action, probability}
    map       `logging_probabilities` map of text to double (also as a list of
              struct{key, value}), or a struct with one field an action (a null field:
              the action was not available)
    wide      one column an action, named by the pattern in
              `columns = { logging_probabilities = "p_*" }`

DuckDB reads every form; polars reads lists, so that the others are written as lists
once before they are scored. Fixed-size arrays, 32-bit floats, categorical and integer
names are read as they are and cast on the way. A naive timestamp is refused: nobody
can say which night it belongs to.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from flows import columns as c
from flows.decisions.pieces import Piece, pieces
from flows.queries import files as listed
from flows.queries import identifier, literal

Form = Literal["lists", "structs", "map", "wide"]
FORMS: tuple[Form, ...] = ("lists", "structs", "map", "wide")


@dataclass(frozen=True, slots=True)
class Layout:
    """What the log's columns mean.

    columns: ours to theirs, where they differ.
    context: columns that candidates see.
    beside: further columns that are read, such as those of a cut; no candidate sees
        them.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    probabilities: Form = "lists"
    context: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    sum_tolerance: float = c.SUM_TOLERANCE

    def theirs(self, ours: str) -> str:
        """The log's own name of our column."""
        return self.columns.get(ours, ours)

    @property
    def other_columns(self) -> tuple[str, ...]:
        """The columns that are read besides the canonical ones, each once."""
        return tuple(dict.fromkeys((*self.context, *self.beside)))


@dataclass(frozen=True, slots=True)
class Log:
    """Files of one log, with the types of the columns that are read.

    extra: further list columns that candidates stand in, by their own names.
    """

    files: tuple[str, ...]
    layout: Layout
    types: Mapping[str, pl.DataType]
    is_dated: bool
    has_ids: bool
    optional: tuple[str, ...]
    extra: tuple[str, ...]
    wide: tuple[str, ...] = ()

    def source(self) -> str:
        """The files as a DuckDB table with `untaken_file` and `file_row_number`."""
        return (
            f"read_parquet({listed(self.files)}, filename = 'untaken_file', "
            "file_row_number = true, "
            "union_by_name = true, hive_partitioning = false)"
        )

    def select_list(self) -> str:
        """The canonical columns as a DuckDB select list over `source()`."""
        theirs = {name: identifier(self.layout.theirs(name)) for name in c.CANONICAL}
        kept = [f"{theirs[c.ACTION]}::varchar as {c.ACTION}"]
        kept.append(f"{theirs[c.REWARD]}::double as {c.REWARD}")
        identity = f"{theirs[c.DECISION_ID]}::varchar" if self.has_ids else "null"
        kept.append(f"{identity} as {c.DECISION_ID}")
        decided = theirs[c.DECIDED_AT] if self.is_dated else "null::timestamptz"
        kept.append(f"{decided} as {c.DECIDED_AT}")
        kept += [f"{theirs[name]} as {name}" for name in self.optional]
        kept += self._distribution(theirs[c.LOGGING_PROBABILITIES])
        taken = {self.layout.theirs(name) for name in c.CANONICAL}
        kept += [
            f"{identifier(name)}"
            for name in self.layout.other_columns
            if name not in c.CANONICAL and name not in taken
        ]
        return ",\n    ".join(kept)

    def scans(self) -> Iterator[pl.LazyFrame]:
        """What `scan` reads, in pieces (`flows.decisions.pieces`)."""
        for piece in pieces(self.files):
            yield self.scan(piece)

    def scan(self, piece: Piece | None = None) -> pl.LazyFrame:
        """The canonical columns as a lazy polars frame; the log is in `lists` form."""
        layout = self.layout
        piece = piece or Piece(self.files)
        frame = pl.scan_parquet(
            list(piece.files),
            glob=False,
            hive_partitioning=False,
            schema=dict(self.types),
            extra_columns="ignore",
        ).slice(piece.offset, piece.rows)
        kept = [
            pl.col(layout.theirs(c.ACTION)).cast(pl.String).alias(c.ACTION),
            pl.col(layout.theirs(c.REWARD)).cast(pl.Float64).alias(c.REWARD),
            as_list(self, layout.theirs(c.ACTIONS), pl.String).alias(c.ACTIONS),
            as_list(self, layout.theirs(c.LOGGING_PROBABILITIES), pl.Float64).alias(
                c.LOGGING_PROBABILITIES
            ),
        ]
        if self.has_ids:
            name = layout.theirs(c.DECISION_ID)
            kept.append(pl.col(name).cast(pl.String).alias(c.DECISION_ID))
        if self.is_dated:
            kept.append(pl.col(layout.theirs(c.DECIDED_AT)).alias(c.DECIDED_AT))
        kept += [pl.col(layout.theirs(name)).alias(name) for name in self.optional]
        names = {expression.meta.output_name() for expression in kept}
        kept += [pl.col(n) for n in layout.other_columns if n not in names]
        kept += [as_list(self, n, pl.Float64).alias(n) for n in self.extra]
        return frame.select(kept)

    def _distribution(self, theirs: str) -> list[str]:
        form = self.layout.probabilities
        kept = []
        if form == "lists":
            actions = identifier(self.layout.theirs(c.ACTIONS))
            kept.append(f"{actions}::varchar[] as {c.ACTIONS}")
            kept.append(f"{theirs}::double[] as {c.LOGGING_PROBABILITIES}")
            kept += [
                f"{identifier(n)}::double[] as {identifier(n)}" for n in self.extra
            ]
        else:
            entries = self.entries(self.layout.theirs(c.LOGGING_PROBABILITIES))
            kept.append(f"list_transform({entries}, lambda e: e.key) as {c.ACTIONS}")
            kept.append(
                f"list_transform({entries}, lambda e: e.value) "
                f"as {c.LOGGING_PROBABILITIES}"
            )
            kept += [f"{self.entries(n)} as {identifier(n)}" for n in self.extra]
        return kept

    def entries(self, name: str) -> str:
        """A DuckDB list of struct(key, value) out of the column (or pattern) `name`."""
        column = identifier(name)
        if self.layout.probabilities == "structs":
            return _entries_of(column, "action", "probability")
        if self.layout.probabilities == "wide":
            head, tail = name.split("*")
            return _entries_from(
                (one[len(head) : len(one) - len(tail)], identifier(one))
                for one in fnmatch.filter(self.wide, name)
            )
        dtype = self.types[name]
        if isinstance(dtype, pl.Struct):
            return _entries_from(
                (member.name, f"{column}.{identifier(member.name)}")
                for member in dtype.fields
            )
        entries = f"map_entries({column})" if isinstance(dtype, pl.Map) else column
        return _entries_of(entries, "key", "value")


def as_list(log: Log, name: str, inner: type[pl.DataType]) -> pl.Expr:
    """The column as a list of `inner`, whether it is stored as list or as array."""
    column = pl.col(name)
    dtype = log.types[name]
    if isinstance(dtype, pl.Array):
        column = column.arr.to_list()
    if getattr(dtype, "inner", None) == inner:
        return column
    return column.cast(pl.List(inner))


def _entries_of(entries: str, key: str, value: str) -> str:
    """A list of structs with our names and types."""
    return (
        f"list_transform({entries}, lambda e: "
        f"{{'key': e.{key}::varchar, 'value': e.{value}::double}})"
    )


def _entries_from(expressions: Iterable[tuple[str, str]]) -> str:
    """A list of named expressions, without those that are null in a row."""
    listed = ", ".join(
        f"{{'key': {literal(name)}, 'value': {value}::double}}"
        for name, value in expressions
    )
    return f"list_filter([{listed}], lambda e: e.value is not null)"
