"""The large bed as a page."""

from __future__ import annotations

import math

from bed import judge
from bed.bars import bars, reached
from bed.looks import ALL
from bed.peers import PEERS

ABOUT = """\
# Coverage

Written by `python tests/coverage/large.py`; `coverage.json` holds the counts of every
chunk. Confidence 95 %, two-sided. Where there are many looks, covered means that none
of them left the truth out. Bounds are one-sided, 99 % each: a setting holds when the
lower one is at least 93.5 %, all together at 95 %.

A width is a mean over that of a peer on the same draws: the plain normal interval,
empirical likelihood (from 25 decisions times floor on) and `compat` cut to what is
possible. Only `compat` is valid at few decisions.
"""
COVERAGE_HEAD = """
![Coverage by setting, with 99 % bounds](coverage.svg)

| setting | method | estimand | decisions | replications | coverage | from | to \
| below / above | normal | likelihood | compat |
| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |
"""
WIDTHS_HEAD = """
# Widths

Ratios of mean widths; `widest` is the largest ratio of any draw. The bars are for the
value; the improvement stands beside it.

| setting | method | against | at most | value | improvement | draws | bar |
| --- | --- | --- | --: | --: | --: | --: | --- |
"""


def markdown(settings, tallies, drawn, measured):
    """The page: verdict, coverage by setting, bars.

    settings: of the large bed, by name. tallies: by name and estimand, those of the
    bed. drawn, measured: the same of the bars.
    """
    parts = [ABOUT, verdict(tallies), COVERAGE_HEAD]
    parts += [f"{row}\n" for row in coverage_rows(settings, tallies)]
    parts.append(WIDTHS_HEAD)
    parts += [f"{row}\n" for row in bar_rows(drawn, measured)]
    return "".join(parts)


def verdict(tallies):
    """What the judge says of all settings together and of each."""
    each = {
        f"{name}, {estimand}": tally
        for name, of in tallies.items()
        for estimand, tally in of.items()
    }
    covered = sum(tally.covered for tally in each.values())
    total = sum(tally.replications for tally in each.values())
    low = judge.least(covered, total)
    word = "holds" if judge.holds_pooled(covered, total) else "MISSED"
    open_ones = [
        name
        for name, tally in each.items()
        if not judge.holds(tally.covered, tally.replications)
    ]
    text = (
        f"\nTogether: {covered:,} of {total:,} covered, {covered / total:.4f}, at "
        f"least {low:.4f}: {word}. "
    )
    if not open_ones:
        return f"{text}Every setting holds.\n"
    return f"{text}Not certain: {'; '.join(open_ones)}.\n"


def coverage_rows(settings, tallies):
    """A row of the table for each setting and estimand."""
    for name, setting in settings.items():
        for estimand in ALL:
            tally = tallies.get(name, {}).get(estimand)
            if tally is None:
                continue
            share = tally.covered / tally.replications
            cells = [
                setting.name,
                setting.method,
                estimand,
                f"{setting.decisions:,}",
                f"{tally.replications:,}",
                f"{share:.4f}",
                f"{judge.least(tally.covered, tally.replications):.4f}",
                f"{judge.most(tally.covered, tally.replications):.4f}",
                f"{tally.below} / {tally.above}",
                *(ratio(tally.against(peer)) for peer in PEERS),
            ]
            yield f"| {' | '.join(cells)} |"


def ratio(number):
    """A ratio of widths; nothing where there is none."""
    return "" if math.isnan(number) else f"{number:.2f}"


def bar_rows(drawn, measured):
    """A row of the table for each bar that was measured."""
    for bar in bars():
        if bar.setting not in measured:
            continue
        one, found = drawn[bar.setting], measured[bar.setting]
        value, improvement = (reached(found[e], bar) for e in ("value", "improvement"))
        digits = 4 if bar.peer == "exact" else 2
        cells = [
            one.name,
            one.method,
            f"{bar.peer}, widest" if bar.never else bar.peer,
            f"{bar.limit:g}",
            f"{value:.{digits}f}",
            f"{improvement:.{digits}f}",
            f"{found['value'].compared:,}",
            "met" if value <= bar.limit else "MISSED",
        ]
        yield f"| {' | '.join(cells)} |"
