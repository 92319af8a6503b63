"""Candidate policies written in Python.

`module:function` is called with a polars frame of decisions, holding the declared
context columns and `actions` (list of text), and returns for each row the probabilities
of its actions: a polars Series of lists, a two-dimensional numpy array, or one list a
row. `row:module:function` is called with one decision as a dict of the same columns and
returns a dict with the probabilities by action under `probabilities` (or the field
that is named), as systems of 001 do; it may name actions the decision does not list.

Neither ever sees the action taken, the reward, the logged probabilities or a column
that was not declared. Every decision is asked for, repeats included. A callable that
raises or returns something of another shape ends the run with its row's position and
the exception's own words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from flows import columns as c
from flows import named
from flows.errors import PolicyError
from flows.policies.spec import Candidate, Kind

LISTED = "listed"
UNLISTED = "unlisted"
ANSWER = pl.Struct({LISTED: pl.List(pl.Float64), UNLISTED: pl.Float64})


@dataclass(slots=True)
class Caller:
    """Calls one candidate's function on frames of decisions.

    unknown: names the function gave mass to without their being listed.
    failure: the first error, kept because it crosses an engine that flattens it.
    """

    candidate: Candidate
    function: Callable[..., Any]
    unknown: set[str] = field(default_factory=set)
    failure: PolicyError | None = None

    def expression(self, context: Sequence[str]) -> pl.Expr:
        """The candidate's answer for each row: a struct of `ANSWER`."""
        shown = list(dict.fromkeys((*context, c.ACTIONS)))
        return pl.struct(shown).map_batches(
            self._batch, return_dtype=ANSWER, is_elementwise=True
        )

    def _batch(self, decisions: pl.Series) -> pl.Series:
        frame = decisions.struct.unnest()
        try:
            if self.candidate.kind is Kind.ROW_FUNCTION:
                return self._by_row(frame)
            return self._by_frame(frame)
        except PolicyError as error:
            self.failure = self.failure or error
            raise

    def _by_frame(self, frame: pl.DataFrame) -> pl.Series:
        try:
            answer = self.function(frame)
            lists = pl.Series(LISTED, answer)
            if isinstance(lists.dtype, pl.Array):
                lists = lists.arr.to_list()
            lists = lists.cast(pl.List(pl.Float64))
        except Exception as error:
            raise self._failed("raised or returned no lists", error) from error
        if len(lists) != frame.height:
            raise PolicyError(
                f"candidate {self.candidate.name!r}: {self.candidate.argument} was "
                f"given {frame.height} decisions and returned {len(lists)} rows"
            )
        return pl.DataFrame(
            {LISTED: lists, UNLISTED: pl.zeros(len(lists), eager=True)}
        ).to_struct()

    def _by_row(self, frame: pl.DataFrame) -> pl.Series:
        rows = []
        name = self.candidate.probabilities_field
        for decision in frame.to_dicts():
            try:
                answer = self.function(decision)
                given = {str(k): float(v) for k, v in dict(answer[name]).items()}
            except Exception as error:
                raise self._failed("raised or returned no dict", error) from error
            listed = [given.pop(action, 0.0) for action in decision[c.ACTIONS]]
            taken = [action for action, value in given.items() if value != 0]
            self.unknown.update(taken)
            rows.append({LISTED: listed, UNLISTED: sum(given[a] for a in taken)})
        return pl.Series(rows, dtype=ANSWER)

    def _contract(self) -> str:
        if self.candidate.kind is Kind.ROW_FUNCTION:
            name = self.candidate.probabilities_field
            return (
                "It gets one decision as a dict and returns a dict "
                f'{{"{name}": {{action: probability, ...}}}}.'
            )
        return (
            "It gets a frame with the declared context and `actions`, and returns one "
            "list of probabilities a row, parallel to `actions`."
        )

    def _failed(self, what: str, error: Exception) -> PolicyError:
        return PolicyError(
            f"candidate {self.candidate.name!r}: {self.candidate.argument} {what}: "
            f"{type(error).__name__}: {error}. {self._contract()}"
        )


def caller(candidate: Candidate) -> Caller:
    """Imports a candidate's function, looking in its own folder first.

    Raises: PolicyError when the module or the function cannot be had.
    """
    try:
        function = named.function(candidate.argument, candidate.base)
    except Exception as error:
        raise PolicyError(
            f"candidate {candidate.name!r}: cannot import {candidate.argument} from "
            f"{candidate.base}: {type(error).__name__}: {error}"
        ) from error
    if not callable(function):
        raise PolicyError(
            f"candidate {candidate.name!r}: {candidate.argument} is not a function"
        )
    return Caller(candidate, function)
