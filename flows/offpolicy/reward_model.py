"""A reward model: what an action may be expected to earn in a context.

Doubly robust scores hold whatever the model says; a good one makes them less noisy
(`flows.offpolicy.doubly_robust`). Rewards are scaled to [0, 1], and expected are

    mean reward + effects of the context + effects of the action
                + effects of the context under this action

clipped to [0, 1]. The context enters as one 0/1 feature for each frequent value of a
column of text, categories, booleans or few whole numbers, and one feature for each
other number, centred, divided by its deviation and cut off at four of them. Columns of
other types are left out. Values and actions without a feature have no effects of their
own. `flows.offpolicy.reward_fit` fits a model; to predict with one needs no package
beyond numpy, so one that was kept is read as it is.

Source: validity.md 16.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Standard deviations at which a number is cut off.
FARTHEST = 4.0
TEXT = (pl.String, pl.Categorical, pl.Enum, pl.Boolean)
# Whole numbers that Int64 may not hold.
WIDE = (pl.UInt64, pl.Int128, pl.UInt128)
NULL = "(null)"


@dataclass(frozen=True, slots=True)
class Column:
    """How a column of the context becomes features.

    levels: its frequent values, each with a feature of its own; none for a number,
        which is (value - mean) / deviation.
    """

    name: str
    levels: tuple[str, ...] = ()
    mean: float = 0.0
    deviation: float = 1.0

    @property
    def width(self) -> int:
        """How many features it has."""
        return len(self.levels) or 1

    def positions(self, contexts: pl.DataFrame) -> Integers:
        """Of each value its place among the levels; their number for any other."""
        text = self._values(contexts, pl.String).fill_null(NULL)
        found = text.replace_strict(
            self.levels, range(self.width), default=self.width, return_dtype=pl.Int64
        )
        return found.to_numpy()

    def numbers(self, contexts: pl.DataFrame) -> Floats:
        """The feature of a number; 0 where there is none."""
        values = self._values(contexts, pl.Float64).fill_nan(None).fill_null(self.mean)
        centred = (values.to_numpy() - self.mean) / self.deviation
        found: Floats = np.clip(centred, -FARTHEST, FARTHEST)
        return found

    def _values(
        self, contexts: pl.DataFrame, dtype: type[pl.String | pl.Float64]
    ) -> pl.Series:
        known = contexts.schema.get(self.name)
        if known is None or not is_usable(known):
            return pl.Series([None] * contexts.height, dtype=dtype)
        return contexts[self.name].cast(dtype, strict=False)


@dataclass(frozen=True, slots=True)
class RewardModel:
    """A fitted model.

    base: mean reward; columns: features of the context, one after the other.
    shared: effects of the features, shape (features,).
    own: of each action its effect, and those of the features under it, which may be
        left out: shape (actions, 1 + features) or (actions, 1).
    """

    base: float
    columns: tuple[Column, ...]
    actions: tuple[str, ...]
    shared: tuple[float, ...]
    own: tuple[tuple[float, ...], ...]

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> RewardModel:
        """The model that was kept as `content`."""
        columns = [
            Column(**{**n, "levels": tuple(n["levels"])}) for n in kept["columns"]
        ]
        return cls(
            base=kept["base"],
            columns=tuple(columns),
            actions=tuple(kept["actions"]),
            shared=tuple(kept["shared"]),
            own=tuple(map(tuple, kept["own"])),
        )

    @property
    def content(self) -> dict[str, Any]:
        """The model as a JSON value; its numbers come back to the last bit."""
        return asdict(self)

    def predict(self, contexts: pl.DataFrame, actions: Sequence[str]) -> Floats:
        """Expected rewards, scaled to [0, 1]: shape (contexts, actions)."""
        effects = self._effects(actions)
        found = np.tile(self.base + effects[:, 0], (contexts.height, 1))
        start = 1
        for column in self.columns:
            own = effects[:, start : start + column.width].T
            if column.levels:
                with_none = np.vstack([own, np.zeros(len(actions))])
                found += with_none[column.positions(contexts)]
            else:
                found += column.numbers(contexts)[:, None] * own
            start += column.width
        return np.clip(found, 0.0, 1.0, out=found)

    def _effects(self, actions: Sequence[str]) -> Floats:
        """Effects of action and features: shape (actions, 1 + features)."""
        effects = np.zeros((len(actions), 1 + len(self.shared)))
        places = {name: place for place, name in enumerate(self.actions)}
        for number, name in enumerate(actions):
            if name in places:
                own = self.own[places[name]]
                effects[number, : len(own)] = own
        effects[:, 1:] += np.array(self.shared)
        return effects


def is_usable(dtype: pl.DataType) -> bool:
    """Whether a model can tell values of the type apart."""
    return dtype in TEXT or dtype.is_numeric()


def normalised(contexts: pl.DataFrame) -> pl.DataFrame:
    """Usable columns as text, Int64 or Float64; the others are left out."""
    casts: dict[str, type[pl.DataType]] = {}
    for name, dtype in contexts.schema.items():
        if dtype in TEXT:
            casts[name] = pl.String
        elif dtype.is_integer() and dtype not in WIDE:
            casts[name] = pl.Int64
        elif dtype.is_numeric():
            casts[name] = pl.Float64
    return contexts.select(pl.col(name).cast(to) for name, to in casts.items())
