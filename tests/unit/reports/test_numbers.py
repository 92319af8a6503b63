from __future__ import annotations

import math

import pytest

from flows.reports.numbers import (
    MINUS,
    Unit,
    canonical,
    difference,
    ends,
    percent,
    shown,
    signed,
    significant,
    unit_of,
)

EACH = Unit(1, "per decision")
HUNDRED = Unit(100, "per 100 decisions")


@pytest.mark.parametrize(
    ("lower", "upper", "told"),
    [
        (0.1234, 0.4567, "+0.12 to +0.46"),
        (-0.1234, 0.4567, MINUS + "0.13 to +0.46"),
        (-0.991, 0.011, MINUS + "1.0 to +0.1"),
        (12.3, 1234.5, "+12 to +1,235"),
        (0.3, 0.7, "+0.30 to +0.70"),
        (0.0, 0.0, "0"),
        (0.25, 0.25, "+0.250"),
        (-1e-13, 0.5, MINUS + "0.01 to +0.50"),
    ],
)
def test_ends_are_rounded_outward_to_two_digits_of_the_width(lower, upper, told):
    assert ends(shown(lower, upper, None, EACH), sign=True) == told


@pytest.mark.parametrize("step", range(1, 400, 7))
def test_what_is_shown_is_never_narrower_than_what_holds(step):
    lower, upper = math.sin(step) / 3, math.sin(step) / 3 + step / 170
    pair = shown(lower, upper, None, HUNDRED)
    assert float(pair.lower) <= lower * 100 + 1e-12
    assert float(pair.upper) >= upper * 100 - 1e-12
    assert float(pair.upper - pair.lower) <= (upper - lower) * 100 * 1.2 + 1e-12


def test_an_end_above_zero_is_never_shown_as_zero():
    pair = shown(0.0012, 0.5, 0.2, EACH)
    assert ends(pair, sign=True) == "+0.001 to +0.50"
    assert signed(pair.estimate) == "+0.20"


def test_a_value_keeps_the_digits_of_its_width():
    pair = shown(0.0012, 0.5, 0.2, EACH, sign=False)
    assert ends(pair, sign=False) == "0.00 to 0.50"


def test_binary_residue_widens_nothing():
    assert ends(shown(0.1 + 0.2, 0.7, None, EACH), sign=True) == "+0.30 to +0.70"


@pytest.mark.parametrize(
    ("lower", "upper", "told"),
    [
        (0.001, 0.004, "0.10 to 0.40 more reward"),
        (-0.004, -0.001, "0.10 to 0.40 less reward"),
        (-0.009, 0.013, "between 0.9 less and 1.3 more reward"),
        (0.0, 0.013, "0.0 to 1.3 more reward"),
        (0.0, 0.0, "exactly as much reward"),
    ],
)
def test_improvements_read_as_words(lower, upper, told):
    assert difference(shown(lower, upper, None, HUNDRED), "reward") == told


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (0.95, "95 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.0001, "less than 0.1 %"),
        (0.9999, "more than 99.9 %"),
        (0.1234, "12.3 %"),
    ],
)
def test_a_share_that_is_neither_none_nor_all_does_not_read_so(share, told):
    assert percent(share) == told


@pytest.mark.parametrize(
    ("number", "told"), [(0.99999, "1.000"), (1.0, "1.000"), (909.2, "909.2"), (0, "0")]
)
def test_numbers_without_interval_keep_their_digits_across_powers_of_ten(number, told):
    assert significant(number, 4) == told


def test_only_rewards_from_0_to_1_are_shown_per_100_decisions():
    assert unit_of((0.0, 1.0)) == HUNDRED
    assert unit_of((-1.0, 1.0)) == Unit(1, "per decision", 2.0)


def test_floats_keep_12_digits_and_nan_becomes_null():
    found = canonical({"a": [1 / 3, math.nan, -0.0, math.inf], "b": (1, None, True)})
    assert found == {"a": [0.333333333333, None, 0.0, None], "b": [1, None, True]}
    assert math.copysign(1, found["a"][2]) == 1
