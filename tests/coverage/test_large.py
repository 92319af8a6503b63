"""The large bed in small: chunks that add up, a state that is picked up, a page."""

from __future__ import annotations

import json

import large
import numpy as np
import pytest
from bed import judge
from bed.looks import ALL, Found
from bed.picture import picture
from bed.report import markdown
from bed.settings import Setting
from bed.tally import Tally, tallied, together


def draw_one(random, *, with_peers):
    """What is found: the truth lies below once in ten times."""
    width = float(random.uniform(1.0, 2.0))
    peers = {"normal": 2.0 * width} if with_peers else {}
    return {
        "value": Found(
            bool(random.uniform() < 0.1), is_above=False, width=width, peers=peers
        )
    }


ONE = Setting("one", "fixed", 10, draw_one)


def test_bounds_are_those_of_clopper_and_pearson():
    assert judge.least(60, 60) == pytest.approx(0.01 ** (1 / 60))
    assert judge.most(0, 60) == pytest.approx(1 - 0.01 ** (1 / 60))
    # P(9 or more of 10) = 10 p^9 - 9 p^10 is 1 % at this p.
    p = judge.least(9, 10)
    assert 10 * p**9 - 9 * p**10 == pytest.approx(0.01)


def test_chunks_add_up_to_the_whole():
    parts = [tallied(ONE, 0, 30), tallied(ONE, 30, 40), tallied(ONE, 40, 60)]

    added, whole = together(parts)["value"], tallied(ONE, 0, 60)["value"]

    assert (added.missed, added.replications) == (whole.missed, 60)
    assert added.width == pytest.approx(whole.width)
    assert added.against("normal") == pytest.approx(0.5)
    assert np.isnan(added.against("compat"))


def test_what_is_done_is_picked_up(tmp_path, monkeypatch):
    monkeypatch.setattr(large, "beds", lambda: {"coverage": {"one": ONE}, "widths": {}})
    first, more = large.chunks(60, 1), large.chunks(80, 1)
    done = {key: large.work(*one) for key, one in first.items()}

    large.save(tmp_path / "coverage.json", done)
    read = large.read(tmp_path / "coverage.json")
    left = [one for key, one in more.items() if key not in read]

    assert read == json.loads(json.dumps(done))
    assert left == [("coverage", "one", 50, 80)]
    done = {**read, **{json.dumps(one): large.work(*one) for one in left}}
    tally = large.tallies_of("coverage", done)["one"]["value"]
    assert tally.replications == 80


def test_counts_of_other_code_are_not_picked_up(tmp_path, monkeypatch):
    file = tmp_path / "coverage.json"
    large.save(file, {})
    monkeypatch.setattr(large, "digest", lambda: "other")

    assert large.read(file) == {}


def test_page_and_picture_show_what_does_not_hold():
    good, bad = Tally(replications=500), Tally(replications=500, missed=100, below=100)
    settings = {"good, fixed": ONE, "bad, fixed": ONE}
    tallies = {"good, fixed": {"value": good}, "bad, fixed": {"value": bad}}

    page = markdown(settings, tallies, {}, {})

    assert "Not certain: bad, fixed, value." in page
    assert "| 500 | 0.8000 | 0.7551 | 0.8401 | 100 / 0 |" in page
    drawn = picture(settings, tallies)
    assert all(text in drawn for text in (*ALL, "good, fixed", "bad, fixed"))
