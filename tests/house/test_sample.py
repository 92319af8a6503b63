"""data/sample holds what its NOTICE says it holds."""

from __future__ import annotations

import importlib.util
import json

import polars as pl
import pytest

NIGHTS = {24: 1687, 25: 1286, 26: 1288, 27: 1392, 28: 1536, 29: 1379, 30: 1432}


@pytest.fixture(scope="module")
def sample(root):
    return root / "data" / "sample"


@pytest.fixture(scope="module")
def log(sample):
    files = sample / "decisions" / "day=*" / "*.parquet"
    return pl.read_parquet(files, hive_partitioning=True)


@pytest.fixture(scope="module")
def thompson(sample):
    return pl.read_parquet(sample / "candidates" / "thompson.parquet")


def weights(log, probabilities):
    """Candidate probability over 1/34 for each logged action."""
    return (
        log.with_columns(candidate=probabilities)
        .explode("actions", "candidate")
        .filter(pl.col("actions") == pl.col("action"))
        .select("reward", weight=pl.col("candidate") * 34)
    )


def test_each_night_lies_in_its_folder_in_order(log):
    assert log["day"].to_list() == log["decided_at"].dt.date().to_list()
    nights = log.group_by(pl.col("day").dt.day()).len().rows()
    assert dict(nights) == NIGHTS
    assert log.select("decided_at", "decision_id").rows() == sorted(
        log.select("decided_at", "decision_id").rows()
    )


def test_ids_are_unique_and_nothing_is_null(log):
    assert log["decision_id"].is_unique().all()
    assert sum(log.null_count().row(0)) == 0


def test_every_decision_logs_all_34_items_alike(log):
    assert log["actions"].unique().to_list() == [[str(item) for item in range(34)]]
    assert log["logging_probabilities"].unique().to_list() == [[1 / 34] * 34]
    assert log["action"].is_in(log["actions"]).all()


def test_thompson_has_the_figures_of_the_notice(log, thompson, sample):
    found = weights(log, log.join(thompson, on="position", how="left")["probabilities"])
    weight, reward = found["weight"], found["reward"]
    figures = [reward.mean(), (weight * reward).mean(), weight.mean(), weight.max()]
    assert [f"{figure:.4g}" for figure in figures] == [
        "0.0046",
        "0.004539",
        "0.9847",
        "10.65",
    ]
    notice = (sample / "NOTICE.md").read_text()
    assert [f for f in ("0.0046", "0.004539", "0.9847") if f not in notice] == []


def test_the_callable_gives_distributions(log, sample):
    place = sample / "policies.py"
    spec = importlib.util.spec_from_file_location("sample_policies", place)
    policies = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(policies)
    given = policies.by_position(log.select("position", "actions"))
    assert given.dtype == pl.List(pl.Float64)
    assert given.list.sum().to_numpy() == pytest.approx(1, abs=1e-12)
    assert weights(log, given)["weight"].max() == pytest.approx(17.5)


def test_questions_name_pairs_of_the_knowledge_base(sample):
    rows = [row.split("\t") for row in (sample / "kb.tsv").read_text().splitlines()]
    pairs = {int(row[7]) for row in rows[1:]}
    assert (len(rows) - 1, pairs) == (40, set(range(1, 11)))
    asked = pl.read_parquet(sample / "questions" / "day=*" / "*.parquet")
    assert asked.height == asked["event_id"].n_unique() == 840
    scores = asked.explode("answers").unnest("answers")
    assert set(scores["qna_id"]) == pairs
    assert 0 < scores["score"].min() < scores["score"].max() < 100
    bodies = [
        json.loads(file.read_text()) for file in (sample / "feedback").glob("*.json")
    ]
    chosen = [one["qnaId"] for body in bodies for one in body["feedbackRecords"]]
    assert set(chosen) <= pairs | {None}
    assert len(chosen) == 87
