"""Pictures of intervals, drawn by Altair and written as SVG without a browser.

Two pictures: `comparison`, one interval a row against a line at 0, and `course`, the
interval of one candidate closing in, night by night. Numbers come in the unit shown.

Room for text is given in pixels and no text is measured, so the bytes do not depend on
the fonts of the machine. Colours are five fixed values; the page's style sheet repaints
each of them by attribute, which gives one SVG a light and a dark form. What colour says
is also said by position and by the form of the dot: filled in the accent above 0, in
ink across it, hollow below it.

An interval that reaches beyond the picture is cut: in a comparison with an arrow at the
cut and its ends written beside it, in a course at the edge.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flows.reports.answer import MONTHS
from flows.reports.scales import domain, length, places, ticks

if TYPE_CHECKING:
    import altair as alt

Align = Literal["left", "right"]

INK = "#1c2024"
QUIET = "#5d666f"
LINE = "#e3e6e9"
ACCENT = "#0b62c4"
PAPER = "#fffffe"

WIDE, NARROW = 720, 343
COURSE_WIDTH, COURSE_HEIGHT = 343, 170
DENSE = 31  # nights beyond which dots are drawn small
ROW_DOT, NIGHT_DOT = 80, 40  # areas
TEXT_SIZE, TICK_SIZE = 14, 12
INSET = 8  # of text from the edge of a narrow picture
TALL = 56  # a row with its text above the bar
DIGIT = 9  # width of a character of TICK_SIZE, generously
FONT = "system-ui, sans-serif"
DISTANT = "\N{LEFTWARDS ARROW} ", " \N{RIGHTWARDS ARROW}"


@dataclass(frozen=True, slots=True)
class Bar:
    """One interval of a picture, lower <= upper, in the unit shown.

    estimate: where the dot stands, if there is one. label: what it is about, an ISO
    date in a course. note: its ends in words.
    """

    lower: float
    upper: float
    estimate: float | None
    label: str
    note: str = ""

    @property
    def colour(self) -> str:
        """The accent for what lies above 0, ink for all else."""
        return ACCENT if self.lower > 0 else INK

    def datum(self, low: float, high: float) -> dict[str, Any]:
        """The row that Altair draws, cut to an axis from low to high."""
        at = self.estimate
        return {
            "lower": min(max(self.lower, low), high),
            "upper": max(min(self.upper, high), low),
            "estimate": None if at is None or not low <= at <= high else at,
            "note": self.note,
            "colour": self.colour,
            "fill": PAPER if self.upper < 0 else self.colour,
            "below": self.lower < low,
            "above": self.upper > high,
        }


@dataclass(frozen=True, slots=True)
class Room:
    """Pixels around the plot, for labels."""

    left: int
    right: int
    top: int
    bottom: int


def comparison(bars: Sequence[Bar], *, about: int, narrow: bool) -> str:
    """SVG: one row a bar, 0 marked; labels beside the rows or, when narrow, above.

    about: index of the bar that sets how far the picture reaches.
    """
    import altair as alt

    low, high = domain([(bar.lower, bar.upper) for bar in bars], about)
    rows = [
        {"row": i, "label": shortened(bar.label, 22)} | bar.datum(low, high)
        for i, bar in enumerate(bars)
    ]
    values = ticks(low, high, 4 if narrow else 6)
    side = max(INSET, length(values) * DIGIT // 2)
    room = Room(side, side, 30, 26) if narrow else Room(190, 150, 30, 26)
    width = (NARROW if narrow else WIDE) - room.left - room.right
    height = len(bars) * (TALL if narrow else 38)
    above = -15 if narrow else 0  # text stands above the bar
    x = alt.X("lower:Q", scale=_scale(low, high), axis=_axis(values, grid=not narrow))
    y = alt.Y("row:Q", scale=_scale(len(bars) - 0.5, -0.5), axis=None)
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y)
    moved = base.transform_calculate(row=f"datum.row + {8 / TALL if narrow else 0}")
    start, stop = (INSET, NARROW - INSET) if narrow else (0, WIDE)
    layers = [
        _lines(values, len(bars)) if narrow else _zero(vertical=True),
        *_intervals(moved, x, alt.X2("upper:Q"), alt.X("estimate:Q"), ROW_DOT),
        _arrow(moved, "below", "triangle-left", 0),
        _arrow(moved, "above", "triangle-right", width),
        _text(base, "label", "left", start - room.left, dy=above),
        _text(base, "note", "right", stop - room.left, dy=above, colour=QUIET),
        _heading(f"{DISTANT[0]}earns less", "left", 0),
        _heading(f"earns more{DISTANT[1]}", "right", width),
    ]
    return _svg(layers, width, height, room)


def course(bars: Sequence[Bar]) -> str:
    """SVG: one candidate's interval on each night, oldest first."""
    import altair as alt

    low, high = domain([(bar.lower, bar.upper) for bar in bars], len(bars) - 1)
    days = [dt.date.fromisoformat(bar.label).toordinal() for bar in bars]
    rows = [
        {"day": day} | bar.datum(low, high) for day, bar in zip(days, bars, strict=True)
    ]
    values = ticks(low, high, 4)
    room = Room(max(50, length(values) * DIGIT + 12), 10, 8, 24)
    axis = _axis([float(days[0]), float(days[-1])], grid=False)
    axis.labelExpr = (
        f"datum.value == {days[0]} ? '{_short(days[0])}' : '{_short(days[-1])}'"
    )
    axis.labelFlush = 20
    margin = max(days[-1] - days[0], 1) * 0.03
    x = alt.X("day:Q", scale=_scale(days[0] - margin, days[-1] + margin), axis=axis)
    y = alt.Y("lower:Q", scale=_scale(low, high), axis=_axis(values, grid=True))
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x)
    size = NIGHT_DOT if len(bars) <= DENSE else 10
    layers = [
        _zero(vertical=False),
        *_intervals(base, y, alt.Y2("upper:Q"), alt.Y("estimate:Q"), size),
    ]
    width = COURSE_WIDTH - room.left - room.right
    return _svg(layers, width, COURSE_HEIGHT - room.top - room.bottom, room)


def shortened(text: str, most: int) -> str:
    """A label that fits, without characters that cannot stand in a picture."""
    kept = "".join(c if c.isprintable() else " " for c in text)
    return kept if len(kept) <= most else f"{kept[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def _short(ordinal: int) -> str:
    day = dt.date.fromordinal(ordinal)
    return f"{day.day} {MONTHS[day.month - 1][:3]} {day.year}"


def _intervals(
    base: alt.Chart,
    start: alt.X | alt.Y,
    stop: alt.X2 | alt.Y2,
    at: alt.X | alt.Y,
    size: int,
) -> list[alt.Chart]:
    import altair as alt

    stroke = alt.Stroke("colour:N", scale=None)
    fill = alt.Fill("fill:N", scale=None)
    thick = 2.5 if size > NIGHT_DOT else 1.5
    return [
        base.mark_rule(strokeWidth=thick).encode(start, stop, stroke),
        base.mark_point(size=size, strokeWidth=thick * 0.8, opacity=1)
        .encode(at, stroke, fill)
        .transform_filter("datum.estimate !== null"),
    ]


def _zero(*, vertical: bool) -> alt.Chart:
    import altair as alt

    at = alt.X("zero:Q") if vertical else alt.Y("zero:Q")
    chart = alt.Chart(alt.InlineData(values=[{"zero": 0}]))
    marked: alt.Chart = chart.mark_rule(color=QUIET, strokeWidth=1.2).encode(at)
    return marked


def _lines(values: list[float], rows: int) -> alt.Chart:
    """Grid and zero line in pieces, one a row: none runs through the text above it."""
    import altair as alt

    pieces = [
        {"at": value, "top": row - 0.06, "end": min(row + 0.54, rows - 0.5)}
        | {"colour": LINE if value else QUIET}
        for row in range(rows)
        for value in values
    ]
    chart = alt.Chart(alt.InlineData(values=pieces)).mark_rule(strokeWidth=1.2)
    stroke = alt.Stroke("colour:N", scale=None)
    y = alt.Y("top:Q", axis=None)
    drawn: alt.Chart = chart.encode(alt.X("at:Q"), y, alt.Y2("end:Q"), stroke)
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

    chart = base.transform_filter(f"datum.{flag}").mark_point(
        shape=shape, size=70, opacity=1, filled=True
    )
    marked: alt.Chart = chart.encode(
        x=alt.value(x), color=alt.Color("colour:N", scale=None)
    )
    return marked


def _heading(text: str, align: Align, x: int) -> alt.Chart:
    import altair as alt

    chart = alt.Chart(alt.InlineData(values=[{"text": text}]))
    marked: alt.Chart = chart.mark_text(
        align=align, baseline="middle", fontSize=TICK_SIZE, color=QUIET
    ).encode(x=alt.value(x), y=alt.value(-16), text="text:N")
    return marked


def _scale(low: float, high: float) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=[low, high], nice=False, zero=False)


def _axis(values: list[float], *, grid: bool) -> alt.Axis:
    import altair as alt

    label = f"format(datum.value, '+,.{places(values)}f')"
    return alt.Axis(
        values=values,
        tickCount=len(values),  # else some of them are left out
        labelExpr=f"datum.value == 0 ? '0' : {label}",
        labelColor=QUIET,
        labelFontSize=TICK_SIZE,
        labelPadding=8,
        labelFlush=False,
        labelOverlap=False,
        labelBound=False,
        title=None,
        domain=False,
        ticks=False,
        grid=grid,
        gridColor=LINE,
    )


def _svg(layers: list[alt.Chart], width: int, height: int, room: Room) -> str:
    import altair as alt
    import vl_convert

    chart = alt.layer(
        *layers,
        width=width,
        height=height,
        background="transparent",
        autosize=alt.AutoSizeParams(type="none"),
        padding={
            "left": room.left,
            "right": room.right,
            "top": room.top,
            "bottom": room.bottom,
        },
        config=alt.Config(aria=False, font=FONT, view=alt.ViewConfig(stroke=None)),
    )
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))
