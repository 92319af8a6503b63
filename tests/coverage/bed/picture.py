"""The large bed as a picture: coverage by setting, a panel an estimand."""

from __future__ import annotations

from bed import judge
from bed.looks import ALL
from bed.peers import CONFIDENCE

from flows.reports.drawing import ACCENT, FONT, INK, LINE, PAPER, QUIET

LOWEST, STEP = 0.9, 0.02
ROW, PANEL, GAP, NAMES = 15, 190, 18, 330
THIN, DOT = 1.6, 34


def picture(settings, tallies):
    """SVG. What lies below the axis is cut there."""
    import altair as alt
    import vl_convert

    names = [name for name in settings if name in tallies]
    panels = [
        panel(rows(names, tallies, estimand), names, estimand) for estimand in ALL
    ]
    together = alt.hconcat(*panels, spacing=GAP).configure(
        background=PAPER, font=FONT, view=alt.ViewConfig(stroke=None), aria=False
    )
    return str(vl_convert.vegalite_to_svg(together.to_dict()))


def rows(names, tallies, estimand):
    """What is drawn of each setting that has the estimand."""
    for name in names:
        tally = tallies[name].get(estimand)
        if tally is None:
            continue
        numbers = tally.covered, tally.replications
        yield {
            "name": name,
            "coverage": max(tally.covered / tally.replications, LOWEST),
            "from": max(judge.least(*numbers), LOWEST),
            "to": judge.most(*numbers),
            "colour": INK if judge.holds(*numbers) else ACCENT,
        }


def across(field, title):
    """The coverage axis."""
    import altair as alt

    return alt.X(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=[LOWEST, 1.0], nice=False, zero=False),
        axis=alt.Axis(
            format=".0%",
            values=[LOWEST + STEP * k for k in range(6)],
            orient="top",
            domain=False,
            ticks=False,
            gridColor=LINE,
            labelColor=QUIET,
        ),
    )


def panel(marks, names, estimand):
    """One estimand: a line from bound to bound and a dot, against the two levels."""
    import altair as alt

    options = {"domain": False, "ticks": False, "labelLimit": NAMES}
    y = alt.Y(
        "name:N",
        sort=names,
        title=None,
        scale=alt.Scale(domain=names),
        axis=alt.Axis(labels=estimand == ALL[0], labelColor=INK, **options),
    )
    colour = alt.Color("colour:N", scale=None)
    drawn = alt.Chart(alt.InlineData(values=list(marks)))
    bounds = drawn.mark_rule(strokeWidth=THIN).encode(
        across("from", estimand), y, color=colour, x2="to:Q"
    )
    dots = drawn.mark_point(filled=True, size=DOT, opacity=1).encode(
        across("coverage", estimand), y, color=colour
    )
    levels = [
        level(judge.LEAST_COVERAGE, [4, 3], estimand),
        level(CONFIDENCE, [1, 0], estimand),
    ]
    return alt.layer(*levels, bounds, dots, width=PANEL, height=ROW * len(names))


def level(coverage, dash, title):
    """A vertical line."""
    import altair as alt

    one = alt.Chart(alt.InlineData(values=[{"level": coverage}]))
    return one.mark_rule(color=QUIET, strokeDash=dash).encode(across("level", title))
