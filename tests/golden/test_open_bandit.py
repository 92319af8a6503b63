"""The three campaigns of the shop: figures of the notice, nights that close in."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from flows import steps
from flows.asked import Asked
from flows.job import load

# Importance weighted means that the data's notice states.
VALUES = {"men": 0.004539, "women": 0.006809, "all": 0.004571}


@pytest.fixture(scope="module")
def night(tmp_path_factory):
    """Runs all nights of a job; returns its results and the newest night's report."""
    folder = tmp_path_factory.mktemp("open_bandit")
    logs = Path(__file__).parents[2] / "data" / "open_bandit"
    shutil.copytree(logs, folder / "jobs", ignore=shutil.ignore_patterns("results"))

    def run(name):
        job = load(folder / "jobs" / f"{name}.toml")
        with steps.alone(job):
            plan = steps.plan(job, Asked())
            steps.check(plan)
            steps.judge(plan)
            for day in steps.uncounted(plan):
                steps.count(plan, day)
            made = steps.estimate(plan)
            steps.publish(plan, days_read=7, nights_estimated=made)
            sentence, files = steps.report(plan)
        estimates = pl.read_parquet(job.results / "tables" / "estimates.parquet")
        return estimates, sentence, files["markdown"].read_text()

    return run


@pytest.mark.parametrize("campaign", VALUES)
def test_thompson_on_the_random_log_closes_in_night_by_night(campaign, night):
    estimates, _, _ = night(f"{campaign}_random")
    value = estimates.filter(
        candidate="thompson", other="", estimand="value", window="since_start"
    ).sort("night")
    assert value.height == 7
    assert value["estimate"][-1] == pytest.approx(VALUES[campaign], abs=5e-7)
    # What was excluded once stays excluded, and a week narrows the first night's width.
    assert value["lower"].is_sorted()
    assert value["upper"].is_sorted(descending=True)
    width = value["upper"] - value["lower"]
    assert width[-1] < width[0] / 3
    assert set(value["look"]) == {"every look"}
    pair = estimates.filter(other="uniform", window="since_start").sort("night")
    assert pair["lower"][-1] < 0 < pair["upper"][-1]


@pytest.mark.parametrize("campaign", VALUES)
def test_the_log_that_learned_says_what_it_cannot_know(campaign, night):
    estimates, sentence, report = night(f"{campaign}_bts")
    value = estimates.filter(
        candidate="uniform", estimand="value", window="since_start"
    ).sort("night")
    assert set(value["method"]) == {"mixture"}
    assert set(value["assumes"]) == {"running_average"}
    assert value["expected_mean_weight"].null_count() == 7
    # The random log of the same week earned what a uniform choice earns.
    assert value["lower"][-1] < 0.0046 < value["upper"][-1]
    # About half of a uniform choice was never likely enough to be seen.
    assert 0.4 < value["unsupported_probability"][-1] < 0.7
    assert "upport is not known" in sentence
    assert "cannot be known" in report
