"""The pictures of the page: which intervals each shows, and how it is read aloud."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from flows.reports import answer as rule
from flows.reports import compared, limits, tables, words
from flows.reports.course import course
from flows.reports.drawing import Bar
from flows.reports.entries import Document
from flows.reports.figures import AGAINST_LOGGING, comparison
from flows.reports.inline import accessible
from flows.reports.numbers import Unit

MOST = 12  # candidates or pairs in a picture
MOST_SEGMENTS = 16


def _bar(entry: dict[str, Any], label: str, unit: Unit) -> Bar:
    cell = words.cell(entry, unit, sign=True)
    lower, upper = entry["lower"] * unit.scale, entry["upper"] * unit.scale
    middle = None if limits.is_unknown(entry, unit) else entry["estimate"]
    return Bar(
        lower=lower,
        upper=upper,
        estimate=None if middle is None else middle * unit.scale,
        label=label,
        note=cell.interval or cell.number,
        is_exploratory=rule.is_exploratory(entry),
    )


def _twice(
    bars: Sequence[Bar],
    about: int,
    name: str,
    title: str,
    sides: tuple[str, str] = AGAINST_LOGGING,
) -> list[str]:
    """The same picture twice: for a wide and for a narrow window."""
    told = "; ".join(
        f"{bar.label}: {bar.note}{', exploratory' * bar.is_exploratory}" for bar in bars
    )
    return [
        accessible(
            comparison(bars, about=about, narrow=narrow, sides=sides),
            f"{name}-{'narrow' if narrow else 'wide'}",
            title,
            f"Intervals: {told}.",
        )
        for narrow in (False, True)
    ]


def against_logging(
    document: Document, pictured: Sequence[Document], unit: Unit
) -> list[str]:
    """Improvements of candidates; the one the answer names sets the reach."""
    drawn = [each for each in pictured if rule.has_ends(each["improvement"])]
    if not drawn:
        return []
    bars = [_bar(each["improvement"], each["candidate"], unit) for each in drawn]
    names = [each["candidate"] for each in drawn]
    named = document["answer"]["candidate"]
    return _twice(
        bars,
        names.index(named) if named in names else 0,
        "sure",
        f"Improvement on the logging policy, reward {unit.phrase}",
    )


def against_each_other(document: Document, unit: Unit) -> list[str]:
    """Differences of the first compared pairs that have an interval."""
    known = [
        each for each in document["differences"] if rule.has_ends(each["difference"])
    ]
    if not known:
        return []
    bars = [
        _bar(each["difference"], compared.label(each), unit) for each in known[:MOST]
    ]
    title = f"Differences of candidates, reward {unit.phrase}"
    return _twice(bars, _typical(bars), "pairs", title, compared.EARN)


def _typical(bars: Sequence[Bar]) -> int:
    """The bar of middle width: it sets how far a picture without a hero reaches."""
    order = sorted(range(len(bars)), key=lambda i: bars[i].upper - bars[i].lower)
    return order[len(order) // 2]


def legend(pictured: Sequence[Document], unit: Unit) -> str:
    """What colour and dots of improvements mean, where they mean something."""
    entries, told = [each["improvement"] for each in pictured], []
    if any(rule.is_supported(entry) for entry in entries):
        told.append("Blue lies above the logging policy.")
    if any(rule.is_worse(entry) for entry in entries):
        told.append("A hollow dot lies below the logging policy.")
    return " ".join([*told, *marks(entries, unit)])


def marks(entries: Sequence[dict[str, Any]], unit: Unit) -> list[str]:
    """What dashes and dots of any estimates mean, where they mean something."""
    told = []
    if any(rule.is_exploratory(entry) for entry in entries):
        told.append("Dashed is exploratory and decides nothing.")
    if any(limits.is_open(entry, unit) for entry in entries):
        told.append(
            "Where something is missing or not known, a dot is the middle of what that "
            "leaves possible."
        )
    return told


def courses(pictured: Sequence[Document], unit: Unit) -> list[dict[str, str]]:
    """One picture a candidate whose interval moves."""
    drawn = []
    for position, each in enumerate(pictured):
        nights = [
            (entry["night"], _bar(entry["improvement"], entry["night"], unit))
            if rule.has_ends(entry["improvement"])
            else (entry["night"], None)
            for entry in tables.thinned(each)
        ]
        bars = [bar for _, bar in nights if bar is not None]
        if bars and not rule.acts_as_logged(each):
            standing = words.standing(each)
            svg = accessible(
                course(nights, each["looks"]["checkpoints"]),
                f"course-{position}",
                f"Improvement of {each['candidate']}, night by night",
                f"{standing}. First night drawn, {bars[0].label}: {bars[0].note}. "
                f"Last, {bars[-1].label}: {bars[-1].note}.",
            )
            drawn.append(
                {"candidate": each["candidate"], "standing": standing, "svg": svg}
            )
    return drawn


def cuts(document: Document, chosen: Document, unit: Unit) -> list[dict[str, Any]]:
    """One picture a declared cut of the chosen candidate."""
    entries = [e for e in chosen["segments"] if rule.has_ends(e["improvement"])]
    drawn: list[dict[str, Any]] = []
    for by, group in groupby(entries, key=lambda entry: str(entry["by"])):
        every = list(group)
        kept = tables.largest(every, MOST_SEGMENTS)
        bars = [_bar(e["improvement"], words.segment(e), unit) for e in kept]
        title = f"Improvement of {chosen['candidate']} by {by}, reward {unit.phrase}"
        drawn.append(
            {
                "by": by,
                "basis": words.basis(document, [e["improvement"] for e in kept]),
                "svgs": _twice(bars, _typical(bars), f"cut-{len(drawn)}", title),
                "left_out": len(every) - len(kept),
                "luck": compared.luck(document, len(every)),
            }
        )
    return drawn
