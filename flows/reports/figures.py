"""A picture that compares: one interval a row against a line at 0.

An interval that reaches beyond the picture is cut, with an arrow at the cut and its
ends written beside it. Numbers come in the unit shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from flows.reports.drawing import (
    DIGIT,
    INK,
    LINE,
    NARROW,
    QUIET,
    TICK_SIZE,
    Bar,
    Room,
    axis,
    chart,
    scale,
    shortened,
    svg,
    zero,
)
from flows.reports.scales import domain, length, ticks

if TYPE_CHECKING:
    import altair as alt

Align = Literal["left", "right"]

WIDE = 720
DOT = 80  # area
THICK = 2.5
TEXT_SIZE = 14
LETTER = 8  # width of a character of TEXT_SIZE
LEFT, MOST_LEFT, RIGHT = 190, 290, 150  # of a wide picture
GAP = 14  # between text and what is beside it
LEAST_LABEL = 12  # characters
INSET = 8  # of text from the edge of a narrow picture
TALL = 56  # a row with its text above the bar
AGAINST_LOGGING = "earns less", "earns more"


def comparison(
    bars: Sequence[Bar],
    *,
    about: int,
    narrow: bool,
    sides: tuple[str, str] = AGAINST_LOGGING,
) -> str:
    """SVG: one row a bar, 0 marked; labels beside the rows or, when narrow, above.

    about: index of the bar that sets how far the picture reaches. sides: what lies
    below and above 0.
    """
    import altair as alt

    low, high = domain([(bar.lower, bar.upper) for bar in bars], about)
    values = ticks(low, high, 4 if narrow else 6)
    room, most = _room(bars, values, narrow=narrow)
    rows = [
        {"row": i, "label": shortened(bar.label, most)} | bar.datum(low, high)
        for i, bar in enumerate(bars)
    ]
    width = (NARROW if narrow else WIDE) - room.left - room.right
    height = len(bars) * (TALL if narrow else 38)
    above = -15 if narrow else 0  # text stands above the bar
    x = alt.X("lower:Q", scale=scale(low, high), axis=axis(values, grid=not narrow))
    y = alt.Y("row:Q", scale=scale(len(bars) - 0.5, -0.5), axis=None)
    base = chart(rows).encode(y=y)
    moved = base.transform_calculate(row=f"datum.row + {8 / TALL if narrow else 0}")
    start, stop = (INSET, NARROW - INSET) if narrow else (0, WIDE)
    layers = [
        _lines(values, len(bars)) if narrow else zero(vertical=True),
        *_intervals(moved, x),
        _arrow(moved, "below", "triangle-left", 0),
        _arrow(moved, "above", "triangle-right", width),
        _text(base, "label", "left", start - room.left, dy=above),
        _text(base, "note", "right", stop - room.left, dy=above, colour=QUIET),
        _heading(f"\N{LEFTWARDS ARROW} {sides[0]}", "left", 0),
        _heading(f"{sides[1]} \N{RIGHTWARDS ARROW}", "right", width),
    ]
    return svg(layers, width, height, room)


def _room(
    bars: Sequence[Bar], values: list[float], *, narrow: bool
) -> tuple[Room, int]:
    """Room around the plot, and for how many characters of a label."""
    label = max(len(bar.label) for bar in bars)
    note = max(len(bar.note) for bar in bars)
    if narrow:
        side = max(INSET, length(values) * DIGIT // 2)
        left = NARROW - 2 * INSET - note * LETTER - GAP
        return Room(side, side, 30, 26), max(left // LETTER, LEAST_LABEL)
    left = min(max(label * LETTER + GAP, LEFT), MOST_LEFT)
    right = max(note * LETTER + GAP, RIGHT)
    return Room(left, right, 30, 26), (left - GAP) // LETTER


def _intervals(base: alt.Chart, x: alt.X) -> list[alt.Chart]:
    import altair as alt

    stroke = alt.Stroke("colour:N", scale=None)
    fill = alt.Fill("fill:N", scale=None)
    ends = x, alt.X2("upper:Q"), stroke
    return [
        base.transform_filter("!datum.dashed")
        .mark_rule(strokeWidth=THICK)
        .encode(*ends),
        base.transform_filter("datum.dashed")
        .mark_rule(strokeWidth=THICK, strokeDash=[4, 4])
        .encode(*ends),
        base.transform_filter("datum.estimate !== null")
        .mark_point(size=DOT, strokeWidth=THICK * 0.8, opacity=1)
        .encode(alt.X("estimate:Q"), stroke, fill),
    ]


def _lines(values: list[float], rows: int) -> alt.Chart:
    """Grid and zero line in pieces, one a row: none runs through the text above it."""
    import altair as alt

    pieces = [
        {"at": value, "top": row - 0.06, "end": min(row + 0.54, rows - 0.5)}
        | {"colour": LINE if value else QUIET}
        for row in range(rows)
        for value in values
    ]
    stroke = alt.Stroke("colour:N", scale=None)
    y = alt.Y("top:Q", axis=None)
    marked = chart(pieces).mark_rule(strokeWidth=1.2)
    drawn: alt.Chart = marked.encode(alt.X("at:Q"), y, alt.Y2("end:Q"), stroke)
    return drawn


def _text(
    base: alt.Chart,
    field: str,
    align: Align,
    x: float,
    *,
    dy: int = 0,
    colour: str = INK,
) -> alt.Chart:
    import altair as alt

    marked: alt.Chart = base.mark_text(
        align=align, baseline="middle", fontSize=TEXT_SIZE, dy=dy, color=colour
    ).encode(x=alt.value(x), text=f"{field}:N")
    return marked


def _arrow(base: alt.Chart, flag: str, shape: str, x: int) -> alt.Chart:
    import altair as alt

    marked: alt.Chart = (
        base.transform_filter(f"datum.{flag}")
        .mark_point(shape=shape, size=70, opacity=1, filled=True)
        .encode(x=alt.value(x), color=alt.Color("colour:N", scale=None))
    )
    return marked


def _heading(text: str, align: Align, x: int) -> alt.Chart:
    import altair as alt

    marked: alt.Chart = (
        chart([{"text": text}])
        .mark_text(align=align, baseline="middle", fontSize=TICK_SIZE, color=QUIET)
        .encode(x=alt.value(x), y=alt.value(-16), text="text:N")
    )
    return marked
