"""`untaken interval` and `untaken plan`: answers from evidence alone, at once.

The log is not read, nothing is written and no lock is taken: both look into the
warehouse that the last night left, and may be asked while a night runs. A job file that
changed since then is refused. What an interval may claim, `flows.warehouse.standing`
says; how nights to come are projected, `flows.offpolicy.projection`.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from flows.errors import UsageError
from flows.intervals import Interval
from flows.job import load
from flows.offpolicy import projection
from flows.offpolicy.estimate import ESTIMATED, Estimate
from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.told import Answer, Outlook, Smallest
from flows.warehouse import segments
from flows.warehouse.segments import WHOLE
from flows.warehouse.standing import Standing, standing, window

NIGHTS = re.compile(r"([1-9]\d{0,5})d?")
# How many nights the present rate is the mean of, and the further nights looked at.
RECENT_NIGHTS, LATER_NIGHTS = 28, (0, 7, 28)

Estimand = Literal["value", "improvement"]


def interval(
    file: Path,
    *,
    candidate: str,
    other: str | None = None,
    since: dt.date | None = None,
    last: str | None = None,
    until: dt.date | None = None,
    where: str | None = None,
) -> Answer:
    """An estimate for any window and any declared segments.

    last: how many nights up to the last one, such as `14` or `14d`.
    until: the last night; the newest one when left out.

    Raises: UsageError for what does not exist, or is not there yet.
    """
    if since is not None and last is not None:
        raise UsageError("--since and --last both say where to begin: leave out one")
    nights = None if last is None else _number_of_nights(last)
    is_from_start = since is None and nights is None
    job, subject = load(file), (candidate, other or NO_OTHER)
    with standing(job, subject, until=until, again=_again(file)) as at:
        part = WHOLE
        if where is not None:
            part = segments.matching(where, job.cuts, at.known)
        if is_from_start:
            end = at.night
            found = at.since_start(part)
        else:
            end = min(until or at.night, at.newest)
            first = _first(at, end, since, nights)
            found = at.window(part, first, end)
        share = at.share(part)
    return Answer(
        job=job.name,
        candidate=candidate,
        other=subject[1],
        first=found.first,
        last=end,
        is_since_start=is_from_start,
        where=where,
        segment_by=part.cut,
        segments=part.segments,
        error_share=share,
        finding=found.finding,
        assumptions=found.assumptions,
    )


def plan(
    file: Path,
    *,
    candidate: str,
    estimand: Estimand = "improvement",
    above: float | None = None,
    below: float | None = None,
) -> Outlook:
    """When an end is expected to pass a threshold.

    above: of the lower end; below: of the upper one. Without either, an improvement
        above 0.

    Raises: UsageError for what does not exist, is not there yet or cannot be projected.
    """
    above = _above(estimand, above, below)
    job = load(file)
    if job.design.used == "compat":
        raise UsageError("plan needs another method than compat")
    with standing(job, (candidate, NO_OTHER), until=None, again=_again(file)) as at:
        if at.is_logging and estimand == "improvement":
            raise UsageError(f"{candidate} acts as the log did: it improves by 0")
        look = at.since_start(WHOLE)
        present = _present(at, look.first)
    now = look.finding.of(estimand)
    ahead = projection.nights_ahead(present)
    state, more, towards = _passing(present, now, _passes(above, below), ahead)
    is_known = now.state == ESTIMATED and not at.is_logging
    return Outlook(
        job=job.name,
        candidate=candidate,
        above=above,
        below=below,
        first=look.first,
        night=at.night,
        decisions=look.finding.decisions,
        decisions_a_night=present.pace,
        now=now,
        state=state,
        more_nights=more,
        most_nights=ahead,
        towards=towards,
        smallest_improvements=_smallest(present) if is_known else (),
    )


def _again(file: Path) -> str:
    return f"run: untaken nightly {file}"


def _number_of_nights(text: str) -> int:
    """The number in `14` or `14d`."""
    found = NIGHTS.fullmatch(text)
    if found is None:
        raise UsageError(f"--last {text!r} is not a number of nights, such as 14d")
    return int(found[1])


def _first(
    at: Standing, end: dt.date, since: dt.date | None, nights: int | None
) -> dt.date:
    """Where a chosen window begins: no earlier than the log."""
    if nights is not None:
        since = end - dt.timedelta(days=min(nights - 1, (end - at.oldest).days))
    first = max(since or at.oldest, at.oldest)
    if first > end:
        raise UsageError(f"--since {first} is later than {end}, the last night")
    return first


def _above(
    estimand: Estimand, above: float | None, below: float | None
) -> float | None:
    """The threshold of the lower end, None where the upper end has one."""
    if above is not None and below is not None:
        raise UsageError("--above and --below are for different ends: leave out one")
    if above is not None or below is not None:
        return above
    if estimand == "value":
        raise UsageError("a value needs a threshold: --above X or --below X")
    return 0.0


def _passes(above: float | None, below: float | None) -> Callable[[Interval], bool]:
    """Whether an interval lies beyond the threshold."""
    if above is not None:
        return lambda ends: ends.lower > above
    if below is None:
        raise ValueError("no threshold")
    return lambda ends: ends.upper < below


def _present(at: Standing, first: dt.date) -> projection.Present:
    """Where the candidate stands since the start, at the present rate."""
    design, since_start = at.design, window(first, at.night, is_from_start=True)
    rows = at.read(WHOLE, since_start, design)
    nights = min(RECENT_NIGHTS, (at.night - at.oldest).days + 1)
    recent = at.night - dt.timedelta(days=nights - 1)
    return projection.Present(
        cells=at.plan.cells(rows, at.subject),
        window=since_start,
        design=design,
        alpha=(1.0 - design.confidence) * at.share(WHOLE),
        pace=at.decisions(recent, at.night) / nights,
    )


def _passing(
    present: projection.Present,
    now: Estimate,
    passes: Callable[[Interval], bool],
    ahead: int,
) -> tuple[str, int | None, Interval | None]:
    """State, after how many more nights it passes, and what those close in on."""
    low, high = now.identified_lower, now.identified_upper
    if now.lower is None or now.upper is None or low is None or high is None:
        return now.state, None, None
    if passes(Interval(now.lower, now.upper)):
        return "passed", None, None
    if not passes(Interval(low, high)):
        return "never", None, Interval(low, high)
    future = projection.project(present, now.estimand)
    more = projection.nights_until(lambda nights: passes(future(nights).ends), ahead)
    if more is not None:
        return "expected", more, None
    left_open = future(ahead).left_open
    return "out_of_sight" if passes(left_open) else "never", None, left_open


def _smallest(present: projection.Present) -> tuple[Smallest, ...]:
    """What the log can show now and later: estimates as far from 0 as the lower end."""
    future = projection.project(present, "improvement")
    found = []
    for nights in LATER_NIGHTS:
        expected = future(nights)
        decisions = present.cells.decisions + round(nights * present.pace)
        reach = expected.estimate - expected.ends.lower
        found.append(Smallest(nights, decisions, reach))
    return tuple(found)
