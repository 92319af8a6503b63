"""Tables: the layout of the Open Bandit CSV, types, zones, and what is refused."""

from __future__ import annotations

import polars as pl
import pytest

from flows.errors import LogError, UsageError
from flows.importers import table

HEAD = ",timestamp,item_id,position,click,propensity_score,user_feature_0,zip\n"
ROWS = [
    "0,2019-11-24 00:00:00.004101+00:00,14,3,0,0.0294,cef3390ed299c09874,007",
    "1,2019-11-25 00:00:01+00:00,10,1,1,0.0294,cef3390ed299c09874,008",
]
COLUMNS = {
    "decided_at": "timestamp",
    "action": "item_id",
    "reward": "click",
    "propensity": "propensity_score",
}


@pytest.fixture
def import_csv(tmp_path):
    def run(*rows, head=HEAD, max_reject_share=1.0, columns=COLUMNS, **options):
        file = tmp_path / "men.csv"
        file.write_text(head + "\n".join(rows) + "\n")
        out = tmp_path / "imported"
        options = {"columns": columns, "max_reject_share": max_reject_share} | options
        found = table([file], out, **options)
        log = pl.read_parquet(out / "decisions/*/*.parquet")
        return found, log, pl.read_parquet(out / "rejects.parquet")

    return run


def test_the_open_bandit_layout_becomes_a_log_of_propensities(import_csv):
    context = ["position", "user_feature_0", "zip"]
    found, log, _ = import_csv(*ROWS, context=context)
    assert log.columns == ["decided_at", "action", "propensity", "reward", *context]
    assert log["action"].to_list() == ["14", "10"]
    assert log["reward"].to_list() == [0.0, 1.0]
    assert log["position"].to_list() == [3, 1]
    assert log["zip"].to_list() == ["007", "008"]
    assert found.days == ("2019-11-24", "2019-11-25")
    job = (found.out / "untaken.toml").read_text()
    assert 'probabilities = "propensity"' in job
    assert 'context = ["position", "user_feature_0", "zip"]' in job


def row(**changed):
    values = dict(zip(HEAD.strip().split(","), ROWS[0].split(","), strict=True))
    return ",".join((values | changed).values())


@pytest.mark.parametrize(
    ("changed", "reason", "value"),
    [
        ({"click": "yes"}, "the reward is no number", "yes"),
        ({"click": "nan"}, "the reward is no number", "nan"),
        ({"propensity_score": ""}, "the propensity is no number", None),
        ({"propensity_score": "true"}, "the propensity is no number", "true"),
        ({"item_id": ""}, "action is missing", None),
        ({"timestamp": ""}, "decided_at is missing", None),
        (
            {"timestamp": "2019-11-24 00:00:00"},
            "decided_at is no time with a zone",
            "2019-11-24 00:00:00",
        ),
    ],
)
def test_what_a_row_does_not_say_rejects_it(import_csv, changed, reason, value):
    found, log, rejects = import_csv(row(**changed), ROWS[1])
    assert log["action"].to_list() == ["10"]
    assert rejects.select("line", "reason", "value").rows() == [(1, reason, value)]
    assert found.lines == 2


def test_true_is_one_and_an_empty_reward_is_missing(import_csv):
    _, log, _ = import_csv(row(click="true"), row(click="False"), row(click=""))
    assert log["reward"].to_list() == [1.0, 0.0, None]


def test_times_may_be_declared_to_be_utc(import_csv):
    _, log, _ = import_csv(row(timestamp="2019-11-24 23:59:59"), is_utc=True)
    assert str(log["decided_at"][0]) == "2019-11-24 23:59:59+00:00"


def test_rows_of_another_length_are_counted(import_csv):
    found, log, rejects = import_csv(*ROWS, "1,2", ROWS[0] + ",more", "", ROWS[1])
    assert log.height == 3
    assert found.count("malformed") == 2
    assert set(rejects["value"]) == {"line 4", "line 5"}


def test_columns_that_are_not_there_are_told_at_once(import_csv):
    with pytest.raises(LogError, match=r"has no column 'reward'") as told:
        import_csv(*ROWS, columns={"action": "item_id"})
    assert "has no column 'propensity'" in str(told.value)
    with pytest.raises(UsageError, match=r"did you mean action\?"):
        import_csv(*ROWS, columns={"acton": "item_id"})
    with pytest.raises(UsageError, match="cannot be context"):
        import_csv(*ROWS, context=["click"])


def test_parquet_columns_keep_their_types(tmp_path):
    file = tmp_path / "log.parquet"
    frame = pl.DataFrame(
        {
            "decision_id": ["a", "b"],
            "item": [1, 2],
            "p": [0.1, 1 / 3],
            "reward": [True, None],
            "device": pl.Series(["x", "y"], dtype=pl.Categorical),
            "n": pl.Series([1, 2], dtype=pl.Int8),
        }
    )
    frame.write_parquet(file)
    columns = {"action": "item", "propensity": "p"}
    table([file], tmp_path / "out", columns=columns, context=["device", "n"])
    log = pl.read_parquet(tmp_path / "out/decisions/*/*.parquet")
    assert log["propensity"].to_list() == [0.1, 1 / 3]
    assert log["reward"].to_list() == [1.0, None]
    assert log["n"].dtype == pl.Int8
    assert log["device"].to_list() == ["x", "y"]
    assert log["decision_id"].to_list() == ["a", "b"]
    other = tmp_path / "other.parquet"
    frame.with_columns(pl.col("n").cast(pl.Float64)).write_parquet(other)
    with pytest.raises(LogError, match=r"'n' is TINYINT in .*DOUBLE in"):
        table([file, other], tmp_path / "two", columns=columns, context=["n"])
