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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.offpolicy.methods import EXPLORATORY
from flows.reports import answer as rule
from flows.reports import (
    compared,
    exchanged,
    findings,
    judged,
    looks,
    pictures,
    quality,
    rewarded,
    suggested,
    tables,
    words,
)
from flows.reports.entries import Document
from flows.reports.numbers import Unit
from flows.reports.phrases import (
    confidence,
    counted,
    day_in_words,
    fitting,
    listed,
    period,
)
from flows.reports.templates import template

if TYPE_CHECKING:
    import jinja2

TEMPLATE = Path(__file__).with_name("page.html.j2")
TIES = re.compile(  # spaces at which no line breaks: 95 %, 0.1 to 0.4, n = 100
    r"""\ (?=%) | (?<=\d)\ (?=to\ [+\N{MINUS SIGN}\d]) | (?<=\d\ to)\ (?=\S)
    | (?<=\bn)\ (?==) | (?<=\bn\ =)\ """,
    re.VERBOSE,
)
MOST_LISTED = 10
MOST_ROWS = 16  # of a table that is not folded
SLUGS = {
    rule.SUPPORTED: "supported",
    rule.WORSE: "worse",
    rule.UNDECIDED: "open",
    rule.WITHHELD: "withheld",
    rule.NO_REWARDS: "withheld",
    EXPLORATORY: "open",
}


def html(document: Document) -> str:
    """The document as a self-contained HTML page."""
    unit = words.unit(document)
    ranked = words.ranked(document["candidates"])
    pictured = ranked[: pictures.MOST]
    chosen = _chosen(document, ranked)
    return _template().render(
        document=document,
        unit=unit,
        counted=counted,
        fitting=fitting,
        listed=listed,
        most_listed=MOST_LISTED,
        most_rows=MOST_ROWS,
        level=confidence(document["evaluation"]["confidence"]),
        basis=words.basis(document),
        methods=looks.methods(document),
        terms=looks.terms(document),
        left_out=len(ranked) - len(pictured),
        chosen=chosen["candidate"],
        **_first_screen(document),
        **_sure(document, pictured, unit),
        **_since(document, chosen, pictured, unit),
        **_for_whom(document, chosen, pictured, unit),
        **_joined(document),
        **_wrong(document),
        asked=suggested.sentences(document),
        asked_most=suggested.largest(document),
        review=suggested.PAGE,
    )


def _first_screen(document: Document) -> dict[str, Any]:
    log, state = document["log"], document["answer"]["state"]
    return {
        "night": day_in_words(document["night"]),
        "slug": SLUGS[state],
        "badge": words.BADGES[state],
        "sentence": words.sentence(document),
        "logged": words.logged(document),
        "opening": rewarded.opening(document),
        "became": rewarded.became(document),
        "period": period(log["first_day"], log["last_day"]),
        "holds": looks.holds(document),
        "target": looks.target(document),
    }


def _sure(
    document: Document, pictured: Sequence[Document], unit: Unit
) -> dict[str, Any]:
    notes = [
        " ".join(compared.certainties(document)),
        compared.together(document),
        *(findings.unsettled(each, unit) for each in pictured),
    ]
    return {
        "sure": pictures.against_logging(document, pictured, unit),
        "legend": pictures.legend(pictured, unit),
        "candidates": tables.candidates(document),
        "beside": [tables.doubly_robust(document)] * bool(document["doubly_robust"]),
        "notes": [note for note in notes if note],
        "pairs": pictures.against_each_other(document, unit),
        "pairs_legend": " ".join(
            pictures.marks([n["difference"] for n in document["differences"]], unit)
        ),
        "differences": [tables.differences(document)] * bool(document["differences"]),
        **_by_the_rule(document),
    }


def _by_the_rule(document: Document) -> dict[str, Any]:
    """What the retired service would have done with its own log; else empty."""
    if (found := exchanged.table(document)) is None:
        return {"rule": None}
    return {
        "rule": found,
        "verdict": exchanged.verdict(document),
        "rule_notes": exchanged.notes(document),
    }


def _since(
    document: Document, chosen: Document, pictured: Sequence[Document], unit: Unit
) -> dict[str, Any]:
    return {
        "since": [*words.since(document), *looks.new_starts(document)],
        "checkpoints": looks.checkpoints(document),
        "courses": pictures.courses(pictured, unit),
        "windows": [tables.windows(document, n) for n in _first(chosen, pictured)],
        "nights": [tables.nights(document, each) for each in pictured],
    }


def _for_whom(
    document: Document, chosen: Document, pictured: Sequence[Document], unit: Unit
) -> dict[str, Any]:
    return {
        "cuts": pictures.cuts(document, chosen, unit),
        "segments": [
            tables.segments(document, each)
            for each in _first(chosen, pictured)
            if each["segments"]
        ],
    }


def _joined(document: Document) -> dict[str, Any]:
    """What is shown of rewards that come apart, and of a default one; else empty."""
    both = judged.without_default(document)
    told = {
        **dict.fromkeys(("factors", "judged", "delays", "known", "selected"), ()),
        **dict.fromkeys(("by_day", "later"), ()),
        "joined": rewarded.declared(document),
        "both": [both] * (both is not None),
    }
    if document["rewards"] is None:
        return told
    events, later = judged.events(document), quality.known_later(document)
    factors = judged.factors(document)
    return told | {
        "factors": [factors] * (factors is not None),
        "judged": [judged.decisions(document), *[events] * (events is not None)],
        "delays": rewarded.delays(document),
        "known": rewarded.known(document),
        "selected": rewarded.selected(document),
        "by_day": judged.days(document),
        "later": [later] * (later is not None),
    }


def _wrong(document: Document) -> dict[str, Any]:
    return {
        "withheld": findings.withheld(document),
        "missing": quality.missing(document),
        "missing_words": findings.nothing_missing(document),
        "unknowable": findings.unknowable(document),
        "gaps": findings.gaps(document),
        "warnings": findings.warnings(document),
        "violations": quality.violations(document),
        "unknown": findings.unknown_actions(document),
        "frequencies": quality.frequencies(document),
        "frequencies_words": findings.frequencies(document),
        "revised": [day_in_words(day["day"]) for day in findings.revised(document)],
        "revisions": quality.revisions(document),
        "weights": quality.weights(document),
        "assumptions": findings.assumptions(document),
    }


@lru_cache(maxsize=1)
def _template() -> jinja2.Template:
    return template(TEMPLATE, {"tied": _tied})


def _tied(text: str) -> str:
    """Keeps a percent sign with its number, and the ends of an interval together."""
    return TIES.sub("\N{NO-BREAK SPACE}", text)


def _chosen(document: Document, ranked: Sequence[Document]) -> Document:
    """The candidate the page goes into: the one the answer names, else the first."""
    named = document["answer"]["candidate"]
    return next((each for each in ranked if each["candidate"] == named), ranked[0])


def _first(chosen: Document, candidates: Sequence[Document]) -> list[Document]:
    return [chosen, *(each for each in candidates if each is not chosen)]
