from __future__ import annotations

from flows.intervals import Interval


def test_the_width_is_the_distance_of_the_ends():
    assert Interval(0.25, 1.0).width == 0.75


def test_an_interval_of_one_number_is_not_empty():
    assert not Interval(0.5, 0.5).is_empty


def test_the_intersection_keeps_what_lies_in_both():
    assert Interval(0.0, 0.6).intersect(Interval(0.4, 1.0)) == Interval(0.4, 0.6)


def test_intervals_apart_have_an_empty_intersection():
    assert Interval(0.0, 0.4).intersect(Interval(0.6, 1.0)).is_empty
