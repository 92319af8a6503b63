"""An evaluation as a few lines of text for a terminal.

Ends are rounded outward, to two significant digits of the interval's width, so that
rounding never narrows an interval.
"""

from __future__ import annotations

import math

from flows.offpolicy import frequencies
from flows.offpolicy.estimate import (
    ALL_REWARDS_MISSING,
    NOTHING_MEASURED,
    Estimate,
    Finding,
)
from flows.offpolicy.evaluation import Evaluated, Evaluation
from flows.policies import nearest

STATES = {
    ALL_REWARDS_MISSING: "no reward has arrived",
    NOTHING_MEASURED: "no decision has reward and support",
    "withheld": "withheld",
}
OUTSIDE = (
    "the estimate lies outside the reward range, as weights above 1 can bring about; "
    "it is kept as it is, and the interval is "
)
CUT, NOT_CUT = "what is possible", "not cut to the range either, by compat"
HEAD = ("candidate", "value", "interval", "improvement", "interval")


def summary(evaluation: Evaluation) -> str:
    """What was found, a line a candidate, and what to know about it."""
    profile, value = evaluation.profile, evaluation.logging.value
    lines = [
        (
            f"{profile.decisions:,} decisions, {profile.rewards:,} with a reward, "
            f"{len(profile.action_names)} actions"
        ),
        (
            f"method {value.method}, confidence {value.confidence:g}, "
            f"{value.look}; rewards in [{evaluation.grid.lowest:g}, "
            f"{evaluation.grid.highest:g}], floor {evaluation.grid.floor:g}"
        ),
        "",
        *_table(evaluation.logging, evaluation.candidates),
    ]
    lines += _pairs(evaluation)
    for segment, candidates in evaluation.segments.items():
        lines += ["", f"{', '.join(evaluation.by)} = {segment}"]
        lines += _table(None, candidates)
    notes = _notes(evaluation)
    return "\n".join([*lines, *(["", *notes] if notes else [])])


def _table(logging: Evaluated | None, candidates: tuple[Evaluated, ...]) -> list[str]:
    rows = [HEAD]
    if logging is not None:
        rows.append(("logging policy", *shown(logging.value), "", ""))
    rows += [
        (n.candidate.name, *shown(n.value), *shown(n.improvement)) for n in candidates
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    return [
        "  ".join(
            cell.ljust(width) if column in (0, 2, 4) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _pairs(evaluation: Evaluation) -> list[str]:
    """Differences of candidates, and who is certainly worse."""
    shown = [
        (f"{pair.candidate} minus {pair.other}", *shown(pair.difference))
        for pair in evaluation.pairs
    ]
    lines = [""] if shown else []
    lines += [f"{name}: {middle}  {ends}" for name, middle, ends in shown]
    worse = [
        f"{rank.candidate} is certainly worse than {', '.join(rank.worse_than)}"
        for rank in evaluation.ranking
        if rank.worse_than
    ]
    return [*lines, *([""] if worse else []), *worse]


def _second_lines(evaluated: Evaluated) -> list[str]:
    return [
        f"{evaluated.candidate.name}: {estimand} by {line.method}: "
        f"[{line.lower:.4g}, {line.upper:.4g}] ({line.label})"
        for estimand, lines in evaluated.second_lines.items()
        for line in lines
        if line.lower is not None and line.upper is not None
    ]


def shown(estimate: Estimate) -> tuple[str, str]:
    """An estimate and its interval, ends rounded outward; "-" where it has none."""
    lower, upper, middle = estimate.lower, estimate.upper, estimate.estimate
    if lower is None or upper is None or middle is None:
        return "-", STATES.get(estimate.state, estimate.state)
    digits = decimals(upper - lower)
    scale = 10.0**digits
    low, high = math.floor(lower * scale) / scale, math.ceil(upper * scale) / scale
    # "z": a zero has no sign, whichever side it was rounded from.
    form = f"z.{digits}f"
    return f"{middle:{form}}", f"[{low:{form}}, {high:{form}}]"


def decimals(width: float) -> int:
    """How many decimals show two significant digits of an interval's width."""
    if width <= 0:
        return 4
    return max(0, 1 - math.floor(math.log10(width)))


def _missing(finding: Finding) -> str:
    """The kinds of missing decisions that there are, and what they leave open."""
    missing, value = finding.missing, finding.of("value")
    mass = f"{missing.unsupported_probability:.1%} of what it would do"
    kinds = [
        (missing.reward, "without a reward"),
        (missing.support, f"without support ({mass})"),
        (missing.both, "without both"),
    ]
    told = ", ".join(f"{count:,} {kind}" for count, kind in kinds if count)
    if finding.diagnostics.expected_mean_weight is None:
        unknown = f"support is not logged; about {mass} may lack it"
        told = f"{told}, {unknown}" if told else unknown
    if not told or value.identified_lower is None or value.identified_upper is None:
        return told
    digits = decimals(value.identified_upper - value.identified_lower)
    return (
        f"{told}; the value shown is the middle of what they leave open, "
        f"{value.identified_lower:z.{digits}f} to {value.identified_upper:z.{digits}f}"
    )


def _notes(evaluation: Evaluation) -> list[str]:
    names, notes = evaluation.profile.action_names, []
    for n in evaluation.candidates:
        about = n.candidate.name
        notes += _second_lines(n)
        if told := _missing(n.finding):
            notes.append(f"{about}: missing, bounded at the worst case: {told}")
        for action in n.unknown_actions:
            close = nearest(action, names)
            hint = f"; did you mean {close}?" if close else ""
            notes.append(f"{about}: action {action} is never listed in the log{hint}")
        middle, grid = n.value.estimate, evaluation.grid
        if middle is not None and not grid.lowest <= middle <= grid.highest:
            notes.append(
                f"{about}: {OUTSIDE}{NOT_CUT if n.value.method == 'compat' else CUT}"
            )
        if n.value.state == "withheld":
            notes.append(
                f"{about}: withheld: {n.assumptions[0].finding}. The logged "
                "probabilities cannot be those the actions were drawn with: check how "
                "they are logged and joined."
            )
    notes += [
        f"action {one['action']} was taken {one['logged']:,} times, its logged "
        f"probabilities say {one['expected']:,.0f}, and chance allows "
        f"{one['allowed']:,.0f} more or less. Check how they are logged and joined."
        for one in frequencies.told(evaluation.frequencies)["deviating"]
    ]
    notes += [
        f"warning: {warned.count:,} decisions break: {warned.sentence} {warned.remedy}"
        for warned in evaluation.profile.warned
    ]
    return notes
