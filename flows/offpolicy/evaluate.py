"""Evaluates candidates on a log at once: no job file, no warehouse, one look.

The whole log is one window. Several candidates are to hold together, so each uses an
equal share of the error; so do the segments of a cut (validity.md 9 and 10), while
`compat` is never adjusted (validity.md 3).
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from flows import queries
from flows.columns import FLOOR_TOLERANCE
from flows.decisions import Layout, Profile, find, open_log
from flows.errors import LogError, UsageError
from flows.offpolicy import evidence as cells_of
from flows.offpolicy import exact as exact_of
from flows.offpolicy.assumptions import Assumption, assumptions
from flows.offpolicy.cells import Cells
from flows.offpolicy.estimate import (
    METHODS,
    WITHHELD,
    Estimate,
    Evidence,
    Finding,
    exit_code_of,
)
from flows.offpolicy.estimate import find as finding_of
from flows.offpolicy.grid import Grid
from flows.policies import (
    Candidate,
    Kind,
    Request,
    column_candidates,
    parse,
    prepare,
)

# The policy that ran, under a name that no SPEC can have.
OWN = parse("logging", name=" logging")
COMPAT = "compat"
# The guarantee is for one look, not for a log evaluated again as it grows.
LOOK = "single look"
# All decisions together: no cut, no segment.
WHOLE = ("", "")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One candidate on one set of decisions."""

    candidate: Candidate
    finding: Finding
    assumptions: tuple[Assumption, ...]
    unknown_actions: tuple[str, ...]

    @property
    def value(self) -> Estimate:
        """The candidate's mean reward."""
        return self.finding.of("value")

    @property
    def improvement(self) -> Estimate:
        """The candidate's mean reward minus the logging policy's."""
        return self.finding.of("improvement")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What `evaluate` found.

    logging: the logging policy's own value, on all decisions.
    candidates: in the order given.
    segments: by the text of the segment, the candidates on those decisions.
    """

    files: tuple[str, ...]
    profile: Profile
    grid: Grid
    method: str
    confidence: float
    by: tuple[str, ...]
    logging: Evaluated
    candidates: tuple[Evaluated, ...]
    segments: Mapping[str, tuple[Evaluated, ...]]

    @property
    def exit_code(self) -> int:
        """2 when an estimate is withheld, 3 when nothing is known yet, else 0."""
        whole = {e.state for n in self.candidates for e in n.finding.estimates}
        withheld = {
            WITHHELD
            for found in self.segments.values()
            for n in found
            if n.finding.is_withheld
        }
        return exit_code_of(whole | withheld)


def evaluate(  # noqa: PLR0913 - what is known by design, and where to look
    log: str | Path | Sequence[str | Path],
    *,
    candidates: Sequence[str | Candidate],
    reward_range: tuple[float, float],
    floor: float,
    method: str = "mixture",
    confidence: float = 0.95,
    context: Sequence[str] = (),
    by: Sequence[str] = (),
    layout: Layout | None = None,
    listing: Path | None = None,
) -> Evaluation:
    """Value and improvement of each candidate on the decisions of `log`.

    log: Parquet files, folders or globs; dated or not.
    candidates: SPECs (`flows.policies.spec`) or candidates read before.
    reward_range: lowest and highest reward a decision can have, by design.
    floor: least probability the logging policy gave any action a candidate may take,
        by design, in (0, 1].
    context: the columns candidates see; by: a cut, told apart beside all decisions.
    layout: names and form of the log's columns; `context` is added to it.
    listing: where to write all violating rows.
    Raises: UsageError, LogError (ViolationsError among them), PolicyError.
    """
    given = layout or Layout()
    grid = _grid(reward_range, floor, confidence, method, given.sum_tolerance)
    read = [n if isinstance(n, Candidate) else parse(n) for n in candidates]
    if not read:
        raise UsageError("give at least one candidate")
    paths = [log] if isinstance(log, str | Path) else list(log)
    files = find([str(path) for path in paths])
    opened = open_log(
        files,
        replace(given, context=(*given.context, *context), beside=tuple(by)),
        dated=None,
        with_ids=None,
        extra=column_candidates(read),
    )
    with tempfile.TemporaryDirectory(prefix="untaken-") as work:
        request = Request(
            log=opened,
            candidates=(OWN, *read),
            reward_range=reward_range,
            work=Path(work),
            keep=tuple(by),
            listing=listing,
        )
        counted = _count(request, grid, method, confidence)
    return counted.evaluation(read, tuple(by))


def _count(request: Request, grid: Grid, method: str, confidence: float) -> _Counted:
    """Checks the log and counts the evidence of every candidate."""
    log, cuts = request.log, [request.keep] if request.keep else []
    with queries.connection() as con:
        prepared = prepare(con, request)
        if prepared.profile.decisions == 0:
            raise LogError(
                f"no decision in {len(log.files)} files; nothing to evaluate"
            )
        rows, scored = prepared.scorable, prepared.scored(grid.tolerated_floor)
        cells = cells_of.count(
            rows, scored, grid=grid, segments=cuts, has_ids=log.has_ids
        )
        cells_of.require_all(cells, prepared.profile.decisions)
        exact = None
        if method == COMPAT:
            exact = exact_of.count(rows, scored, grid=grid, segments=cuts)
    return _Counted(
        files=log.files,
        profile=prepared.profile,
        unknown=prepared.unknown,
        cells=cells,
        exact=exact,
        grid=grid,
        method=method,
        confidence=confidence,
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """Evidence of all candidates, and how to read it."""

    files: tuple[str, ...]
    profile: Profile
    unknown: Mapping[str, tuple[str, ...]]
    cells: pl.DataFrame
    exact: pl.DataFrame | None
    grid: Grid
    method: str
    confidence: float

    def evaluation(
        self, candidates: Sequence[Candidate], by: tuple[str, ...]
    ) -> Evaluation:
        """Everything that is asked of the evidence."""
        in_cut = self.cells.filter(pl.col("segment_by") != "")
        segments = in_cut["segment"].unique().sort()
        share = 1.0 / len(candidates)
        contradictions = {
            n.name: self._evidence(n, WHOLE).contradiction() for n in candidates
        }
        return Evaluation(
            files=self.files,
            profile=self.profile,
            grid=self.grid,
            method=self.method,
            confidence=self.confidence,
            by=by,
            logging=self.evaluated(OWN, 1.0, None),
            candidates=tuple(
                self.evaluated(n, share, contradictions[n.name]) for n in candidates
            ),
            segments={
                segment: tuple(
                    self.evaluated(
                        n,
                        share / len(segments),
                        contradictions[n.name],
                        (", ".join(by), segment),
                    )
                    for n in candidates
                )
                for segment in segments
            },
        )

    def evaluated(
        self,
        candidate: Candidate,
        share: float,
        contradiction: str | None,
        part: tuple[str, str] = WHOLE,
    ) -> Evaluated:
        """One candidate on the decisions of one cut and segment."""
        finding = finding_of(
            self._evidence(candidate, part),
            method=self.method,
            confidence=self.confidence,
            share=share,
            is_withheld=contradiction is not None,
        )
        return Evaluated(
            candidate,
            finding,
            assumptions(
                finding,
                contradiction,
                first=self.profile.first_at,
                last=self.profile.last_at,
            ),
            self.unknown.get(candidate.name, ()),
        )

    def _evidence(self, candidate: Candidate, part: tuple[str, str]) -> Evidence:
        cut, segment = part
        chosen = (
            (pl.col("candidate") == candidate.name)
            & (pl.col("segment_by") == cut)
            & (pl.col("segment") == segment)
        )
        return Evidence(
            cells=Cells.of(self.cells.filter(chosen), self.grid),
            exact=self.exact.filter(chosen) if self.exact is not None else None,
            is_logging=candidate.kind is Kind.LOGGING,
        )


def _grid(
    reward_range: tuple[float, float],
    floor: float,
    confidence: float,
    method: str,
    sum_tolerance: float,
) -> Grid:
    if not 0 < confidence < 1:
        raise UsageError(f"confidence {confidence} must lie in (0, 1)")
    if method not in METHODS:
        raise UsageError(f"method {method!r} is none of {', '.join(METHODS)}")
    return Grid(
        floor,
        *reward_range,
        tolerance=0.0 if method == COMPAT else FLOOR_TOLERANCE,
        sum_tolerance=sum_tolerance,
    )
