"""How a log is laid out: which of its columns is ours, and where probabilities stand.

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
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from flows import columns as c

Form = Literal["lists", "structs", "map", "wide", "propensity"]
FORMS: tuple[Form, ...] = ("lists", "structs", "map", "wide", "propensity")


@dataclass(frozen=True, slots=True)
class Layout:
    """What the log's columns mean.

    columns: ours to theirs, where they differ.
    context: columns that candidates see.
    beside: further columns that are read, such as those of a cut; no candidate sees
        them.
    full_support, actions: declared of a log of propensities (see above).
    has_rewards: False where rewards come in a table of their own.
    default_reward: of a log with `reward_status`, the reward where that is "default".
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    probabilities: Form = "lists"
    context: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    sum_tolerance: float = c.SUM_TOLERANCE
    full_support: bool = False
    actions: tuple[str, ...] = ()
    has_rewards: bool = True
    default_reward: float | None = None

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
        apart = c.IS_DEFERRED if self.has_rewards else c.REWARD
        return tuple(name for name in c.CANONICAL if name not in (*other, apart))

    @property
    def optional(self) -> tuple[str, ...]:
        """Our columns that a log may have or lack."""
        apart = () if self.has_rewards else (c.IS_DEFERRED,)
        return (*c.OPTIONAL, *apart)

    def theirs(self, ours: str) -> str:
        """The log's own name of our column."""
        return self.columns.get(ours, ours)

    @property
    def other_columns(self) -> tuple[str, ...]:
        """The columns that are read besides the canonical ones, each once."""
        return tuple(dict.fromkeys((*self.context, *self.beside)))
