"""Answers on demand, for a terminal and for machines.

`untaken.interval/1`, of a window and a segment:

    schema, job, candidate, other (null without one)
    first, last, nights, is_since_start
    where, segment_by, segments    null and empty for all decisions
    decisions, error_share         the share of the error that the interval may use
    estimates     value and improvement, or difference, each as in `untaken.evaluate/1`;
                  `look` is every look, single look or exploratory
    missing, diagnostics, assumptions    as in `untaken.evaluate/1`

`untaken.plan/1`, a projection:

    schema, job, candidate, estimand, above, below (one of them is null)
    night, first, decisions, decisions_a_night
    now           the estimate of that night, as above
    state         passed, expected, never (the estimate, or what missing decisions leave
                  open, lies on the wrong side), out_of_sight (not within most_nights),
                  or the state of an estimate without ends
    more_nights, more_decisions, expected_night    null unless expected
    most_nights   as far as was looked: ten years, or the last declared look
    towards       what further nights close in on where an end does not pass: lower,
                  upper; else null
    smallest_improvements    after 0, 7 and 28 more nights: more_nights, decisions,
                  improvement (an estimate at which the lower end would just pass 0)

Ends are rounded outward in a terminal; documents carry 12 significant digits.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import asdict, dataclass
from typing import Any

from flows.errors import counted
from flows.intervals import Interval
from flows.offpolicy import text
from flows.offpolicy.assumptions import Assumption
from flows.offpolicy.document import estimate_entry, rounded
from flows.offpolicy.estimate import Estimate, Finding, exit_code_of
from flows.offpolicy.methods import EXPLORATORY

NOT_DECLARED = (
    "exploratory: segments that nobody declared together, or nights that may have "
    "shaped the candidate; no decision may rest on it"
)
PROJECTION = (
    "A projection, not a promise: nights to come are taken to hold decisions like "
    "those so far, at the present rate; real ones may take fewer or more."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What evidence says of a window.

    other: the second candidate of a difference, or empty.
    where: what was asked for; None for all decisions.
    error_share: of the error, what the interval may use.
    """

    job: str
    candidate: str
    other: str
    first: dt.date
    last: dt.date
    is_since_start: bool
    where: str | None
    segment_by: str
    segments: tuple[str, ...]
    error_share: float
    finding: Finding
    assumptions: tuple[Assumption, ...]

    @property
    def exit_code(self) -> int:
        """2 when an estimate is withheld, 3 when nothing is known yet, else 0."""
        return exit_code_of(made.state for made in self.finding.estimates)


@dataclass(frozen=True, slots=True)
class Smallest:
    """The smallest improvement that a log of so many decisions can show."""

    more_nights: int
    decisions: int
    improvement: float


@dataclass(frozen=True, slots=True)
class Outlook:
    """When an end is expected to pass a threshold.

    above, below: the threshold of the lower or of the upper end; one of them is None.
    now: the estimate of `night`.
    state: passed, expected, never, out_of_sight, or that of an estimate without ends.
    more_nights: None unless expected.
    most_nights: as far as was looked.
    towards: what further nights close in on, where that keeps the end from passing.
    """

    job: str
    candidate: str
    above: float | None
    below: float | None
    first: dt.date
    night: dt.date
    decisions: int
    decisions_a_night: float
    now: Estimate
    state: str
    more_nights: int | None
    most_nights: int
    towards: Interval | None
    smallest_improvements: tuple[Smallest, ...]

    @property
    def more_decisions(self) -> int | None:
        """How many more decisions are expected to be needed."""
        if self.more_nights is None:
            return None
        return math.ceil(self.more_nights * self.decisions_a_night)

    @property
    def exit_code(self) -> int:
        """2 when the estimate is withheld, 3 when nothing is known yet, else 0."""
        return exit_code_of([self.now.state])


def answer_document(answer: Answer) -> dict[str, Any]:
    """An answer as plain dicts, lists, numbers and text."""
    finding = answer.finding
    made: dict[str, Any] = rounded(
        {
            "schema": "untaken.interval/1",
            "job": answer.job,
            "candidate": answer.candidate,
            "other": answer.other or None,
            "first": str(answer.first),
            "last": str(answer.last),
            "nights": (answer.last - answer.first).days + 1,
            "is_since_start": answer.is_since_start,
            "where": answer.where,
            "segment_by": answer.segment_by or None,
            "segments": list(answer.segments) if answer.segment_by else [],
            "decisions": finding.decisions,
            "error_share": answer.error_share,
            "estimates": {n.estimand: estimate_entry(n) for n in finding.estimates},
            "missing": asdict(finding.missing),
            "diagnostics": asdict(finding.diagnostics),
            "assumptions": [asdict(one) for one in answer.assumptions],
        }
    )
    return made


def answer_text(answer: Answer) -> str:
    """An answer in a few lines."""
    finding, made = answer.finding, answer.finding.estimates[0]
    about = answer.candidate
    if answer.other:
        about = f"{answer.candidate} minus {answer.other}"
    since = ", since the start" if answer.is_since_start else ""
    where = f", where {answer.where}" if answer.where else ""
    lines = [
        f"{about}, {answer.first} to {answer.last}{since}{where}",
        (
            f"{counted(finding.decisions, 'decision')}; method {made.method}, "
            f"confidence {made.confidence:g}, {made.look}"
        ),
        "",
        *(f"{n.estimand:11}  {shown(n)}" for n in finding.estimates),
    ]
    missing = finding.missing
    kinds = [
        (missing.reward, "without a reward"),
        (missing.support, "without support"),
        (missing.both, "without both"),
    ]
    told = ", ".join(f"{count:,} {kind}" for count, kind in kinds if count)
    if told:
        lines += ["", f"missing, bounded at the worst case: {told}"]
    if made.look == EXPLORATORY:
        lines += ["", NOT_DECLARED]
    if finding.is_withheld:
        lines += ["", f"withheld: {answer.assumptions[0].finding}"]
    return "\n".join(lines)


def outlook_document(outlook: Outlook) -> dict[str, Any]:
    """An outlook as plain dicts, lists, numbers and text."""
    more = outlook.more_nights
    made: dict[str, Any] = rounded(
        {
            "schema": "untaken.plan/1",
            "job": outlook.job,
            "candidate": outlook.candidate,
            "estimand": outlook.now.estimand,
            "above": outlook.above,
            "below": outlook.below,
            "first": str(outlook.first),
            "night": str(outlook.night),
            "decisions": outlook.decisions,
            "decisions_a_night": outlook.decisions_a_night,
            "now": estimate_entry(outlook.now),
            "state": outlook.state,
            "more_nights": more,
            "more_decisions": outlook.more_decisions,
            "expected_night": None if more is None else str(_after(outlook, more)),
            "most_nights": outlook.most_nights,
            "towards": asdict(outlook.towards) if outlook.towards else None,
            "smallest_improvements": [
                asdict(one) for one in outlook.smallest_improvements
            ],
        }
    )
    return made


def outlook_text(outlook: Outlook) -> str:
    """An outlook in a few lines."""
    pace = f"{outlook.decisions_a_night:,.0f} a night"
    lines = [
        f"{outlook.candidate}, {outlook.first} to {outlook.night}, since the start",
        f"{counted(outlook.decisions, 'decision')}, {pace}",
        "",
        f"{outlook.now.estimand} {shown(outlook.now)}",
        _verdict(outlook),
    ]
    if outlook.smallest_improvements:
        now, *later = outlook.smallest_improvements
        told = [f"{now.improvement:.2g} now"]
        told += [f"{n.improvement:.2g} after {n.more_nights} nights" for n in later]
        lines += [f"smallest improvement this log can show: {', '.join(told)}"]
    return "\n".join([*lines, "", PROJECTION])


def shown(made: Estimate) -> str:
    """An estimate with its interval, ends rounded outward."""
    middle, ends = text.shown(made)
    return ends if made.lower is None else f"{middle}  {ends}"


def _verdict(outlook: Outlook) -> str:
    """Whether and when the end passes the threshold."""
    above, below = outlook.above, outlook.below
    if above is not None:
        passing = f"the lower end passes above {above:g}"
    else:
        passing = f"the upper end passes below {below:g}"
    if outlook.state == "passed":
        return f"{passing} already"
    if outlook.more_nights is not None:
        return (
            f"{passing} after about {counted(outlook.more_nights, 'more night')}, "
            f"{outlook.more_decisions:,} decisions, on "
            f"{_after(outlook, outlook.more_nights)}"
        )
    if outlook.towards is None:
        return "nothing can be projected without an interval"
    low, high = (f"{end:.3g}" for end in (outlook.towards.lower, outlook.towards.upper))
    towards = f"more decisions close in on {low if low == high else f'{low} to {high}'}"
    if outlook.state == "never":
        return f"{passing}: never at this rate, {towards}"
    nights = counted(outlook.most_nights, "more night")
    return f"{passing}: not within {nights} at this rate; {towards}"


def _after(outlook: Outlook, nights: int) -> dt.date:
    return outlook.night + dt.timedelta(days=nights)
