"""How a log is laid out, and one way to read it in each engine.

A `Layout` says which of the log's columns is ours and in which of the accepted forms
the probabilities stand (DESIGN section 4):

    lists     `actions` list of text, `logging_probabilities` list of double, parallel
    structs   `logging_probabilities` list of struct{action, probability}
    map       `logging_probabilities` map of text to double, or a struct with one field
              an action (a null field: the action was not available)
    wide      one column an action, named by the pattern in
              `columns = { logging_probabilities = "p_*" }`

Everything but `lists` is written once in canonical form by DuckDB (stage.py); after
that all readers see lists. Fixed-size arrays, 32-bit floats, categorical and integer
names are read as they are and cast on the way. A naive timestamp is refused: nobody
can say which night it belongs to.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from flows import columns as c
from flows.decisions import files as f
from flows.errors import LogError
from flows.queries import identifier, literal

Form = Literal["lists", "structs", "map", "wide"]
FORMS: tuple[Form, ...] = ("lists", "structs", "map", "wide")

TEXT_LIKE = (pl.String, pl.Categorical, pl.Enum)


@dataclass(frozen=True, slots=True)
class Layout:
    """What the log's columns mean. `columns` maps ours to theirs where they differ."""

    columns: Mapping[str, str] = field(default_factory=dict)
    probabilities: Form = "lists"
    context: tuple[str, ...] = ()
    sum_tolerance: float = c.SUM_TOLERANCE

    def theirs(self, ours: str) -> str:
        """The log's own name of our column."""
        return self.columns.get(ours, ours)


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
        """The files as a DuckDB table with `filename` and `file_row_number`."""
        listed = ", ".join(literal(file) for file in self.files)
        return (
            f"read_parquet([{listed}], filename = true, file_row_number = true, "
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
            for name in dict.fromkeys(self.layout.context)
            if name not in c.CANONICAL and name not in taken
        ]
        return ",\n    ".join(kept)

    def scan(self) -> pl.LazyFrame:
        """The canonical columns as a lazy polars frame; the log is in `lists` form."""
        layout = self.layout
        schema = {name: dtype for name, dtype in self.types.items()}
        frame = pl.scan_parquet(
            list(self.files),
            glob=False,
            hive_partitioning=False,
            schema=schema,
            extra_columns="ignore",
        )
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
        kept += [pl.col(n) for n in dict.fromkeys(layout.context) if n not in names]
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
            pairs = self._pairs(self.layout.theirs(c.LOGGING_PROBABILITIES))
            kept.append(f"map_keys({pairs}) as {c.ACTIONS}")
            kept.append(f"map_values({pairs})::double[] as {c.LOGGING_PROBABILITIES}")
            kept += [f"{self._pairs(n)} as {identifier(n)}" for n in self.extra]
        return kept

    def _pairs(self, name: str) -> str:
        """A DuckDB map of text to double out of the column (or pattern) `name`."""
        column = identifier(name)
        if self.layout.probabilities == "structs":
            return (
                f"map_from_entries(list_transform({column}, lambda entry: "
                "{'k': entry.action::varchar, 'v': entry.probability::double}))"
            )
        if self.layout.probabilities == "wide":
            head, tail = name.split("*")
            matching = fnmatch.filter(self.wide, name)
            entries = [
                (m[len(head) : len(m) - len(tail)], identifier(m)) for m in matching
            ]
            return _map_of(entries)
        dtype = self.types[name]
        if isinstance(dtype, pl.Struct):
            return _map_of(
                [
                    (member.name, f"{column}.{identifier(member.name)}")
                    for member in dtype.fields
                ]
            )
        return f"{column}::map(varchar, double)"


def open_log(
    files: Sequence[str],
    layout: Layout,
    *,
    dated: bool | None,
    with_ids: bool | None,
    extra: Sequence[str] = (),
) -> Log:
    """Reads every footer and decides how the log is read.

    dated, with_ids: True when the column is required, None when it is used if present.
    extra: names of list columns that candidates stand in.
    Raises: LogError with everything that does not fit, before a row is read.
    """
    read = f.schemas(files)
    found = next(iter(read.values())).names()

    def present(name: str, wanted: bool | None) -> bool:
        return bool(wanted) or (wanted is None and layout.theirs(name) in found)

    is_dated = present(c.DECIDED_AT, dated)
    has_ids = present(c.DECISION_ID, with_ids)
    optional = tuple(n for n in c.OPTIONAL if layout.theirs(n) in found)
    ours = [
        n
        for n in c.REQUIRED
        if not (n == c.ACTIONS and layout.probabilities != "lists")
    ]
    ours += [c.DECISION_ID] * has_ids + [c.DECIDED_AT] * is_dated + list(optional)
    wide: tuple[str, ...] = ()
    used = [layout.theirs(name) for name in ours]
    if layout.probabilities == "wide":
        used, wide = _expand(used, found)
    used += [name for name in (*layout.context, *extra) if name not in used]
    if layout.probabilities == "wide":
        used = [n for n in used if "*" not in n]
        for pattern in extra:
            wide += tuple(fnmatch.filter(found, pattern))
    types = f.common_types(read, list(dict.fromkeys((*used, *wide))))
    log = Log(
        files=tuple(files),
        layout=layout,
        types=types,
        is_dated=is_dated,
        has_ids=has_ids,
        optional=optional,
        extra=tuple(extra),
        wide=wide,
    )
    _check_types(log)
    return log


def as_list(log: Log, name: str, inner: type[pl.DataType]) -> pl.Expr:
    """The column as a list of `inner`, whether it is stored as list or as array."""
    column = pl.col(name)
    dtype = log.types[name]
    if isinstance(dtype, pl.Array):
        column = column.arr.to_list()
    if getattr(dtype, "inner", None) == inner:
        return column
    return column.cast(pl.List(inner))


def _map_of(entries: Sequence[tuple[str, str]]) -> str:
    """A DuckDB map of named expressions, without those that are null in a row."""
    pairs = ", ".join(f"{{'k': {literal(k)}, 'v': {v}::double}}" for k, v in entries)
    return (
        f"map_from_entries(list_filter([{pairs}], lambda entry: entry.v is not null))"
    )


def _expand(used: list[str], found: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    patterns = [name for name in used if name.count("*") == 1]
    if not patterns:
        raise LogError(
            "probabilities = 'wide' needs one `*` in the name of "
            "logging_probabilities, such as columns = "
            '{ logging_probabilities = "p_*" }'
        )
    matching = tuple(fnmatch.filter(found, patterns[0]))
    if not matching:
        raise LogError(
            f"no column matches {patterns[0]!r}; columns found: {', '.join(found)}"
        )
    return [name for name in used if name not in patterns], matching


def _check_types(log: Log) -> None:
    """Refuses columns whose type cannot be what they are declared to be."""
    layout, problems = log.layout, []

    def expect(ours: str, fits: bool, wanted: str) -> None:
        if not fits:
            name = layout.theirs(ours)
            problems.append(f"  {name!r} is {log.types[name]}; {ours} must be {wanted}")

    def of(ours: str) -> pl.DataType:
        return log.types[layout.theirs(ours)]

    if log.is_dated:
        decided = of(c.DECIDED_AT)
        zoned = isinstance(decided, pl.Datetime) and decided.time_zone is not None
        expect(
            c.DECIDED_AT,
            zoned,
            "a timestamp with a time zone (UTC). A naive one does not say which "
            "night it belongs to: write it with its zone",
        )
    if log.has_ids:
        expect(c.DECISION_ID, _is_name(of(c.DECISION_ID)), "text")
    expect(c.ACTION, _is_name(of(c.ACTION)), "text")
    reward = of(c.REWARD)
    expect(
        c.REWARD,
        reward.is_numeric() or reward in (pl.Boolean, pl.Null),
        "a number, null where none arrived",
    )
    if layout.probabilities == "lists":
        expect(c.ACTIONS, _is_list(of(c.ACTIONS), _is_name), "a list of text")
        lists = [c.LOGGING_PROBABILITIES, *log.extra]
        for name in lists:
            expect(
                name,
                _is_list(of(name), lambda inner: inner.is_numeric()),
                "a list of double",
            )
    if problems:
        raise LogError("the log has columns of the wrong type:\n" + "\n".join(problems))


def _is_name(dtype: pl.DataType) -> bool:
    return isinstance(dtype, TEXT_LIKE) or dtype.is_integer()


def _is_list(dtype: pl.DataType, fits: Callable[[pl.DataType], bool]) -> bool:
    inner = getattr(dtype, "inner", None)
    return (
        isinstance(dtype, pl.List | pl.Array)
        and isinstance(inner, pl.DataType)
        and fits(inner)
    )
