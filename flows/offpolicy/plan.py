"""How the nights of a job are estimated: from where on, and with which share of error.

The start is that of the looks (`Looks`): their horizon is declared before the first
one, and a change starts new looks on the next night (validity.md 5d). A candidate whose
`fixed_at` is declared starts no earlier than that: nights before it may have shaped it,
and windows that reach back to them are labelled exploratory (validity.md 10). A segment
starts on the first night it has decisions.

Candidates are to hold together although some appear later: the i-th to appear uses the
share 6 / (pi^2 i^2) of the error, which sums to one without knowing how many will come
(validity.md 10). Compared pairs are a family of their own, with the same shares.
A share never changes once it was used, so neither a new
candidate nor a new segment moves an interval that was published.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from flows.offpolicy.cells import Cells
from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.grid import Grid
from flows.offpolicy.methods import Design

# Candidate and, of a compared pair, the other one.
Subject = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Looks:
    """Looks with one declaration: from which night on, and to which horizon.

    horizon_nights: None where it is open.
    """

    first_night: dt.date
    horizon_nights: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """How estimates are made.

    looks: oldest first; the first ones begin with the log.
    places: of each candidate or pair its place, from 1, in the order of appearance.
    logging: the candidates that are the logging policy itself.
    baseline: among them, the one that stands for the policy that ran: value only.
    fixed_at: of a candidate the night from which on it was left as it is.
    largest: of a candidate the largest probability it gives any action, by design.
    """

    grid: Grid
    design: Design
    looks: tuple[Looks, ...]
    places: Mapping[Subject, int]
    logging: frozenset[str]
    baseline: str
    knows_support: bool = True
    fixed_at: Mapping[str, dt.date] = field(default_factory=dict)
    largest: Mapping[str, float] = field(default_factory=dict)

    def share(self, subject: Subject) -> float:
        """The share of the error that a candidate's or pair's intervals may use."""
        if subject == (self.baseline, NO_OTHER):
            return 1.0
        return series_share(self.places[subject])

    def looks_at(self, night: dt.date) -> Looks:
        """The looks that a night is one of."""
        return [one for one in self.looks if one.first_night <= night][-1]

    def design_at(self, night: dt.date) -> Design:
        """How intervals of a night are made, by the horizon of its looks."""
        looks = self.looks_at(night)
        return replace(self.design, horizon_nights=looks.horizon_nights)

    def start(self, subject: Subject, first_seen: dt.date, night: dt.date) -> dt.date:
        """Where "since the start" begins, as a night sees it.

        first_seen: the first day of what is looked at, the log or a segment.
        """
        start = max(self.looks_at(night).first_night, first_seen)
        fixed_from = self.fixed_from(subject)
        return max(start, fixed_from) if fixed_from <= night else start

    def fixed_from(self, subject: Subject) -> dt.date:
        """The night from which on neither candidate was changed, if declared."""
        return max(self.fixed_at.get(name, dt.date.min) for name in subject)

    def cells(
        self, evidence: pl.DataFrame, subject: Subject, *, with_defaults: bool = True
    ) -> Cells:
        """The evidence of a subject, as cells; `with_defaults` as in `Cells.of`."""
        candidate, other = subject
        return Cells.of(
            evidence,
            self.grid,
            largest_probability=max(
                self.largest.get(name, 1.0) for name in subject if name
            ),
            is_logging=candidate in self.logging and other == NO_OTHER,
            knows_support=self.knows_support,
            with_defaults=with_defaults,
        )


def series_share(place: int) -> float:
    """The share of the place-th (from 1) of endlessly many: shares add up to one."""
    return 6.0 / (math.pi * place) ** 2
