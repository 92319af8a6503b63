"""What the pictures of intervals share: colours, an interval, axes, the way to SVG.

Room for text is given in pixels and no text is measured, so the bytes do not depend on
the fonts of the machine. Colours are seven fixed values; the page's style sheet
repaints each of them by attribute, which gives one SVG a light and a dark form. What
colour says is also said by position and by form: the dot is filled in the accent above
0, in ink across it, hollow below it; what is exploratory is dashed and quiet.

Altair writes the SVG without a browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flows.reports.scales import places

if TYPE_CHECKING:
    import altair as alt

INK = "#1c2024"
QUIET = "#5d666f"
LINE = "#e3e6e9"
ACCENT = "#0b62c4"
TINT = "#d9e7f7"
SHADE = "#eceef0"
PAPER = "#fffffe"

NARROW = 343  # pixels, of a telephone's column
TICK_SIZE = 12
DIGIT = 9  # width of a character of TICK_SIZE, generously
FONT = "system-ui, sans-serif"


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
    is_exploratory: bool = False

    @property
    def colour(self) -> str:
        """The accent for what lies above 0, ink for all else that decides."""
        if self.is_exploratory:
            return QUIET
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
            "dashed": self.is_exploratory,
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


def shortened(text: str, most: int) -> str:
    """A label that fits, without characters that cannot stand in a picture."""
    kept = "".join(c if c.isprintable() else " " for c in text)
    return kept if len(kept) <= most else f"{kept[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def chart(rows: Sequence[dict[str, Any]]) -> alt.Chart:
    """A chart over rows of its own."""
    import altair as alt

    made: alt.Chart = alt.Chart(alt.InlineData(values=list(rows)))
    return made


def zero(*, vertical: bool) -> alt.Chart:
    """The line at 0."""
    import altair as alt

    at = alt.X("zero:Q") if vertical else alt.Y("zero:Q")
    marked: alt.Chart = (
        chart([{"zero": 0}]).mark_rule(color=QUIET, strokeWidth=1.2).encode(at)
    )
    return marked


def scale(low: float, high: float) -> alt.Scale:
    """A scale that ends where it is told to."""
    import altair as alt

    return alt.Scale(domain=[low, high], nice=False, zero=False)


def axis(values: list[float], *, grid: bool) -> alt.Axis:
    """An axis marked at the values, with signs."""
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


def svg(layers: list[alt.Chart], width: int, height: int, room: Room) -> str:
    """The layers, one on the other, as SVG."""
    import altair as alt
    import vl_convert

    layered = alt.layer(
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
    return str(vl_convert.vegalite_to_svg(layered.to_dict()))
