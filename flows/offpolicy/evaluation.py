"""What an evaluation found, and how it is read off the evidence.

Several candidates are to hold together, so each uses an equal share of the error; so
do the segments of a cut, and so do compared pairs, a family of their own (validity.md 9
and 10), while `compat` is never adjusted (validity.md 3).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from flows.decisions import Profile
from flows.intervals import approximate
from flows.intervals.approximate import SecondLine
from flows.offpolicy.assumptions import Assumption, assumptions
from flows.offpolicy.cells import Cells
from flows.offpolicy.corners import points
from flows.offpolicy.estimate import (
    OF_ONE,
    WITHHELD,
    Estimate,
    Evidence,
    Finding,
    contradiction,
    exit_code_of,
    find,
)
from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.grid import Grid
from flows.offpolicy.methods import Design, Window
from flows.offpolicy.ranking import Rank, ranking
from flows.policies import Candidate, Kind, parse

# The policy that ran, under a name that no SPEC can have.
OWN = parse("logging", name=" logging")
LOGGING_POLICY = "logging policy"
# All decisions together: no cut, no segment.
WHOLE = ("", "")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One candidate on one set of decisions.

    second_lines: approximate intervals by estimand, where they were asked for.
    """

    candidate: Candidate
    finding: Finding
    assumptions: tuple[Assumption, ...]
    unknown_actions: tuple[str, ...]
    second_lines: Mapping[str, tuple[SecondLine, ...]]

    @property
    def value(self) -> Estimate:
        """The candidate's mean reward."""
        return self.finding.of("value")

    @property
    def improvement(self) -> Estimate:
        """The candidate's mean reward minus the logging policy's."""
        return self.finding.of("improvement")


@dataclass(frozen=True, slots=True)
class Compared:
    """Two candidates on all decisions: the mean reward of one minus the other's."""

    candidate: str
    other: str
    finding: Finding

    @property
    def difference(self) -> Estimate:
        """The only estimate of a pair."""
        return self.finding.of("difference")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What `evaluate` found.

    logging: the logging policy's own value, on all decisions.
    candidates: in the order given.
    pairs: each two of them, when they were to be compared.
    segments: by the text of the segment, the candidates on those decisions.
    frequencies: how often each action was taken, against its logged probabilities
        (`flows.offpolicy.frequencies.findings`).
    """

    files: tuple[str, ...]
    profile: Profile
    grid: Grid
    design: Design
    by: tuple[str, ...]
    logging: Evaluated
    candidates: tuple[Evaluated, ...]
    pairs: tuple[Compared, ...]
    segments: Mapping[str, tuple[Evaluated, ...]]
    frequencies: pl.DataFrame

    @property
    def ranking(self) -> tuple[Rank, ...]:
        """Which places the candidates and the logging policy may have."""
        ends = {
            n.candidate.name: (n.improvement.lower, n.improvement.upper)
            for n in self.candidates
        }
        return ranking({**ends, LOGGING_POLICY: (0.0, 0.0)})

    @property
    def exit_code(self) -> int:
        """2 when an estimate is withheld, 3 when nothing is known yet, else 0."""
        whole = {e.state for n in self.candidates for e in n.finding.estimates}
        further = [n.finding for found in self.segments.values() for n in found]
        further += [pair.finding for pair in self.pairs]
        withheld = {WITHHELD for finding in further if finding.is_withheld}
        return exit_code_of(whole | withheld)


@dataclass(frozen=True, slots=True)
class Counted:
    """Evidence of all candidates on one log, and how to read it.

    cells: with a column `day` where intervals go by night.
    largest: of each candidate the largest probability it gives any action, by design.
    """

    files: tuple[str, ...]
    profile: Profile
    unknown: Mapping[str, tuple[str, ...]]
    cells: pl.DataFrame
    exact: pl.DataFrame | None
    grid: Grid
    design: Design
    knows_support: bool
    largest: Mapping[str, float]
    frequencies: pl.DataFrame

    def evaluation(
        self,
        candidates: Sequence[Candidate],
        by: tuple[str, ...],
        *,
        compare: bool,
        second_lines: bool,
    ) -> Evaluation:
        """Everything that is asked of the evidence."""
        in_cut = self.cells.filter(pl.col("segment_by") != "")
        segments = in_cut["segment"].unique().sort()
        share = 1.0 / len(candidates)
        against = {n.name: contradiction(self._cells(n), n.name) for n in candidates}
        return Evaluation(
            files=self.files,
            profile=self.profile,
            grid=self.grid,
            design=self.design,
            by=by,
            logging=self.evaluated(OWN, 1.0, None),
            candidates=tuple(
                self.evaluated(n, share, against[n.name], second_lines=second_lines)
                for n in candidates
            ),
            pairs=self._pairs(candidates, against) if compare else (),
            segments={
                segment: tuple(
                    self.evaluated(
                        n,
                        share / len(segments),
                        against[n.name],
                        (", ".join(by), segment),
                    )
                    for n in candidates
                )
                for segment in segments
            },
            frequencies=self.frequencies,
        )

    def evaluated(
        self,
        candidate: Candidate,
        share: float,
        against: str | None,
        part: tuple[str, str] = WHOLE,
        *,
        second_lines: bool = False,
    ) -> Evaluated:
        """One candidate on the decisions of one cut and segment.

        against: how its weights contradict the logged probabilities, if they do.
        """
        cells = self._cells(candidate, part)
        finding = self._found(cells, share, against, self._exact(candidate, part))
        first, last = self.profile.first_at, self.profile.last_at
        return Evaluated(
            candidate,
            finding,
            assumptions(finding, against, self.design, first=first, last=last),
            self.unknown.get(candidate.name, ()),
            self._second_lines(cells, finding, share) if second_lines else {},
        )

    def _pairs(
        self, candidates: Sequence[Candidate], against: Mapping[str, str | None]
    ) -> tuple[Compared, ...]:
        pairs = list(itertools.combinations(candidates, 2))
        return tuple(
            Compared(
                one.name,
                other.name,
                self._found(
                    self._cells(one, WHOLE, other.name),
                    1.0 / len(pairs),
                    against[one.name] or against[other.name],
                    None,
                ),
            )
            for one, other in pairs
        )

    def _found(
        self,
        cells: Cells,
        share: float,
        against: str | None,
        exact: pl.DataFrame | None,
    ) -> Finding:
        days = self._cells(OWN).day
        first, last = int(days.min()), int(days.max())
        window = Window(first, last - first + 1, is_from_start=True)
        return find(
            Evidence(cells, exact, window),
            design=self.design,
            share=share,
            is_withheld=against is not None,
        )

    def _second_lines(
        self, cells: Cells, finding: Finding, share: float
    ) -> dict[str, tuple[SecondLine, ...]]:
        """Approximate intervals, where they could mean anything."""
        if finding.is_withheld:
            return {}
        # A policy does not improve on itself.
        names = OF_ONE[:1] if cells.is_logging else OF_ONE
        return {
            name: approximate.second_lines(
                points(cells),
                name,
                max_weight=cells.max_weight,
                alpha=(1.0 - self.design.confidence) * share,
                floor=self.grid.floor,
            )
            for name in names
        }

    def _cells(
        self,
        candidate: Candidate,
        part: tuple[str, str] = WHOLE,
        other: str = NO_OTHER,
    ) -> Cells:
        chosen = _of(candidate, part) & (pl.col("other") == other)
        return Cells.of(
            self.cells.filter(chosen),
            self.grid,
            largest_probability=max(
                self.largest.get(name, 1.0) for name in (candidate.name, other) if name
            ),
            is_logging=candidate.kind is Kind.LOGGING and other == NO_OTHER,
            knows_support=self.knows_support,
        )

    def _exact(
        self, candidate: Candidate, part: tuple[str, str]
    ) -> pl.DataFrame | None:
        return None if self.exact is None else self.exact.filter(_of(candidate, part))


def _of(candidate: Candidate, part: tuple[str, str]) -> pl.Expr:
    cut, segment = part
    return (
        (pl.col("candidate") == candidate.name)
        & (pl.col("segment_by") == cut)
        & (pl.col("segment") == segment)
    )
