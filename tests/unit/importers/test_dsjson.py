"""What is read of a line, and what is refused; ids are those of public reports."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import polars as pl
import pytest

from flows.errors import LogError, UsageError

DATA = Path(__file__).parents[2] / "golden" / "data" / "dsjson"


def sampled(reward, **more):
    """The two lines of the public report: no time, no id, no observation."""
    return {
        "_label_cost": -reward,
        "_label_probability": 0.5,
        "_label_Action": 2,
        "_labelIndex": 1,
        "a": [2, 1],
        "c": {"_multi": [{"f": 1}, {"f": 2}]},
        "p": [0.5, 0.5],
    } | more


def test_probabilities_follow_a_and_not_the_order_of_actions(import_lines, single):
    _, log, _ = import_lines(single())
    (row,) = log.rows(named=True)
    assert row["action"] == "blue"
    assert row["actions"] == ["red", "blue"]
    assert row["logging_probabilities"] == [0.2, 0.8]
    assert (row["baseline"], row["random"]) == ([1.0, 0.0], [0.5, 0.5])
    assert (row["decision_id"], row["slot"]) == ("e1", None)
    assert (row["reward"], row["reward_status"]) == (1.0, "observed")
    assert (row["model_id"], row["sample_probability"]) == ("model-1", 1.0)
    assert row["source_line"] == 1


@pytest.mark.parametrize(
    ("text", "microsecond"),
    [
        ("2021-02-04T16:31:29.2460009Z", 246000),
        ("2021-02-04T16:31:29.246001Z", 246001),
        ("2021-02-04T16:31:29.246Z", 246000),
        ("2021-02-04T16:31:29.2460009", 246000),
    ],
)
def test_times_are_utc_with_and_without_their_z(
    import_lines, single, text, microsecond
):
    found, log, _ = import_lines(single(Timestamp=text))
    expected = dt.datetime(2021, 2, 4, 16, 31, 29, microsecond, tzinfo=dt.UTC)
    assert log["decided_at"].to_list() == [expected]
    assert found.days == ("2021-02-04",)


def test_r06_a_drop_probability_becomes_a_sample_probability(import_lines):
    _, log, _ = import_lines(sampled(1.0, pdrop=0.9), sampled(0.0))
    weight = 1 / log["sample_probability"]
    assert weight.to_list() == pytest.approx([10, 1])
    assert (weight * log["reward"]).sum() / weight.sum() == pytest.approx(10 / 11)
    assert set(log["reward_status"]) == {"unknown"}
    assert "decided_at" not in log.columns


def test_r07_the_divisor_is_what_was_kept(import_lines, single):
    _, log, _ = import_lines(single(pdrop=0.5))
    weight = 1 / log["sample_probability"]
    ratio = 1 / log["logging_probabilities"].list.get(1)
    assert weight.to_list() == [2]
    total = (weight * ratio * log["reward"]).sum()
    assert total == pytest.approx(2.5)
    assert total / weight.sum() == pytest.approx(1.25)


@pytest.mark.parametrize("pdrop", [1, 1.5, -0.1, "NaN", "much", {"x": 1}])
def test_a_drop_probability_outside_its_range_is_refused(import_lines, single, pdrop):
    found, _, _ = import_lines(single(pdrop=pdrop), single("e2"))
    assert found.count("pdrop lies outside [0, 1)") == 1


def test_r09_one_probability_too_many_is_refused(import_lines, single):
    found, _, rejects = import_lines(single(p=[1 / 3] * 3), single("e2"))
    assert (found.kept, found.rejected) == (1, 1)
    (row,) = rejects.rows(named=True)
    assert row["reason"] == "a and p differ in length"
    assert row["value"] == "length 3, expected 2"


@pytest.mark.parametrize(
    ("probabilities", "reason", "value"),
    [
        ([0, 0], "p does not sum to 1", "sum 0.0"),
        ([-0.127, -0.064], "p holds a negative number", "[-0.127, -0.064]"),
        (["NaN", 1.0], "p holds NaN", "[nan, 1.0]"),
        ([None, 1.0], "p holds something other than numbers", "[NULL, 1.0]"),
        ([0, 1], "the chosen action has probability 0", None),
    ],
)
def test_r10_what_is_no_distribution_is_refused(
    import_lines, single, probabilities, reason, value
):
    found, _, rejects = import_lines(single(p=probabilities), single("e2"))
    assert (found.kept, found.rejected) == (1, 1)
    assert rejects.rows() == [(rejects["file"][0], 1, "rejected", reason, "e1", value)]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"a": None, "_label_cost": 0}, "a is missing"),
        ({"p": None}, "p is missing"),
        ({"c": {}}, "c._multi is missing"),
        ({"a": [2, 2]}, "a names an action twice or one that is not in c._multi"),
        ({"a": [2, 3]}, "a names an action twice or one that is not in c._multi"),
        ({"_label_Action": 1}, "_label_Action is not _labelIndex + 1"),
        ({"a": [1, 2]}, "a does not start with the labelled action"),
        ({"_label_cost": None, "_original_label_cost": None}, "no cost"),
        ({"_label_cost": "NaN", "_original_label_cost": None}, "no cost"),
        ({"Timestamp": "soon"}, "no time (Timestamp)"),
        ({"Timestamp": "infinity"}, "no time (Timestamp)"),
        ({"Timestamp": None}, "no time (Timestamp)"),
    ],
)
def test_what_cannot_be_read_is_rejected(import_lines, single, changed, reason):
    found, _, _ = import_lines(single(**changed), single("e2"))
    assert (found.kept, found.count(reason)) == (1, 1)


def test_r11_apprentice_rows_tell_the_baseline_alone(import_lines):
    text = (DATA / "rl_cb_apprentice_deferred_7.dsjson").read_text().splitlines()
    rows = [json.loads(line) for line in text]
    activated = [
        row for row in rows if any(o.get("ActionTaken") for o in row.get("o", []))
    ][:2]
    found, log, _ = import_lines(*activated, learning_mode="apprentice")
    assert log["reward"].mean() == 3.5
    assert log["logging_probabilities"].to_list() == [[1.0, 0.0]] * 2
    assert any("1 of 2 decisions (50.0%)" in note for note in found.notes)
    with pytest.raises(LogError, match="2 of 2 rows have two different costs"):
        import_lines(*activated)


def test_logging_only_mode_shows_the_first_action(import_lines, single):
    _, log, _ = import_lines(single(chosen=1), learning_mode="logging-only")
    assert log["action"].to_list() == ["red"]
    assert log["logging_probabilities"].to_list() == [[1.0, 0.0]]


def test_r15_a_malformed_line_is_set_aside_with_its_number(import_lines, single):
    lines = [json.dumps(single(event)) for event in ("e1", "e2", "e3")]
    lines[1] += "!"
    found, log, rejects = import_lines(*lines, max_reject_share=0.4)
    assert log["decision_id"].to_list() == ["e1", "e3"]
    assert rejects.select("line", "reason").rows() == [(2, "malformed")]
    assert found.lines == 3


def test_too_many_rejected_lines_import_nothing(import_lines, single, tmp_path):
    import_lines(single("old"))
    with pytest.raises(LogError, match=r"1 of 2 lines were rejected, a share of 0\.5"):
        import_lines(single(), "{", max_reject_share=0.05)
    left = pl.read_parquet(tmp_path / "imported/decisions/*/*.parquet")
    assert left["decision_id"].to_list() == ["old"]
    refused = pl.read_parquet(tmp_path / "imported/rejects-refused.parquet")
    assert refused.select("line", "reason").rows() == [(2, "malformed")]


def test_r23_files_without_a_decision_are_no_success(import_lines, tmp_path):
    with pytest.raises(LogError, match="no decisions: none of 2 lines became one"):
        import_lines("", '{"RewardValue": 1.0, "EventId": "ghost"}')
    assert not (tmp_path / "imported/decisions").exists()
    with pytest.raises(LogError, match="no decisions"):
        import_lines()


def test_r28_an_object_as_reward_needs_its_path(import_lines, single):
    line = single(o=[{"v": {"reward": 0.25, "value2": 1400.0}}], _label_cost=0)
    line["_original_label_cost"] = 0
    found, _, _ = import_lines(line, single("e2"))
    reason = "a reward is no number, and none stands at the reward path"
    assert found.count(reason) == 1
    _, log, _ = import_lines(line, single("e2"), reward_path="reward")
    assert log["reward"].to_list() == [0.25, 1.0]
    found, _, _ = import_lines(line, single("e2"), reward_path="value3")
    assert found.count(reason) == 1
    with pytest.raises(UsageError, match="names joined by dots"):
        import_lines(line, reward_path="a..b")


def test_declared_features_of_the_context_are_columns(import_lines, single):
    actions = {"_multi": [{"_tag": "red"}, {"_tag": "blue"}]}
    user = {"age": 40, "city": {"name": "Lyon"}}
    contexts = [
        {"FromUrl": [{"day": "Mon"}, {"n": 1}], "user": user, "it's": 1},
        {"FromUrl": {"day": "Tue", "n": 1.5}, "user": {"age": 41}, "it's": "1"},
        {"FromUrl": []},
    ]
    lines = [single(f"e{i}", c=c | actions) for i, c in enumerate(contexts)]
    context = ["FromUrl.day", "FromUrl.n", "user.age", "user.city.name", "it's"]
    _, log, _ = import_lines(*lines, context=context)
    assert log.select(context).rows() == [
        ("Mon", 1.0, 40, "Lyon", "1"),
        ("Tue", 1.5, 41, None, '"1"'),
        (None, None, None, None, None),
    ]
    assert log["user.age"].dtype == pl.Int64
    _, log, _ = import_lines(*lines)
    assert not {"features", *context} & set(log.columns)


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("user", LogError, "no event has 'user' in its context"),
        ("_multi", UsageError, "tells of actions"),
        ("baseline", UsageError, "a column of every log"),
        ("a..b", UsageError, "names joined by dots"),
    ],
)
def test_what_is_no_feature_is_refused(
    import_lines, single, tmp_path, name, error, told
):
    with pytest.raises(error, match=told):
        import_lines(single(), context=[name])
    assert not (tmp_path / "imported/decisions").exists()
