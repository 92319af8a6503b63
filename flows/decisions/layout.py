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
    propensity
              `propensity` double, the probability of the logged action alone

Of a log of propensities the other probabilities are unknown, and so is the mass that a
candidate has on actions the logging policy never took (validity.md 2). Two things that
lists say must be declared there: `actions`, the names of all actions that could be
taken, and `full_support`, that each action a candidate may take had at least the floor.

DuckDB reads every form; polars reads lists and propensities, so that the others are
written as lists once before they are scored. Fixed-size arrays, 32-bit floats,
categorical and integer names are read as they are and cast on the way. A naive
timestamp is refused: nobody can say which night it belongs to.
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

Form = Literal["lists", "structs", "map", "wide", "propensity"]
FORMS: tuple[Form, ...] = ("lists", "structs", "map", "wide", "propensity")
# What a column holds that a candidate stands in: a list parallel to the actions,
# actions with their probabilities, or of one action its probability or its name.
Standing = Literal["list", "entries", "probability", "name"]


@dataclass(frozen=True, slots=True)
class Layout:
    """What the log's columns mean.

    columns: ours to theirs, where they differ.
    context: columns that candidates see.
    beside: further columns that are read, such as those of a cut; no candidate sees
        them.
    full_support, actions: declared of a log of propensities (see above).
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    probabilities: Form = "lists"
    context: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    sum_tolerance: float = c.SUM_TOLERANCE
    full_support: bool = False
    actions: tuple[str, ...] = ()

    @property
    def knows_support(self) -> bool:
        """Whether a candidate's mass without support is logged, or declared not to be.

        Source: validity.md 2.
        """
        return not self.has_propensities or self.full_support

    @property
    def has_propensities(self) -> bool:
        """Whether the log holds the probability of the logged action alone."""
        return self.probabilities == "propensity"

    @property
    def distribution(self) -> str:
        """Our column (or columns, in the wide form) of the logging probabilities."""
        return c.PROPENSITY if self.has_propensities else c.LOGGING_PROBABILITIES

    @property
    def canonical(self) -> tuple[str, ...]:
        """Our columns that a log of this form can have."""
        other = c.DISTRIBUTION if self.has_propensities else (c.PROPENSITY,)
        return tuple(name for name in c.CANONICAL if name not in other)

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

    extra: further columns that candidates stand in, by their own names.
    has_model_ids: some file names the model that made each decision.
    """

    files: tuple[str, ...]
    layout: Layout
    types: Mapping[str, pl.DataType]
    is_dated: bool
    has_ids: bool
    optional: tuple[str, ...]
    extra: tuple[str, ...]
    wide: tuple[str, ...] = ()
    has_model_ids: bool = False

    @property
    def is_sampled(self) -> bool:
        """Whether the log says with which probability each decision was kept in it."""
        return c.SAMPLE_PROBABILITY in self.optional

    def stands(self, name: str) -> Standing:
        """What the column `name` holds, in which a candidate stands."""
        if name == c.LOGGING_PROBABILITIES or self.layout.probabilities == "lists":
            return "list"
        if not self.layout.has_propensities:
            return "entries"
        dtype = self.types[self.layout.theirs(name) if name == c.PROPENSITY else name]
        if dtype.is_nested():
            return "list"
        return "probability" if dtype.is_numeric() else "name"

    def source(self) -> str:
        """The files as a DuckDB table with `untaken_file` and `file_row_number`."""
        return (
            f"read_parquet({listed(self.files)}, filename = 'untaken_file', "
            "file_row_number = true, "
            "union_by_name = true, hive_partitioning = false)"
        )

    def select_list(self) -> str:
        """The canonical columns as a DuckDB select list over `source()`."""
        layout = self.layout
        theirs = {name: identifier(layout.theirs(name)) for name in c.CANONICAL}
        kept = [f"{theirs[c.ACTION]}::varchar as {c.ACTION}"]
        # A reward of -0.0 is one of 0.0, and is printed so.
        kept.append(f"{theirs[c.REWARD]}::double + 0.0 as {c.REWARD}")
        identity = f"{theirs[c.DECISION_ID]}::varchar" if self.has_ids else "null"
        kept.append(f"{identity} as {c.DECISION_ID}")
        decided = theirs[c.DECIDED_AT] if self.is_dated else "null::timestamptz"
        kept.append(f"{decided} as {c.DECIDED_AT}")
        optional = [*self.optional, *[c.MODEL_ID] * self.has_model_ids]
        kept += [f"{theirs[name]} as {name}" for name in optional]
        kept += self._distribution()
        others = dict.fromkeys((*layout.other_columns, *self._plain_extra))
        kept += [identifier(name) for name in others if name not in layout.canonical]
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
            (pl.col(layout.theirs(c.REWARD)).cast(pl.Float64) + 0.0).alias(c.REWARD),
        ]
        if layout.has_propensities:
            propensity = pl.col(layout.theirs(c.PROPENSITY)).cast(pl.Float64)
            kept.append(propensity.alias(c.PROPENSITY))
        else:
            for name, inner in zip(
                c.DISTRIBUTION, (pl.String, pl.Float64), strict=True
            ):
                kept.append(as_list(self, layout.theirs(name), inner).alias(name))
        if self.has_ids:
            name = layout.theirs(c.DECISION_ID)
            kept.append(pl.col(name).cast(pl.String).alias(c.DECISION_ID))
        if self.is_dated:
            kept.append(pl.col(layout.theirs(c.DECIDED_AT)).alias(c.DECIDED_AT))
        kept += [pl.col(layout.theirs(name)).alias(name) for name in self.optional]
        names = {expression.meta.output_name() for expression in kept}
        others = dict.fromkeys((*layout.other_columns, *self._plain_extra))
        kept += [pl.col(n) for n in others if n not in names]
        if not layout.has_propensities:
            kept += [as_list(self, n, pl.Float64).alias(n) for n in self.extra]
        return frame.select(kept)

    @property
    def _plain_extra(self) -> tuple[str, ...]:
        """Columns of candidates that may be context too, and are read as they are."""
        return self.extra if self.layout.has_propensities else ()

    def _distribution(self) -> list[str]:
        layout = self.layout
        theirs = layout.theirs(c.LOGGING_PROBABILITIES)
        if layout.has_propensities:
            named = ", ".join(map(literal, layout.actions))
            actions = f"[{named}]" if named else "null"
            propensity = identifier(layout.theirs(c.PROPENSITY))
            return [
                f"{actions}::varchar[] as {c.ACTIONS}",
                f"{propensity}::double as {c.PROPENSITY}",
            ]
        if layout.probabilities == "lists":
            actions = identifier(layout.theirs(c.ACTIONS))
            return [
                f"{actions}::varchar[] as {c.ACTIONS}",
                f"{identifier(theirs)}::double[] as {c.LOGGING_PROBABILITIES}",
                *(f"{identifier(n)}::double[] as {identifier(n)}" for n in self.extra),
            ]
        entries = self.entries(theirs)
        values = f"list_transform({entries}, lambda e: e.value)"
        return [
            f"list_transform({entries}, lambda e: e.key) as {c.ACTIONS}",
            f"{values} as {c.LOGGING_PROBABILITIES}",
            *(f"{self.entries(n)} as {identifier(n)}" for n in self.extra),
        ]

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
