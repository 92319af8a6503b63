"""A picture of one candidate's interval closing in, night by night.

What was known after a night is known until the next one, so the interval is a band of
steps: each night holds from its date to that of the next night drawn. Methods whose
ends never move outward show as stairs towards each other. The band breaks where a night
gave no interval, and is dashed, without fill, where it is exploratory. An end that lies
beyond the picture is cut at its edge and has no line there.

Up to a month each night's estimate is a dot, beyond that a line. Short marks below the
band are checkpoints.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from flows.reports.drawing import (
    ACCENT,
    DIGIT,
    INK,
    NARROW,
    QUIET,
    SHADE,
    TINT,
    Bar,
    Room,
    axis,
    chart,
    scale,
    svg,
    zero,
)
from flows.reports.phrases import MONTHS
from flows.reports.scales import REACH, domain, length, ticks

if TYPE_CHECKING:
    import altair as alt

Rows = list[dict[str, Any]]

HEIGHT = 176
DENSE = 31  # nights beyond which estimates are a line
DENSE_REACH = 2.5  # of so many nights the first ones are of less interest
DOT = 36  # area
THICK = 1.6
MIDDAY = 0.5
MARK = 6  # pixels, of a checkpoint
FLUSH = 20  # pixels from an end of the axis, within which a date ends there, too


def course(nights: Sequence[tuple[str, Bar | None]], marks: Collection[str]) -> str:
    """SVG: the interval on each night, oldest first.

    nights: ISO date and interval; None where a night gave none, not the last of all.
    marks: dates of checkpoints.
    """
    bars = [bar for _, bar in nights if bar is not None]
    last, times = len(bars) - 1, REACH if len(bars) <= DENSE else DENSE_REACH
    low, high = domain([(bar.lower, bar.upper) for bar in bars], last, times)
    start = [dt.date.fromisoformat(night).toordinal() for night, _ in nights]
    until = [*start[1:], start[-1] + 1]
    drawn = [
        {"at": at, "until": end} | bar.datum(low, high)
        for at, end, (_, bar) in zip(start, until, nights, strict=True)
        if bar is not None
    ]
    marked = [
        at for at, (night, _) in zip(start, nights, strict=True) if night in marks
    ]
    values = ticks(low, high, 4)
    room = Room(max(50, length(values) * DIGIT + 12), 10, 8, 28)
    width, height = NARROW - room.left - room.right, HEIGHT - room.top - room.bottom
    x, y = _axes((start[0], until[-1]), (low, high), values)
    layers = [
        *_band(drawn, x, y),
        zero(vertical=False),
        *_edges(drawn, x),
        *_estimates(drawn, x),
        *_marks(marked, x, height),
    ]
    return svg(layers, width, height, room)


def _axes(
    days: tuple[int, int], ends: tuple[float, float], values: list[float]
) -> tuple[alt.X, alt.Y]:
    """Time, the first and the last night named at the band's ends; the unit shown."""
    import altair as alt

    first, last = (_short(day) for day in (days[0], days[1] - 1))
    is_one = first == last
    dates = axis([days[0] + MIDDAY] if is_one else list(map(float, days)), grid=False)
    dates.labelExpr = f"datum.value == {days[1]} ? '{last}' : '{first}'"
    dates.labelFlush = False if is_one else FLUSH
    dates.labelPadding = 12
    margin = (days[1] - days[0]) * 0.02
    return (
        alt.X("at:Q", scale=scale(days[0] - margin, days[1] + margin), axis=dates),
        alt.Y("lower:Q", scale=scale(*ends), axis=axis(values, grid=True)),
    )


def _short(ordinal: int) -> str:
    day = dt.date.fromordinal(ordinal)
    return f"{day.day} {MONTHS[day.month - 1][:3]} {day.year}"


def _runs(drawn: Rows, *, by_colour: bool = True) -> Iterator[Rows]:
    """Nights that follow each other, of one colour or of any."""
    run: Rows = []
    for row in drawn:
        follows = bool(run) and row["at"] == run[-1]["until"]
        if run and not (
            follows and (row["colour"] == run[-1]["colour"] or not by_colour)
        ):
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def _steps(drawn: Rows) -> Rows:
    """Rows of each run, numbered, and one more that ends its last step."""
    return [
        {"run": number} | row
        for number, run in enumerate(_runs(drawn))
        for row in (*run, run[-1] | {"at": run[-1]["until"]})
    ]


def _band(drawn: Rows, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    import altair as alt

    steps = [
        row | {"tint": TINT if row["colour"] == ACCENT else SHADE}
        for row in _steps([row for row in drawn if not row["dashed"]])
    ]
    tint = alt.Fill("tint:N", scale=None)
    return [
        chart(steps)
        .mark_area(interpolate="step-after", opacity=1)
        .encode(x, y, alt.Y2("upper:Q"), tint, alt.Detail("run:N"))
    ]


def _edges(drawn: Rows, x: alt.X) -> list[alt.Chart]:
    """The ends as lines, where they are not cut."""
    import altair as alt

    stroke, run = alt.Stroke("colour:N", scale=None), alt.Detail("run:N")
    layers = []
    for end, cut in (("lower", "below"), ("upper", "above")):
        for dashed in (False, True):
            rows = [r for r in drawn if not r[cut] and r["dashed"] == dashed]
            line = chart(_steps(rows)).mark_line(
                interpolate="step-after",
                strokeWidth=THICK,
                strokeDash=[3, 3] if dashed else alt.Undefined,
            )
            if rows:
                layers.append(line.encode(x, alt.Y(f"{end}:Q"), stroke, run))
    return layers


def _estimates(drawn: Rows, x: alt.X) -> list[alt.Chart]:
    import altair as alt

    rows = [
        {"run": number} | row | {"at": row["at"] + MIDDAY}
        for number, run in enumerate(_runs(drawn, by_colour=False))
        for row in run
        if row["estimate"] is not None
    ]
    at, stroke = alt.Y("estimate:Q"), alt.Stroke("colour:N", scale=None)
    if len(drawn) > DENSE:
        line = chart(rows).mark_line(strokeWidth=1, stroke=INK)
        return [line.encode(x, at, alt.Detail("run:N"))]
    dots = chart(rows).mark_point(size=DOT, strokeWidth=THICK, opacity=1)
    return [dots.encode(x, at, stroke, alt.Fill("fill:N", scale=None))]


def _marks(days: Sequence[int], x: alt.X, height: int) -> list[alt.Chart]:
    import altair as alt

    rows = [{"at": day + MIDDAY} for day in days]
    marked = chart(rows).mark_rule(color=QUIET, strokeWidth=1.5)
    ends = {"y": alt.value(height), "y2": alt.value(height + MARK)}
    return [marked.encode(x, **ends)] if rows else []
