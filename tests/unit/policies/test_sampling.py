"""The probability that a decision was kept in the log reaches scoring."""

from __future__ import annotations

import polars as pl
import pytest

MODULE = """
def uniform(frame):
    assert frame.columns == ["actions"]
    return [[1 / len(actions)] * len(actions) for actions in frame["actions"]]
"""
KEPT = [1.0, 0.25, 0.5]


def as_structs(log):
    pairs = [
        [
            {"action": action, "probability": probability}
            for action, probability in zip(*row, strict=True)
        ]
        for row in log.select("actions", "logging_probabilities").iter_rows()
    ]
    return log.drop("actions", "new").with_columns(
        logging_probabilities=pl.Series(pairs)
    )


def as_propensity(log):
    return log.drop("actions", "logging_probabilities", "new").with_columns(
        propensity=pl.lit(0.5)
    )


# A layout, how a log is written in it, and what is declared of it.
LAYOUTS = {
    "lists": (lambda log: log, {}),
    "structs": (as_structs, {"probabilities": "structs"}),
    "propensity": (
        as_propensity,
        {"probabilities": "propensity", "actions": ("a", "b", "c")},
    ),
}


@pytest.fixture
def specs(module, write_log):
    """Candidates by how they make a log be laid out."""

    def make(log):
        table = log.select("decision_id", actions=pl.lit(["a"]), probabilities=[1.0])
        return {
            "as it is": "uniform",
            "by decision": write_log(table, "table.parquet"),
            "called": f"{module(MODULE)}:uniform",
        }

    return make


@pytest.mark.parametrize("kind", ["closed", "open"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["sample_probability", "kept"])
def test_sampling_probabilities_are_carried(
    decisions, laid, specs, write_log, kind, layout, name
):
    log = decisions(kind)
    kept = pl.Series(name, (KEPT * log.height)[: log.height], dtype=pl.Float32)
    write, declared = LAYOUTS[layout]
    file = write_log(write(log).with_columns(kept))
    for spec in specs(log).values():
        prepared, rows = laid(
            *(file, spec),
            columns={}
            if name == "sample_probability"
            else {"sample_probability": name},
            **declared,
        )
        assert prepared.scorable.is_sampled
        assert prepared.profile.least_sample_probability == 0.25
        assert rows["sample_probability"].dtype == pl.Float64
        assert rows["sample_probability"].to_list() == kept.to_list()


@pytest.mark.parametrize("kind", ["closed", "open"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_without_them_every_decision_was_kept(
    decisions, laid, specs, write_log, kind, layout
):
    log = decisions(kind)
    write, declared = LAYOUTS[layout]
    for spec in specs(log).values():
        prepared, rows = laid(write_log(write(log)), spec, **declared)
        assert not prepared.scorable.is_sampled
        assert set(rows["sample_probability"]) == {1.0}


def test_a_cut_by_the_sampling_probability_stands_once(decisions, laid, write_log):
    log = decisions("open").with_columns(sample_probability=0.5)
    _, rows = laid(
        *(write_log(log), "uniform"),
        keep=("sample_probability", "place"),
        beside=("sample_probability", "place"),
    )
    assert set(rows["sample_probability"]) == {0.5}
