"""Second lines against other tools: another estimator, another solver, random draws."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from flows.intervals import Points
from flows.intervals.approximate import second_lines

FILE = Path(__file__).parent / "data" / "intervals" / "second_lines.json"
CASES = json.loads(FILE.read_text())["cases"]
EVERY = pytest.mark.parametrize("name", CASES)


def ends(case, estimand, method):
    weight, reward, count = (
        np.array(case[name], dtype=float) for name in ("weight", "reward", "count")
    )
    yes = np.ones(weight.size, dtype=bool)
    lines = second_lines(
        Points(weight, reward, ~yes, yes, count),
        estimand,
        max_weight=case["bound"],
        alpha=0.05,
        floor=1 / case["bound"],
    )
    line = next(line for line in lines if line.method == method)
    return [line.lower, line.upper]


@EVERY
@pytest.mark.parametrize("estimand", ["value", "improvement"])
def test_empirical_likelihood_is_the_solution_of_the_primal_problem(name, estimand):
    expected = CASES[name]["likelihood"][estimand]

    found = ends(CASES[name], estimand, "empirical_likelihood")

    assert found == pytest.approx(expected, rel=0, abs=1e-9)


@EVERY
def test_cressie_read_differs_by_the_decision_that_it_makes_up(name):
    case = CASES[name]

    found = ends(case, "value", "empirical_likelihood")

    # One decision, of the largest weight; the likelihood has none.
    share = case["bound"] / sum(case["count"])
    assert found == pytest.approx(case["cressie_read"], rel=0, abs=1.5 * share)


@EVERY
def test_of_a_long_log_cressie_read_and_likelihood_make_the_same(name):
    long = CASES[name] | CASES[name]["long"]
    lower, upper = long["cressie_read"]

    found = ends(long, "value", "empirical_likelihood")

    assert found == pytest.approx([lower, upper], rel=0, abs=0.01 * (upper - lower))


@EVERY
def test_the_normal_line_is_that_of_another_tool(name):
    found = ends(CASES[name], "value", "normal")

    expected = CASES[name]["gaussian"]
    assert found == pytest.approx(expected, rel=0, abs=1e-12)


@EVERY
def test_gaffkes_bound_is_that_of_random_draws(name):
    drawn = CASES[name]["gaffke"]

    found = ends(CASES[name], "value", "gaffke")

    off = np.abs(np.subtract(found, drawn["value"])) / drawn["standard_errors"]
    assert (off < 4).all(), off
