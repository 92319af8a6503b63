"""Evaluates candidates on a log at once: no job file, no warehouse, one look.

The whole log is one window. Several candidates are to hold together, so each uses an
equal share of the error; so do the segments of a cut (validity.md 9 and 10), while
`compat` is never adjusted (validity.md 3).
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from flows import queries
from flows.decisions import Layout, Profile, find, open_log
from flows.errors import (
    DONE,
    NOT_ENOUGH_EVIDENCE,
    REFUSED,
    LogError,
    UsageError,
    worst,
)
from flows.offpolicy import evidence as cells_of
from flows.offpolicy import exact as exact_of
from flows.offpolicy.assumptions import Assumption, assumptions
from flows.offpolicy.cells import Cells
from flows.offpolicy.estimate import METHODS, WITHHELD, Estimate, Evidence, Finding
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

LOGGING = "logging"
# The guarantee is for one look, not for a log evaluated again as it grows.
LOOK = "single look"


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
        """2 when weights contradict the log, 3 without any reward, else 0."""
        states = [n.value.state for n in self.candidates]
        withheld = REFUSED if WITHHELD in states else DONE
        return worst(withheld, DONE if self.profile.rewards else NOT_ENOUGH_EVIDENCE)


def evaluate(
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
    grid = _grid(reward_range, floor, confidence, method)
    read = [n if isinstance(n, Candidate) else parse(n) for n in candidates]
    if not read:
        raise UsageError("give at least one candidate")
    paths = [log] if isinstance(log, str | Path) else list(log)
    files = find([str(path) for path in paths])
    given = layout or Layout()
    given = Layout(
        columns=given.columns,
        probabilities=given.probabilities,
        context=tuple(dict.fromkeys((*given.context, *context, *by))),
        sum_tolerance=given.sum_tolerance,
    )
    opened = open_log(
        files, given, dated=None, with_ids=None, extra=column_candidates(read)
    )
    own = parse(LOGGING, name=" logging")
    with queries.connection() as con, tempfile.TemporaryDirectory() as work:
        request = Request(
            log=opened,
            candidates=(own, *read),
            reward_range=reward_range,
            work=Path(work),
            keep=tuple(by),
            listing=listing,
        )
        prepared = prepare(con, request)
        if prepared.profile.decisions == 0:
            raise LogError(f"no decision in {len(files)} files; nothing to evaluate")
        cuts = [tuple(by)] if by else []
        scored = prepared.scored(grid.tolerated_floor)
        cells = cells_of.count(
            prepared.scorable, scored, grid=grid, segments=cuts, has_ids=opened.has_ids
        )
        exact = None
        if method == "compat":
            strict = prepared.scored(grid.floor)
            exact = exact_of.count(prepared.scorable, strict, grid=grid, segments=cuts)
    found = _Found(cells, exact, grid, method, confidence, prepared.profile)
    found.unknown = prepared.unknown
    segments = cells.filter(pl.col("segment_by") != "")["segment"].unique().sort()
    share = 1.0 / len(read)
    return Evaluation(
        files=files,
        profile=prepared.profile,
        grid=grid,
        method=method,
        confidence=confidence,
        by=tuple(by),
        logging=found.evaluated(own, "", 1.0),
        candidates=tuple(found.evaluated(n, "", share) for n in read),
        segments={
            segment: tuple(
                found.evaluated(n, segment, share / len(segments), cut=", ".join(by))
                for n in read
            )
            for segment in segments
        },
    )


@dataclass(slots=True)
class _Found:
    """Evidence of all candidates, and how to read it."""

    cells: pl.DataFrame
    exact: pl.DataFrame | None
    grid: Grid
    method: str
    confidence: float
    profile: Profile
    unknown: Mapping[str, tuple[str, ...]] | None = None

    def evaluated(
        self, candidate: Candidate, segment: str, share: float, cut: str = ""
    ) -> Evaluated:
        whole = self._evidence(candidate, "", "")
        contradiction = whole.contradiction()
        finding = finding_of(
            self._evidence(candidate, cut, segment),
            method=self.method,
            confidence=self.confidence,
            share=share,
            is_withheld=contradiction is not None,
        )
        return Evaluated(
            candidate,
            finding,
            assumptions(
                finding.diagnostics,
                contradiction,
                first=self.profile.first_at,
                last=self.profile.last_at,
            ),
            (self.unknown or {}).get(candidate.name, ()),
        )

    def _evidence(self, candidate: Candidate, cut: str, segment: str) -> Evidence:
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
    reward_range: tuple[float, float], floor: float, confidence: float, method: str
) -> Grid:
    lowest, highest = reward_range
    if not lowest < highest or not all(map(_is_finite, reward_range)):
        raise UsageError(
            f"reward_range {lowest} {highest} must ascend: the lowest and the highest "
            "reward a decision can have"
        )
    if not 0 < floor <= 1:
        raise UsageError(f"propensity_floor {floor} must lie in (0, 1]")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence {confidence} must lie in (0, 1)")
    if method not in METHODS:
        raise UsageError(f"method {method!r} is none of {', '.join(METHODS)}")
    return Grid(floor=floor, lowest=lowest, highest=highest)


def _is_finite(number: float) -> bool:
    return abs(number) < float("inf")
