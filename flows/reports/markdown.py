"""The report as Markdown: for a pull request or a run's artifact, short and complete.

It keeps the order of the page and leaves out pictures, nights and the longer tables.
Names that users gave are escaped, so that none can open a link, a tag or a table cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.reports import (
    compared,
    exchanged,
    findings,
    judged,
    limits,
    looks,
    quality,
    rewarded,
    suggested,
    tables,
    words,
)
from flows.reports.answer import LOGGING, has_ends
from flows.reports.entries import Document
from flows.reports.marked import MOST_LISTED, block, escape, listing, row, written
from flows.reports.numbers import Unit
from flows.reports.phrases import counted, day_in_words, listed

ESTIMANDS = ("value", "improvement")
MOST_CANDIDATES = 12
MOST_SEGMENTS = 12
MOST_DAYS = 7


def markdown(document: Document) -> str:
    """The document in GitHub-flavoured Markdown, one final newline."""
    unit = words.unit(document)
    blocks = [
        *_answer(document),
        *_candidates(document, unit),
        *_doubly_robust(document),
        *_differences(document),
        *_exchanged(document),
        *_segments(document, unit),
        *_rewards(document),
        *_findings(document),
        *_asked(document),
        *_assumptions(document),
        _reading(document, unit),
        *(f"Method {name}: {text}" for name, text in looks.methods(document)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _answer(document: Document) -> list[str]:
    night = day_in_words(document["night"])
    answer = document["answer"]
    return [
        f"# {escape(document['job'])}, {night}",
        f"**{words.BADGES[answer['state']]}.** {escape(words.sentence(document))}",
        f"**{escape(opening)}**" if (opening := rewarded.opening(document)) else "",
        f"{words.basis(document)}.",
        escape(" ".join([*looks.checkpoints(document), *looks.new_starts(document)])),
        f"The answer is about {target}." if (target := looks.target(document)) else "",
        f"The logging policy {escape(words.logged(document))}."
        if limits.is_open(document["logging_policy"]["value"], words.unit(document))
        else "",
    ]


def _candidates(document: Document, unit: Unit) -> list[str]:
    ranked = words.ranked(document["candidates"])
    places = compared.places(document)
    place = [f"Place, of {len(places)}"] if places else []
    columns = ["Candidate", f"Improvement {unit.phrase}", f"Value {unit.phrase}"]
    head = [
        row(*columns, *place, "Switch"),
        row(":--", "--:", "--:", *["--:" for _ in place], ":--"),
    ]
    rows = [
        row(
            escape(each["candidate"]),
            _cell(each["improvement"], unit, sign=True),
            _cell(each["value"], unit, sign=False),
            *(places[each["candidate"]] for _ in place),
            words.standing(each),
        )
        for each in ranked[:MOST_CANDIDATES]
    ]
    logged = _cell(document["logging_policy"]["value"], unit, sign=False)
    own = [places[LOGGING] for _ in place]
    rows.append(row("*logging policy*", "", logged, *own, ""))
    left = len(ranked) - MOST_CANDIDATES
    return [
        "## How sure, since when",
        "\n".join(head + rows),
        *_footnotes([document["logging_policy"], *ranked[:MOST_CANDIDATES]], unit),
        f"{counted(left, 'more candidate')} in the JSON report." if left > 0 else "",
        compared.together(document),
        escape(" ".join(compared.certainties(document))),
        *(escape(findings.unsettled(each, unit)) for each in ranked[:MOST_CANDIDATES]),
    ]


def _doubly_robust(document: Document) -> list[str]:
    if not document["doubly_robust"]:
        return []
    found = tables.doubly_robust(document)
    rows = [
        row(escape(head), *map(written, cells))
        for head, _, cells in found.rows[:MOST_CANDIDATES]
    ]
    head = [row(*found.columns), row(":--", "--:", "--:")]
    return [
        "## Doubly robust, beside",
        found.caption,
        "\n".join([*head, *rows]),
        *(f"{escape(mark)} {text}" for mark, text in found.footnotes),
    ]


def _differences(document: Document) -> list[str]:
    if not document["differences"]:
        return []
    found = tables.differences(document)
    rows = [
        row(f"{escape(head)}, {note}", *map(written, cells))
        for head, note, cells in found.rows[:MOST_CANDIDATES]
    ]
    left = len(found.rows) - MOST_CANDIDATES
    return [
        "## Candidate against candidate",
        found.caption,
        "\n".join([row(*found.columns), row(":--", "--:"), *rows]),
        *(f"{escape(mark)} {text}" for mark, text in found.footnotes),
        f"{counted(left, 'more difference')} in the JSON report." if left > 0 else "",
    ]


def _exchanged(document: Document) -> list[str]:
    if (found := exchanged.table(document)) is None:
        return []
    return [
        f"## {exchanged.TITLE}",
        escape(f"{exchanged.verdict(document)} {found.caption}"),
        block(found.parts(MOST_CANDIDATES + 1)[0], [":--", ":--", "--:", "--:"]),
        *exchanged.notes(document),
    ]


def _asked(document: Document) -> list[str]:
    if not (told := suggested.sentences(document)):
        return []
    found = suggested.largest(document)
    rows = [row("Question", "Queries"), row(":--", "--:")] if found else []
    for head, note, cells in found.rows if found else []:
        rows.append(row(f"{escape(head)} ({escape(note)})", *map(written, cells)))
    return ["## What did users ask?", " ".join(told), "\n".join(rows)]


def _segments(document: Document, unit: Unit) -> list[str]:
    named = document["answer"]["candidate"]
    chosen = [each for each in document["candidates"] if each["candidate"] == named]
    if not chosen or not chosen[0]["segments"]:
        return []
    segments = chosen[0]["segments"]
    head = [
        f"| Segment | Decisions | Improvement {unit.phrase} | Value {unit.phrase} |",
        "|:--|--:|--:|--:|",
    ]
    rows = [
        row(
            escape(f"{each['by']}: {words.segment(each)}"),
            f"{each['decisions']:,}",
            _cell(each["improvement"], unit, sign=True),
            _cell(each["value"], unit, sign=False),
        )
        for each in segments[:MOST_SEGMENTS]
    ]
    left = len(segments) - MOST_SEGMENTS
    return [
        f"## For whom: {escape(named)}",
        "\n".join(head + rows),
        *_footnotes(segments[:MOST_SEGMENTS], unit),
        f"{counted(left, 'more segment')} in the JSON report." if left > 0 else "",
    ]


def _rewards(document: Document) -> list[str]:
    if not (told := rewarded.declared(document)):
        return []
    shown = [judged.without_default(document)]
    if document["rewards"] is not None:
        told += [rewarded.delays(document), *rewarded.known(document)]
        told += [rewarded.selected(document)]
        shown = [
            judged.factors(document),
            judged.decisions(document),
            judged.events(document),
            judged.days(document).parts(MOST_DAYS)[0],
            *shown,
        ]
    blocks = ["## Rewards", escape(" ".join(each for each in told if each))]
    for found in shown:
        if found is not None:
            numbers = ["--:" for _ in found.columns[1:]]
            blocks += [escape(found.caption), block(found, [":--", *numbers])]
            blocks += [f"{escape(mark)} {text}" for mark, text in found.footnotes]
    if (later := quality.known_later(document)) is not None:
        moved = listing(later, "{0}, {1}: published as {2}, with them {3}")
        blocks += [later.caption, "\n".join(moved)]
    return blocks


def _findings(document: Document) -> list[str]:
    told = [*findings.withheld(document), " ".join(findings.unknowable(document))]
    lines = [f"- {escape(each)}" for each in told if each]
    lines += [
        f"- {escape(each['candidate'])}: {_missing(each)}"
        for each in words.ranked(document["candidates"])[:MOST_CANDIDATES]
        if findings.missing_total(each)
    ]
    lines += [f"- {told}" for told in [findings.gaps(document)] if told]
    lines += [
        f"- {entry['day']}, {escape(entry['rule'])}: "
        f"{counted(entry['count'], 'row')} broke the rule"
        for entry in document["violations"][:MOST_LISTED]
    ]
    lines += [f"- {escape(told)}" for told in findings.warnings(document)[:MOST_LISTED]]
    for name, actions in findings.unknown_actions(document):
        named = listed([_unknown(entry) for entry in actions], MOST_LISTED)
        lines.append(f"- {escape(name)} names actions the log does not know: {named}")
    revised = findings.revised(document)
    if revised:
        days = listed([day["day"] for day in revised], MOST_LISTED)
        lines.append(f"- Changed after they were first read: {days}")
    lines += listing(quality.revisions(document), "{0}, {1}: published as {2}, now {3}")
    lines += listing(
        quality.frequencies(document), "{0}, {1}: taken {2} times, expected {3}"
    )
    return [
        "## What was missing or wrong",
        "\n".join(lines) or "Nothing was missing, and no rule was broken.",
    ]


def _missing(candidate: Document) -> str:
    kinds = (("reward", "a reward"), ("support", "support"), ("both", "both"))
    found = [(candidate["missing"][kind], lack) for kind, lack in kinds]
    told = [
        f"{count:,} {'lacks' if count == 1 else 'lack'} {lack}"
        for count, lack in found
        if count
    ]
    return f"of {counted(candidate['decisions'], 'decision')}, {', '.join(told)}"


def _unknown(entry: dict[str, Any]) -> str:
    if entry["nearest"] is None:
        return escape(entry["action"])
    return f"{escape(entry['action'])} (nearest: {escape(entry['nearest'])})"


def _assumptions(document: Document) -> list[str]:
    lines = []
    for entry in findings.assumptions(document):
        found = entry["findings"]
        told = [f"*{each['status']}*: {escape(each['finding'])}" for each in found]
        if len(found) == 1:
            lines.append(f"- {escape(entry['assumption'])} {told[0]}")
            continue
        lines.append(f"- {escape(entry['assumption'])}")
        for each, text in list(zip(found, told, strict=True))[:MOST_CANDIDATES]:
            names = ", ".join(escape(name) for name in each["candidates"])
            lines.append(f"  - {names}, {text}")
    return ["## Assumptions", "\n".join(lines)] if lines else []


def _reading(document: Document, unit: Unit) -> str:
    low, high = document["evaluation"]["reward_range"]
    return (
        f"Improvement is the candidate's mean reward less that of the logging policy, "
        f"{unit.phrase}; rewards lie in {low:g} to {high:g}. The ends of an interval "
        "are rounded outward. Not enough evidence means that 0 lies in the interval: "
        "it says neither that the candidate is better nor that it is not."
    )


def _cell(entry: dict[str, Any], unit: Unit, *, sign: bool) -> str:
    return written(words.cell(entry, unit, sign=sign))


def _footnotes(shown: Sequence[Document], unit: Unit) -> list[str]:
    """A line for each mark that the values and improvements shown carry."""
    entries = [each[name] for each in shown for name in ESTIMANDS if name in each]
    used = {limits.mark(entry, unit) for entry in entries if has_ends(entry)}
    return [f"{escape(m)} {text}" for m, text in limits.FOOTNOTES.items() if m in used]
