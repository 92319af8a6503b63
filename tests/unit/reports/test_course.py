from __future__ import annotations

import datetime as dt
import re

import pytest

from flows.reports.course import course
from flows.reports.drawing import ACCENT, INK, QUIET, SHADE, TINT, Bar

START = dt.date(2019, 1, 1)


def day(number):
    return str(START + dt.timedelta(number))


def drawn(*ends, marks=(), exploratory=()):
    nights = [
        (
            day(i),
            None
            if pair is None
            else Bar(*pair, sum(pair) / 2, day(i), "", is_exploratory=i in exploratory),
        )
        for i, pair in enumerate(ends)
    ]
    return course(nights, [day(i) for i in marks])


def paths(svg, **attributes):
    """The path data of marks that carry exactly these of fill and stroke."""
    wanted = {"fill": None, "stroke": None} | attributes
    found = []
    for tag in re.findall(r"<path[^>]*>", svg):
        held = dict(re.findall(r' ([\w-]+)="([^"]*)"', tag))
        if "class" not in held and all(held.get(n) == v for n, v in wanted.items()):
            found.append(held["d"])
    return found


def corners(path):
    return [
        tuple(map(float, n.split(","))) for n in re.findall(r"[-\d.]+,[-\d.]+", path)
    ]


def test_a_night_is_known_until_the_next_one():
    lines = paths(drawn((-3, 3), (-2, 2), (-1, 1)), stroke=INK)
    assert len(lines) == 2
    for line in lines:
        steps = sorted({x for x, _ in corners(line)})
        assert [x for x, _ in corners(line)] == sorted(x for x, _ in corners(line))
        assert len(steps) == 4
        assert steps[1] - steps[0] == pytest.approx(steps[3] - steps[2], abs=0.01)


def test_ends_that_stay_are_one_level_line():
    lines = paths(drawn((-3, 3), (-1, 1), (-1, 1), (-1, 1)), stroke=INK)
    assert [len({y for _, y in corners(line)}) for line in lines] == [2, 2]


def test_the_band_takes_the_accent_from_the_first_supported_night_on():
    svg = drawn((-1, 3), (0.5, 2), (0.5, 1))
    (before,), (after,) = paths(svg, fill=SHADE), paths(svg, fill=TINT)
    last = max(x for x, _ in corners(before))
    assert last == pytest.approx(min(x for x, _ in corners(after)))
    assert len(paths(svg, stroke=ACCENT)) == 2


def test_a_night_without_an_interval_breaks_the_band():
    assert len(paths(drawn((-3, 3), None, (-1, 1)), fill=SHADE)) == 2


def test_exploratory_nights_are_dashed_and_not_filled():
    svg = drawn((-3, 3), (-2, 2), (-1, 1), exploratory=(0, 1))
    assert len(paths(svg, fill=SHADE)) == 1
    dashed = {"stroke": QUIET, "stroke-dasharray": "3,3"}
    assert len(paths(svg, **dashed)) == 2
    assert len(paths(svg, stroke=INK)) == 2


def test_an_end_beyond_the_picture_has_no_line():
    lines = paths(drawn((-90, 90), (-1, 1), (-1, 1)), stroke=INK)
    assert [len({y for _, y in corners(line)}) for line in lines] == [1, 1]


def test_checkpoints_are_marked_below_the_band():
    without, marked = drawn((-1, 1), (-1, 1)), drawn((-1, 1), (-1, 1), marks=(1,))
    assert marked.count("<line") == without.count("<line") + 1


def test_up_to_a_month_estimates_are_dots_and_beyond_a_line():
    month = drawn(*[(-1, 1)] * 31)
    assert len(paths(month, fill=INK, stroke=INK)) == 31
    longer = drawn(*[(-1, 1)] * 32)
    assert paths(longer, fill=INK, stroke=INK) == []
    assert len(paths(longer, stroke=INK)) == 3


@pytest.mark.parametrize("count", [1, 7, 60, 400])
def test_any_number_of_nights_names_its_first_and_last(count):
    svg = drawn(*[(-2 - 5 / (i + 1), 2 + 5 / (i + 1)) for i in range(count)])
    last = START + dt.timedelta(count - 1)
    assert "1 Jan 2019" in svg
    assert f"{last.day} {last:%b %Y}" in svg
    assert len(svg) < 60_000
