"""Public decision-service logs, held against the values in data/dsjson/NOTICE.md.

There, a plain-Python reading and VowpalWabbit agree. Values are IPS sums over the
imported log, made here by polars; a reward that did not come counts 0, the default of
the service that wrote these files.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from flows.errors import LogError
from flows.importers import dsjson

DATA = Path(__file__).parent / "data" / "dsjson"
COFFEE = "vw_cb_coffee_23"
SKIPPED = "ll_cb_skiplearn_10"
APPRENTICE = "rl_cb_apprentice_deferred_7"
SUM = "rl_ccb_sum_100"
REPEATED = "vw_ccb_duplicates_and_malformed_70"
DANGLING = "ll_ccb_with_dangling_20"
AGAIN = "the same line again"


@pytest.fixture
def imported(tmp_path):
    """Imports a file: what came of it, and the log with rewards defaulted to 0."""

    def run(name, **options):
        found = dsjson([DATA / f"{name}.dsjson"], tmp_path / name, **options)
        log = pl.read_parquet(tmp_path / name / "decisions/*/*.parquet")
        return found, log.with_columns(pl.col("reward").fill_null(0.0))

    return run


def value(log, candidate, weight=None):
    """The IPS value of a candidate: mean of reward, weighed by how it agrees."""
    place = (
        log.with_row_index("row")
        .explode("actions", "logging_probabilities", candidate)
        .filter(pl.col("actions") == pl.col("action"))
        .sort("row")
    )
    assert place.height == log.height
    ratio = place[candidate] / place["logging_probabilities"] * place["reward"]
    counts = pl.Series([1.0] * log.height) if weight is None else weight
    return (ratio * counts).sum() / counts.sum()


def value_rows(log):
    """In how many decisions the baseline's action was taken."""
    taken = log["action"] == log["actions"].list.first()
    return (taken & (log["baseline"].list.first() == 1)).sum()


def test_coffee_log_has_the_expected_values(imported):
    found, log = imported(COFFEE)
    assert (found.kept, found.skipped, found.rejected) == (23, 0, 0)
    assert log["reward"].sum() == 12
    assert log["reward"].mean() == pytest.approx(0.521739, abs=1e-6)
    assert value(log, "baseline") == pytest.approx(0.306905, abs=1e-6)
    assert value(log, "random") == pytest.approx(0.153453, abs=1e-6)
    assert value_rows(log) == 9


def test_rows_that_were_never_activated_are_skipped(imported):
    found, log = imported(SKIPPED)
    assert (found.kept, found.skipped, found.rejected) == (8, 2, 0)
    assert log["reward"].sum() == 4
    assert log["reward"].mean() == pytest.approx(0.5, abs=1e-6)
    assert value(log, "baseline") == pytest.approx(0.375, abs=1e-6)
    assert value(log, "random") == pytest.approx(0.5, abs=1e-6)
    # Five without an observation; one of them counted 1, which is not the default.
    counts = dict(log["reward_status"].value_counts().iter_rows())
    assert counts == {"observed": 3, "default": 4, "unknown": 1}


def test_apprentice_log_tells_the_value_of_the_baseline(imported):
    found, log = imported(APPRENTICE, learning_mode="apprentice")
    assert (found.kept, found.skipped, found.rejected) == (7, 0, 0)
    assert log["reward"].sum() == 19
    assert log["reward"].mean() == pytest.approx(2.714286, abs=1e-6)
    assert value(log, "baseline") == pytest.approx(2.714286, abs=1e-6)
    assert set(log["action"]) == {"0"}
    assert log["logging_probabilities"].to_list() == [[1.0, 0.0]] * 7


def test_apprentice_log_without_its_mode_is_refused(imported):
    with pytest.raises(LogError, match=r"6 of 7 rows have two different costs.*appr"):
        imported(APPRENTICE)


def test_a_wrongly_declared_mode_still_reads_the_original_reward(imported):
    # Read as if the logged action had been shown, the learning reward would sum to 3.
    _, log = imported(APPRENTICE, learning_mode="online")
    assert log["reward"].sum() == 19
    agreed = log["action"] == "0"
    assert agreed.sum() == 3
    assert agreed.mean() == pytest.approx(0.428571, abs=1e-6)


def test_slots_of_a_summed_log_are_decisions_of_their_own(imported):
    found, log = imported(SUM)
    assert (found.kept, found.decisions) == (100, 200)
    assert log["reward"].sum() == 809
    first = log.filter(pl.col("slot") == 0)
    assert value_rows(first) == 60
    assert first["reward"].sum() == 410
    assert first["reward"].mean() == pytest.approx(4.10, abs=1e-6)
    assert value(first, "baseline") == pytest.approx(3.90, abs=1e-6)
    assert value(first, "random") == pytest.approx(4.10, abs=1e-6)


def test_repeated_lines_count_once_and_malformed_ones_are_listed(imported, tmp_path):
    found, log = imported(REPEATED)
    assert (found.kept, found.decisions) == (58, 65)
    assert (found.count("malformed"), found.count(AGAIN)) == (2, 10)
    assert found.rejected == 2
    assert log["reward"].sum() == pytest.approx(27.56, abs=1e-6)
    assert log["decision_id"].n_unique() == 58

    rejects = pl.read_parquet(tmp_path / REPEATED / "rejects.parquet")
    again = (
        rejects.filter(pl.col("reason") == AGAIN)
        .group_by("decision_id")
        .agg(again=pl.len())
    )
    counts = log.join(again, on="decision_id", how="left", maintain_order="left")[
        "again"
    ]
    weights = (counts.fill_null(0) + 1).cast(pl.Float64)
    assert weights.sum() == 75
    assert (log["reward"] * weights).sum() == pytest.approx(32.82, abs=1e-6)
    assert (log["reward"] * weights).sum() / 75 == pytest.approx(0.4376, abs=1e-6)
    is_first = log["slot"] == 0
    first = log.filter(is_first)
    found_value = value(first, "baseline", weights.filter(is_first))
    assert found_value == pytest.approx(0.674118, abs=1e-6)


def test_dangling_observations_are_no_decisions_and_count_on_neither_side(imported):
    found, log = imported(DANGLING)
    assert found.decisions == 30
    assert found.count("dangling observation") == 10
    assert (found.rejected, found.reject_share) == (0, 0)
    assert log["reward"].sum() == 4
    assert log["reward"].mean() == pytest.approx(0.133333, abs=1e-6)
    first = log.filter(pl.col("slot") == 0)
    assert first["reward"].mean() == pytest.approx(0.2, abs=1e-6)
    assert value(log, "random") == pytest.approx(0.037027, abs=1e-6)
    assert log["baseline"].null_count() == 30
