"""The report as one HTML page that needs nothing else: no script, no file, no network.

The template holds structure and style; this module decides what is shown of it. What a
reader who decides needs is on the first screen; tables that only few will open are
folded. Pictures and folded tables cover at most 12 candidates, those whose lower end is
greatest; the table of candidates covers all, and the JSON report leaves out nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.reports import answer as rule
from flows.reports import figures, findings, limits, tables, words
from flows.reports.answer import day_in_words, fitting, listed
from flows.reports.content import Document
from flows.reports.figures import Bar
from flows.reports.inline import accessible
from flows.reports.numbers import Unit

if TYPE_CHECKING:
    import jinja2

TEMPLATE = Path(__file__).with_name("page.html.j2")
TIES = re.compile(  # spaces at which no line breaks: 95 %, 0.1 to 0.4, n = 100
    r"""\ (?=%) | (?<=\d)\ (?=to\ [+\N{MINUS SIGN}\d]) | (?<=\d\ to)\ (?=\S)
    | (?<=\bn)\ (?==) | (?<=\bn\ =)\ """,
    re.VERBOSE,
)
MOST_PICTURED = 12
MOST_SEGMENTS = 16
MOST_LISTED = 10
MOST_ROWS = 16  # of a table that is not folded
SLUGS = {
    rule.SUPPORTED: "supported",
    rule.WORSE: "worse",
    rule.UNDECIDED: "open",
    rule.WITHHELD: "withheld",
    rule.NO_REWARDS: "withheld",
}


def html(document: Document) -> str:
    """The document as a self-contained HTML page."""
    unit = words.unit(document)
    ranked = words.ranked(document["candidates"])
    pictured = ranked[:MOST_PICTURED]
    chosen = _chosen(document, ranked)
    return _template().render(
        document=document,
        night=day_in_words(document["night"]),
        slug=SLUGS[document["answer"]["state"]],
        badge=words.BADGES[document["answer"]["state"]],
        sentence=words.sentence(document),
        logged=words.logged(document),
        period=words.period(document["log"]["first_day"], document["log"]["last_day"]),
        methods=words.methods(document),
        level=words.confidence(document["evaluation"]["confidence"]),
        look=words.headline_look(document),
        unit=unit,
        basis=words.basis(document),
        sure=_comparison(document, pictured, unit),
        legend=_legend(pictured, unit),
        candidates=tables.candidates(document),
        notes=[words.together(document)]
        + [findings.unsettled(each, unit) for each in pictured],
        left_out=len(ranked) - len(pictured),
        since=words.since(document),
        courses=_courses(pictured, unit),
        windows=[tables.windows(document, each) for each in _first(chosen, pictured)],
        nights=[tables.nights(document, each) for each in pictured],
        chosen=chosen["candidate"],
        cuts=_cuts(document, chosen, unit),
        segments=[
            tables.segments(document, each)
            for each in _first(chosen, pictured)
            if each["segments"]
        ],
        missing=tables.missing(document),
        missing_words=findings.nothing_missing(document),
        violations=tables.violations(document),
        weights=tables.weights(document),
        withheld=findings.withheld(document),
        unknown=findings.unknown_actions(document),
        gaps=findings.gaps(document),
        revised=[day_in_words(day["day"]) for day in findings.revised(document)],
        most_listed=MOST_LISTED,
        fitting=fitting,
        listed=listed,
        counted=words.counted,
        most_rows=MOST_ROWS,
        assumptions=findings.assumptions(document),
    )


@lru_cache(maxsize=1)
def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["tied"] = _tied
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8"))


def _tied(text: str) -> str:
    """Keeps a percent sign with its number, and the ends of an interval together."""
    return TIES.sub("\N{NO-BREAK SPACE}", text)


def _chosen(document: Document, ranked: Sequence[Document]) -> Document:
    """The candidate the page goes into: the one the answer names, else the first."""
    named = document["answer"]["candidate"]
    return next((each for each in ranked if each["candidate"] == named), ranked[0])


def _first(chosen: Document, candidates: Sequence[Document]) -> list[Document]:
    return [chosen, *(each for each in candidates if each is not chosen)]


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
    )


def _pair(bars: Sequence[Bar], about: int, name: str, title: str) -> list[str]:
    """The same picture twice: for a wide and for a narrow window."""
    told = "; ".join(f"{bar.label}: {bar.note}" for bar in bars)
    return [
        accessible(
            figures.comparison(bars, about=about, narrow=narrow),
            f"{name}-{'narrow' if narrow else 'wide'}",
            title,
            f"Intervals: {told}.",
        )
        for narrow in (False, True)
    ]


def _comparison(
    document: Document, pictured: Sequence[Document], unit: Unit
) -> list[str]:
    drawn = [each for each in pictured if rule.has_ends(each["improvement"])]
    if not drawn:
        return []
    bars = [_bar(each["improvement"], each["candidate"], unit) for each in drawn]
    names = [each["candidate"] for each in drawn]
    named = document["answer"]["candidate"]
    return _pair(
        bars,
        names.index(named) if named in names else 0,
        "sure",
        f"Improvement on the logging policy, reward {unit.phrase}",
    )


def _legend(pictured: Sequence[Document], unit: Unit) -> str:
    """What colour and dots mean, where they mean something."""
    told = []
    if any(rule.is_supported(each["improvement"]) for each in pictured):
        told.append("Blue lies above the logging policy.")
    if any(rule.is_worse(each["improvement"]) for each in pictured):
        told.append("A hollow dot lies below the logging policy.")
    if any(limits.is_open(each["improvement"], unit) for each in pictured):
        told.append(
            "Where decisions are missing, a dot is the middle of what they leave "
            "possible."
        )
    return " ".join(told)


def _courses(pictured: Sequence[Document], unit: Unit) -> list[dict[str, str]]:
    """One picture a candidate whose interval moves."""
    drawn = []
    for position, each in enumerate(pictured):
        bars = [
            _bar(entry["improvement"], entry["night"], unit)
            for entry in tables.thinned(each)
            if rule.has_ends(entry["improvement"])
        ]
        if bars and not rule.acts_as_logged(each):
            svg = accessible(
                figures.course(bars),
                f"course-{position}",
                f"Improvement of {each['candidate']}, night by night",
                f"{words.standing(each)}. First night drawn, {bars[0].label}: "
                f"{bars[0].note}. Last, {bars[-1].label}: {bars[-1].note}.",
            )
            standing = words.standing(each)
            drawn.append(
                {"candidate": each["candidate"], "standing": standing, "svg": svg}
            )
    return drawn


def _cuts(document: Document, chosen: Document, unit: Unit) -> list[dict[str, Any]]:
    """One picture a declared cut of the chosen candidate."""
    entries = [e for e in chosen["segments"] if rule.has_ends(e["improvement"])]
    drawn: list[dict[str, Any]] = []
    for by, group in groupby(entries, key=lambda entry: str(entry["by"])):
        every = list(group)
        kept = tables.largest(every, MOST_SEGMENTS)
        bars = [_bar(e["improvement"], words.segment(e), unit) for e in kept]
        reach = sorted(range(len(bars)), key=lambda i: bars[i].upper - bars[i].lower)
        title = f"Improvement of {chosen['candidate']} by {by}, reward {unit.phrase}"
        drawn.append(
            {
                "by": by,
                "svgs": _pair(bars, reach[len(reach) // 2], f"cut-{len(drawn)}", title),
                "left_out": len(every) - len(kept),
                "luck": words.luck(document, len(every)),
            }
        )
    return drawn
