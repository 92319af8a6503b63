"""How a candidate, or a compared pair, stands on a night: from evidence alone.

What an interval may claim depends on the question (validity.md 9 and 10):

    since the start, all decisions or one declared segment    the night's own look
    a chosen first night                                      a single look
    a cut that nobody declared, or nights that may have
    shaped the candidate                                      exploratory

A night's own look is read, not made again: it stands in `estimates`. Declared segments
use the share of the error they had on that night. A cut that nobody declared has none;
it is shown with its candidate's.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import duckdb
import polars as pl

from flows.errors import UsageError
from flows.folder import Folder
from flows.offpolicy import exact
from flows.offpolicy.assumptions import assumptions
from flows.offpolicy.estimate import Evidence, contradiction, find
from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.methods import EXPLORATORY, Design, Window
from flows.offpolicy.nights import EPOCH, segment_shares
from flows.offpolicy.plan import Plan, Subject
from flows.places import WAREHOUSE
from flows.policies import nearest
from flows.warehouse import estimates, evidence, windows
from flows.warehouse.arrivals import closing
from flows.warehouse.evidence import EXACT
from flows.warehouse.segments import WHOLE, Chosen
from flows.warehouse.settings import BASELINE, Job
from flows.warehouse.windows import Look


@dataclass(frozen=True, slots=True)
class Standing:
    """A candidate or pair on one night.

    known: its segments that had been seen by then, all decisions together among them.
    oldest, newest: the first and the last night of the log.
    """

    con: duckdb.DuckDBPyConnection
    job: Job
    subject: Subject
    plan: Plan
    night: dt.date
    known: pl.DataFrame
    oldest: dt.date
    newest: dt.date

    @property
    def is_logging(self) -> bool:
        """Whether it is the logging policy itself."""
        return self.subject[0] in self.plan.logging and not self.subject[1]

    @property
    def design(self) -> Design:
        """How intervals of that night are made."""
        return self.plan.design_at(self.night)

    def read(
        self,
        part: Chosen,
        nights: Window,
        design: Design | None,
        subject: Subject | None = None,
    ) -> pl.DataFrame:
        """The evidence of a window, as it was known on the night.

        subject: another one than this.
        """
        rewards, as_of = self.job.rewards, None
        if rewards is not None:
            as_of = closing(rewards, self.night, self.job.timezone)
        of = subject or self.subject
        return windows.read(self.con, of, part, nights, design, as_of)

    def start(self, part: Chosen) -> dt.date:
        """Where "since the start" begins in some segments."""
        is_chosen = pl.col("segment").is_in(part.segments)
        rows = self.known.filter((pl.col("segment_by") == part.cut) & is_chosen)
        first: dt.date = rows["first_day"].sort()[0]
        return self.plan.start(self.subject, first, self.night)

    def share(self, part: Chosen) -> float:
        """Of the error, what an interval of these segments may use."""
        share = self.plan.share(self.subject)
        if part == WHOLE or not part.is_declared:
            return share
        of_segments = segment_shares(
            self.known.filter(pl.col("segment_by") != WHOLE.cut)
            .rename({"first_day": "day"})
            .partition_by("segment_by", "segment", as_dict=True)
        )
        return share * of_segments[part.cut, part.segments[0]]

    def since_start(self, part: Chosen) -> Look:
        """The night's own look; an undeclared cut, which has none, is computed."""
        start = self.start(part)
        if not part.is_declared:
            return self.window(part, start, self.night)
        found = windows.look(
            self.con, self.subject, part, self.night, is_logging=self.is_logging
        )
        if found is None:
            raise UsageError(self._nothing(part, start, self.night))
        return found

    def window(self, part: Chosen, first: dt.date, end: dt.date) -> Look:
        """What the evidence of the nights from `first` to `end` says, looked at once.

        Raises: UsageError when there is no decision.
        """
        design, nights = self.design, window(first, end)
        rows = self.read(part, nights, design)
        if rows.is_empty():
            raise UsageError(self._nothing(part, first, end))
        against = self._against(end)
        cells, scores = self.plan.cells(rows, self.subject), self._exact(part, nights)
        found = find(
            Evidence(cells, scores, nights),
            design=design,
            share=self.share(part),
            is_withheld=against is not None,
        )
        told = assumptions(found, against, design, first=str(first), last=str(end))
        made = found.estimates
        if self.subject[0] == BASELINE:
            made = (found.of("value"),)
        if not part.is_declared or first < self.plan.fixed_from(self.subject):
            made = tuple(replace(one, look=EXPLORATORY) for one in made)
        return Look(first, replace(found, estimates=made), told)

    def decisions(self, first: dt.date, end: dt.date) -> int:
        """How many decisions these nights hold."""
        rows = self.read(WHOLE, window(first, end), None)
        return int(rows["decisions"].sum())

    def _against(self, end: dt.date) -> str | None:
        """How weights up to a night contradict the logged probabilities, if they do."""
        nights, found = window(self.oldest, end), None
        for name in filter(None, self.subject):
            alone = (name, NO_OTHER)
            look = windows.look(self.con, alone, WHOLE, self.night, is_logging=False)
            # Whoever is not withheld has been tested that night, and passed.
            if found is None and (look is None or look.finding.is_withheld):
                rows = self.read(WHOLE, nights, None, alone)
                found = contradiction(self.plan.cells(rows, alone), name)
        return found

    def _exact(self, part: Chosen, nights: Window) -> pl.DataFrame | None:
        """The distinct scores of a window, which `compat` needs and no cell has."""
        if EXACT not in evidence.kinds_of(self.job):
            return None
        folder = Folder(self.job.results)
        keys = {
            day: of_day
            for one in estimates.made_nights(folder)
            if one.night <= self.night
            for day, of_day in one.evidence.items()
            if 0 <= (day - EPOCH).days - nights.first < nights.nights
        }
        rows = evidence.read(folder, keys, EXACT, self.subject)
        is_chosen = pl.col("segment").is_in(part.segments)
        return exact.merge(rows.filter((pl.col("segment_by") == part.cut) & is_chosen))

    def _nothing(self, part: Chosen, first: dt.date, end: dt.date) -> str:
        values = " or ".join(part.segments)
        where = f" where {part.cut} is {values}" if part.cut else ""
        return (
            f"no decision{where} from {first} to {end}; "
            f"the log holds nights from {self.oldest} to {self.newest}"
        )


@contextmanager
def standing(
    job: Job, subject: Subject, *, until: dt.date | None, again: str
) -> Iterator[Standing]:
    """Opens the job's warehouse at the last night up to a day.

    until: None for the newest night.
    again: what to run when results are not there, or not of this job file.

    Raises: UsageError for an unknown candidate, and when there are no such results.
    """
    _require_known(job, subject)
    warehouse = job.results / WAREHOUSE
    if not warehouse.is_file():
        raise UsageError(f"{job.results} holds no night yet; {again}")
    with windows.opened(warehouse) as con:
        known = windows.known_segments(con, subject)
        if known.is_empty():
            told = f"{warehouse} holds nothing about {evidence.label(subject)} yet"
            raise UsageError(f"{told}; {again}")
        whole = known.row(by_predicate=pl.col("segment_by") == WHOLE.cut, named=True)
        oldest, newest = whole["first_day"], whole["last_day"]
        night = windows.last_night(con, subject, until or newest)
        if night is None:
            raise UsageError(f"no night up to {until}; the first one is {oldest}")
        plan = estimates.plan_of(Folder(job.results), job, night)
        if plan is None:
            told = f"the night {night} was made under other settings than the job has"
            raise UsageError(f"{told}; {again}")
        seen = known.filter(pl.col("first_day") <= night)
        yield Standing(con, job, subject, plan, night, seen, oldest, newest)


def window(first: dt.date, end: dt.date, *, is_from_start: bool = False) -> Window:
    """The nights from `first` to `end`."""
    nights = (end - first).days + 1
    return Window((first - EPOCH).days, nights, is_from_start=is_from_start)


def _require_known(job: Job, subject: Subject) -> None:
    """Raises: UsageError for a candidate or a difference that nobody declared."""
    names = [BASELINE, *(n.name for n in job.candidates)]
    for name in subject:
        if name and name not in names:
            close = nearest(name, names)
            hint = f"did you mean {close}? " if close else ""
            known = ", ".join(names)
            raise UsageError(f"no candidate {name}; {hint}There are: {known}")
    if subject[1] and subject not in job.pairs:
        declared = ", ".join(evidence.label(pair) for pair in job.pairs) or "none"
        raise UsageError(
            f"the difference {evidence.label(subject)} is not declared in [[compare]]; "
            f"declared: {declared}"
        )
