"""Files of a log, and one way to read them in each engine.

DuckDB reads every form; polars reads lists and propensities, so that the others are
written as lists once before they are scored. Fixed-size arrays, 32-bit floats,
categorical and integer names are read as they are and cast on the way. A naive
timestamp is refused: nobody can say which night it belongs to.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from flows import columns as c
from flows.decisions import judged
from flows.decisions.layout import Layout
from flows.decisions.pieces import Piece, pieces
from flows.queries import files as listed
from flows.queries import identifier, literal

# What a column holds that a candidate stands in: a list parallel to the actions,
# actions with their probabilities, or of one action its probability or its name.
Standing = Literal["list", "entries", "probability", "name"]


@dataclass(frozen=True, slots=True)
class Log:
    """Files of one log, with the types of the columns that are read.

    extra: further columns that candidates stand in, by their own names.
    has_model_ids: some file names the model that made each decision.
    judged: of rewards that come apart what was judged, a file each of `files`
        (`flows.decisions.judged`); none before that.
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
    judged: tuple[str, ...] = ()

    def with_rewards(self, files: Sequence[str]) -> Log:
        """The log with what was judged of its rows, a file each of its own."""
        optional = (*self.optional, c.IS_DEFAULT)
        return replace(self, judged=tuple(files), optional=optional)

    @property
    def has_defaults(self) -> bool:
        """Whether it says which rewards are the default one."""
        return c.IS_DEFAULT in self.optional

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
        own = (
            f"read_parquet({listed(self.files)}, filename = 'untaken_file', "
            "file_row_number = true, "
            "union_by_name = true, hive_partitioning = false)"
        )
        return judged.joined(own, self.files, self.judged) if self.judged else own

    def select_list(self) -> str:
        """The canonical columns as a DuckDB select list over `source()`."""
        layout = self.layout
        read = (*c.CANONICAL, c.IS_DEFAULT)
        theirs = {name: identifier(layout.theirs(name)) for name in read}
        kept = [f"{theirs[c.ACTION]}::varchar as {c.ACTION}"]
        kept.append(f"({self._reward()})::double + 0.0 as {c.REWARD}")
        identity = f"{theirs[c.DECISION_ID]}::varchar" if self.has_ids else "null"
        kept.append(f"{identity} as {c.DECISION_ID}")
        decided = theirs[c.DECIDED_AT] if self.is_dated else "null::timestamptz"
        kept.append(f"{decided} as {c.DECIDED_AT}")
        if self.has_defaults and not self.judged:
            theirs[c.IS_DEFAULT] = self._is_default()
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
        frame = _read(piece.files, dict(self.types), piece)
        reward = pl.col(layout.theirs(c.REWARD))
        if self.judged:
            beside = dict(zip(self.files, self.judged, strict=True))
            files = [beside[file] for file in piece.files]
            rewards = _read(files, dict(judged.SCHEMA), piece)
            frame = judged.laid_beside(frame, rewards)
            reward = pl.col(judged.REWARD)
        elif (default := layout.default_reward) is not None:
            is_default = reward.is_null() & (pl.col(c.REWARD_STATUS) == c.DEFAULT)
            is_default = is_default.fill_null(value=False)
            frame = frame.with_columns(is_default.alias(c.IS_DEFAULT))
            given = pl.lit(default, pl.Float64)
            reward = pl.when(c.IS_DEFAULT).then(given).otherwise(reward)
        kept = [
            pl.col(layout.theirs(c.ACTION)).cast(pl.String).alias(c.ACTION),
            (reward.cast(pl.Float64) + 0.0).alias(c.REWARD),
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

    def _reward(self) -> str:
        """The DuckDB expression of the reward; null before rewards are judged."""
        if self.judged:
            return judged.REWARD
        if not self.layout.has_rewards:
            return "null"
        theirs = identifier(self.layout.theirs(c.REWARD))
        if self.layout.default_reward is None:
            return theirs
        default = self.layout.default_reward
        return f"case when {self._is_default()} then {default!r} else {theirs} end"

    def _is_default(self) -> str:
        """The DuckDB expression of whether a reward is the default one."""
        if self.layout.default_reward is None:
            return c.IS_DEFAULT
        theirs = identifier(self.layout.theirs(c.REWARD))
        is_default = f"{c.REWARD_STATUS} = {literal(c.DEFAULT)}"
        return f"({theirs} is null and coalesce({is_default}, false))"

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


def _read(
    files: Sequence[str], schema: dict[str, pl.DataType], piece: Piece
) -> pl.LazyFrame:
    """The rows of a piece, out of its files or of those beside them."""
    return pl.scan_parquet(
        list(files),
        glob=False,
        hive_partitioning=False,
        schema=schema,
        extra_columns="ignore",
    ).slice(piece.offset, piece.rows)


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
