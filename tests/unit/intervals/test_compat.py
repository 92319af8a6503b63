from __future__ import annotations

import numpy as np
import pytest

from flows.intervals import bounded_mean


def interval(values, *, missing=0, value_range=(0.0, 1.0), confidence=0.95):
    low, high = value_range
    return bounded_mean(
        np.array([*values, *[low] * missing], dtype=float),
        np.array([*values, *[high] * missing], dtype=float),
        np.ones(len(values) + missing),
        value_range=value_range,
        confidence=confidence,
    )


def test_counts_stand_for_repeated_rows():
    values = np.array([0.2, 0.9])

    found = bounded_mean(
        values,
        values,
        np.array([30.0, 12.0]),
        value_range=(0.0, 1.0),
        confidence=0.95,
    )

    assert found == interval([0.2] * 30 + [0.9] * 12)


def test_scaling_values_and_range_scales_the_interval():
    unit = interval([0.1, 0.4, 0.8] * 20)

    scaled = interval([-1.4, 0.4, 2.8] * 20, value_range=(-2.0, 4.0))

    assert scaled.lower == pytest.approx(-2 + 6 * unit.lower, abs=1e-11)
    assert scaled.upper == pytest.approx(-2 + 6 * unit.upper, abs=1e-11)


def test_mirroring_values_mirrors_the_interval():
    found = interval([0.0, 0.3, 0.9] * 9)

    mirror = interval([1.0, 0.7, 0.1] * 9)

    assert found.lower == pytest.approx(1 - mirror.upper, abs=1e-11)


def test_missing_rows_widen_both_ends():
    found, complete = interval([0.5] * 50, missing=10), interval([0.5] * 50)

    assert found.lower < complete.lower
    assert found.upper > complete.upper


def test_all_rows_missing_leave_the_whole_range():
    found = interval([], missing=5, value_range=(-1.0, 3.0))

    assert (found.lower, found.upper) == (-1.0, 3.0)


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_one_row_gives_a_wide_interval_within_the_range(value):
    found = interval([value])

    assert 0.0 <= found.lower <= value <= found.upper <= 1.0
    assert found.width > 0.9


def test_millions_of_distinct_values_are_no_different():
    rng = np.random.default_rng(5)
    values = rng.permutation(np.linspace(0.0, 0.5, 200_000))
    ones = np.ones(values.size)

    found = bounded_mean(values, values, ones, value_range=(0.0, 1.0), confidence=0.95)

    backwards = values[::-1]
    assert found == bounded_mean(
        backwards, backwards, ones, value_range=(0.0, 1.0), confidence=0.95
    )
    assert found.lower < 0.25 < found.upper


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"value_range": (1.0, 1.0)}, "does not ascend"),
        ({"confidence": 1.0}, "confidence 1.0 lies outside"),
        ({"values": [0.5, 1.5]}, "low_values holds a value outside"),
        ({"values": [float("nan")]}, "low_values holds a value outside"),
        ({"values": []}, "positive somewhere"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        interval(**{"values": [0.5], **arguments})


def test_arrays_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match="differ in shape"):
        bounded_mean(
            np.ones(2), np.ones(2), np.ones(3), value_range=(0.0, 1.0), confidence=0.9
        )
