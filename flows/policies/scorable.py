"""A log laid out for scoring, whatever its layout and its candidates.

`Lists`: scoring wants every decision's probabilities in arrays of one length, the
position of the logged action in them, and for each candidate an array parallel to them.
Where all decisions list the same actions and candidates stand in columns or look-ups by
context, the log is read as it is. Everything else (lists that differ between decisions,
tables joined by decision, callables, other layouts) is laid out once in a file beside
the log: shorter lists are padded with an action of logging probability 1 and candidate
probability 0, which is never below the floor and never taken.

`Propensities`: of a log with the probability of the logged action alone, scoring wants
that and what each candidate gives the same action. Which mass a candidate has on
actions without support cannot be read off such a log (validity.md 2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from flows import columns as c
from flows.decisions import Log

POSITION = "action_position"
COUNT = "action_count"


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate as two expressions over the frame of a `Scorable`.

    probability: what the candidate gives the logged action.
    unsupported: the candidate's mass, over all actions, without support in the log; of
        a log of propensities what is known of it.
    needs_support: False for the policy that ran: it supports itself below any floor.
    expected: of an array with a number for each action, the sum over supported ones of
        number times the candidate's probability; None where that is not known, and for
        the policy that ran.
    """

    name: str
    probability: pl.Expr
    unsupported: pl.Expr
    needs_support: bool = True
    expected: Callable[[pl.Expr], pl.Expr] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorable(ABC):
    """Rows ready to be scored.

    frames: lazy, each some of the rows: `reward`, `sample_probability` (1.0 where the
        log does not say), whether the reward is the default one, the segments' columns,
        the id where it exists, and what the expressions of candidates need.
    is_sampled: the log says with which probability each decision was kept in it.
    """

    frames: tuple[pl.LazyFrame, ...]
    is_sampled: bool = False

    @property
    @abstractmethod
    def knows_support(self) -> bool:
        """Whether `unsupported` is all of a candidate's mass without support."""

    @abstractmethod
    def logged(self) -> pl.Expr:
        """The logging probability of the logged action."""

    @abstractmethod
    def column(
        self, name: str, column: str, floor: float, unlisted: pl.Expr | None = None
    ) -> Scored:
        """A candidate that stands in `column`, and its mass on unlisted actions."""

    @abstractmethod
    def uniform(self, name: str, floor: float) -> Scored:
        """The same probability for each action that could be taken."""

    @abstractmethod
    def constant(self, name: str, action: str, floor: float) -> Scored:
        """Always the same action."""

    @abstractmethod
    def first(self, name: str, floor: float) -> Scored:
        """Always the first of the actions."""

    def logging(self, name: str) -> Scored:
        """The policy that ran, which needs no support: every weight is 1."""
        return Scored(name, self.logged(), pl.lit(0.0), needs_support=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists(Scorable):
    """A log that lists the actions of each decision with their probabilities.

    frames: besides, `logging_probabilities` as lists of `width` numbers,
        `action_position` from 0, `action_count`.
    actions: the one list of all decisions; where lists differ, any action that is
        always taken stands in a column.
    """

    width: int
    actions: tuple[str, ...] = ()

    @property
    def knows_support(self) -> bool:
        """True: each decision has the probabilities of all its actions."""
        return True

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

    def is_supported(self, floor: float) -> pl.Expr:
        """For each action 1.0 where it was logged at or above `floor`, else 0.0."""
        return self.array(c.LOGGING_PROBABILITIES).arr.eval(
            (pl.element() >= floor).cast(pl.Float64)
        )

    def column(
        self, name: str, column: str, floor: float, unlisted: pl.Expr | None = None
    ) -> Scored:
        """A candidate whose probabilities stand in the list column `column`."""
        probabilities = self.array(column)
        unsupported = (probabilities * self.is_below(floor)).arr.sum()
        if unlisted is not None:
            unsupported = unsupported + unlisted
        supported = probabilities * self.is_supported(floor)
        return Scored(
            name,
            probabilities.arr.get(pl.col(POSITION)),
            unsupported,
            expected=lambda numbers: (supported * numbers).arr.sum(),
        )

    def uniform(self, name: str, floor: float) -> Scored:
        """The same probability for each listed action."""
        share = 1.0 / pl.col(COUNT)
        return Scored(
            name,
            share,
            self.is_below(floor).arr.sum() * share,
            expected=lambda numbers: (
                (self.is_supported(floor) * numbers).arr.sum() * share
            ),
        )

    def constant(self, name: str, action: str, floor: float) -> Scored:
        """Always `action`, which has no support where it is not listed."""
        if action not in self.actions:
            none = pl.lit(0.0)
            return Scored(name, none, pl.lit(1.0), expected=lambda _: none)
        return self._at(name, self.actions.index(action), floor)

    def first(self, name: str, floor: float) -> Scored:
        """Always the first action listed."""
        return self._at(name, 0, floor)

    def _at(self, name: str, position: int, floor: float) -> Scored:
        is_taken = (pl.col(POSITION) == position).cast(pl.Float64)
        logged = self.array(c.LOGGING_PROBABILITIES).arr.get(position)
        is_supported = (logged >= floor).cast(pl.Float64)
        return Scored(
            name,
            is_taken,
            (logged < floor).cast(pl.Float64),
            expected=lambda numbers: numbers.arr.get(position) * is_supported,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Propensities(Scorable):
    """A log with the probability of the logged action alone.

    frames: besides, `propensity` and `action`.
    actions: those that could be taken, as far as they are declared.
    full_support: declared: each action that a candidate may take had at least the
        floor, so that nothing but mass on undeclared actions lacks support.
    """

    actions: tuple[str, ...]
    full_support: bool

    @property
    def knows_support(self) -> bool:
        """Whether full support is declared; nothing else tells it."""
        return self.full_support

    def logged(self) -> pl.Expr:
        """The logging probability of the logged action."""
        return pl.col(c.PROPENSITY)

    def column(
        self, name: str, column: str, floor: float, unlisted: pl.Expr | None = None
    ) -> Scored:
        """A candidate whose probability of the logged action stands in `column`."""
        return self._scored(name, pl.col(column), floor, unlisted)

    def uniform(self, name: str, floor: float) -> Scored:
        """The same probability for each declared action."""
        return self._scored(name, pl.lit(1.0 / len(self.actions)), floor)

    def constant(self, name: str, action: str, floor: float) -> Scored:
        """Always `action`, which has no support where others are declared."""
        if self.actions and action not in self.actions:
            return Scored(name, pl.lit(0.0), pl.lit(1.0))
        is_taken = (pl.col(c.ACTION) == action).cast(pl.Float64)
        return self._scored(name, is_taken, floor)

    def first(self, name: str, floor: float) -> Scored:
        """Always the first action declared."""
        return self.constant(name, self.actions[0], floor)

    def _scored(
        self,
        name: str,
        probability: pl.Expr,
        floor: float,
        unlisted: pl.Expr | None = None,
    ) -> Scored:
        unsupported = probability * (self.logged() < floor).cast(pl.Float64)
        if unlisted is not None:
            unsupported = unsupported + unlisted
        return Scored(name, probability, unsupported)


def closed(
    frames: Iterable[pl.LazyFrame], actions: Sequence[str], *, is_sampled: bool
) -> Lists:
    """A log in which every decision lists the same `actions` in the same order."""
    count = pl.lit(float(len(actions)))
    return Lists(
        frames=tuple(
            frame.with_columns(position_in(actions).alias(POSITION), count.alias(COUNT))
            for frame in frames
        ),
        is_sampled=is_sampled,
        width=len(actions),
        actions=tuple(actions),
    )


def position_in(actions: Sequence[str]) -> pl.Expr:
    """The position of the logged action among `actions`, which name it."""
    # An enumeration streams; `replace_strict` would hold the whole log in memory.
    return pl.col(c.ACTION).cast(pl.Enum(actions)).to_physical()


def completed(frame: pl.LazyFrame, log: Log) -> pl.LazyFrame:
    """The frame with the columns that its log may lack.

    The probability that each decision was kept in the log, and whether its reward is
    the default one.
    """
    kept = pl.col(c.SAMPLE_PROBABILITY).cast(pl.Float64)
    default = pl.col(c.IS_DEFAULT)
    return frame.with_columns(
        (kept if log.is_sampled else pl.lit(1.0)).alias(c.SAMPLE_PROBABILITY),
        (default if log.has_defaults else pl.lit(value=False)).alias(c.IS_DEFAULT),
    )
