"""A log laid out for scoring, whatever its layout and its candidates.

Scoring wants every decision's probabilities in arrays of one length, the position of
the logged action in them, and for each candidate an array parallel to them. Where all
decisions list the same actions and candidates stand in columns or look-ups by context,
the log is read as it is. Everything else (lists that differ between decisions,
tables joined by decision, callables, other layouts) is laid out once in a file beside
the log: shorter lists are padded with an action of logging probability 1 and candidate
probability 0, which is never below the floor and never taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from flows import columns as c

POSITION = "action_position"
COUNT = "action_count"


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate as two expressions over the frame of a `Scorable`.

    probability: what the candidate gives the logged action.
    unsupported: the candidate's mass, over all actions, without support in the log.
    needs_support: False for the policy that ran: it supports itself below any floor.
    """

    name: str
    probability: pl.Expr
    unsupported: pl.Expr
    needs_support: bool = True


@dataclass(frozen=True, slots=True)
class Scorable:
    """Rows ready to be scored.

    frames: lazy, each some of the rows; `logging_probabilities` as lists of `width`
        numbers, `action_position` from 0, `action_count`, `reward`, the segments'
        columns, the id where it exists.
    """

    frames: tuple[pl.LazyFrame, ...]
    width: int

    def logged(self) -> pl.Expr:
        """The logging probability of the logged action."""
        return self.array(c.LOGGING_PROBABILITIES).arr.get(pl.col(POSITION))

    def array(self, name: str) -> pl.Expr:
        """The list column `name` as an array."""
        return pl.col(name).list.to_array(self.width)

    def is_below(self, floor: float) -> pl.Expr:
        """For each action 1.0 where it was logged below `floor`, else 0.0."""
        return self.array(c.LOGGING_PROBABILITIES).arr.eval(
            (pl.element() < floor).cast(pl.Float64)
        )

    def column(
        self, name: str, column: str, floor: float, unlisted: pl.Expr | None = None
    ) -> Scored:
        """A candidate whose probabilities stand in the list column `column`."""
        probabilities = self.array(column)
        unsupported = (probabilities * self.is_below(floor)).arr.sum()
        if unlisted is not None:
            unsupported = unsupported + unlisted
        return Scored(name, probabilities.arr.get(pl.col(POSITION)), unsupported)

    def uniform(self, name: str, floor: float) -> Scored:
        """The same probability for each listed action."""
        share = 1.0 / pl.col(COUNT)
        return Scored(name, share, self.is_below(floor).arr.sum() * share)

    def at(self, name: str, position: int | None, floor: float) -> Scored:
        """Always the action at `position`; None: an action that is not listed."""
        if position is None:
            return Scored(name, pl.lit(0.0), pl.lit(1.0))
        is_taken = (pl.col(POSITION) == position).cast(pl.Float64)
        logged = self.array(c.LOGGING_PROBABILITIES).arr.get(position)
        return Scored(name, is_taken, (logged < floor).cast(pl.Float64))

    def logging(self, name: str) -> Scored:
        """The policy that ran, which needs no support: every weight is 1."""
        return Scored(name, self.logged(), pl.lit(0.0), needs_support=False)


def closed(frames: Iterable[pl.LazyFrame], actions: Sequence[str]) -> Scorable:
    """A log in which every decision lists the same `actions` in the same order."""
    # An enumeration streams; `replace_strict` would hold the whole log in memory.
    position = pl.col(c.ACTION).cast(pl.Enum(actions)).to_physical()
    count = pl.lit(float(len(actions)))
    return Scorable(
        tuple(
            frame.with_columns(position.alias(POSITION), count.alias(COUNT))
            for frame in frames
        ),
        len(actions),
    )
