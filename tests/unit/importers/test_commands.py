"""The commands print counts by reason, and leave a job file to fill in."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import polars as pl
import pytest

from flows.errors import LogError, UsageError
from flows.import_commands import import_

DATA = Path(__file__).parents[2] / "golden" / "data" / "dsjson"


@pytest.fixture
def command(capsys):
    def run(*arguments):
        code = import_(
            [str(argument) for argument in arguments],
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
        assert code == 0
        return capsys.readouterr().out

    return run


def test_dsjson_prints_what_came_of_the_lines(command, tmp_path):
    told = command(
        "dsjson", DATA / "vw_ccb_duplicates_and_malformed_70.dsjson", "--out", tmp_path
    )
    assert told.startswith("65 decisions from 58 lines of 70, in ")
    lines = [line.split(maxsplit=2) for line in told.splitlines()[1:3]]
    assert lines == [
        ["rejected", "2", "malformed"],
        ["skipped", "10", "the same line again"],
    ]
    assert "where the service counted 0;" in told


def test_the_job_file_names_ready_candidates_and_an_adaptive_log(command, tmp_path):
    command("dsjson", DATA / "vw_cb_coffee_23.dsjson", "--out", tmp_path)
    job = tomllib.loads((tmp_path / "untaken.toml").read_text())
    assert job["evaluation"]["logging"] == "adaptive"
    assert job["candidates"] == {
        "online": "logging",
        "random": "column:random",
        "baseline": "column:baseline",
    }
    (tmp_path / "untaken.toml").write_text("mine")
    command("dsjson", DATA / "vw_cb_coffee_23.dsjson", "--out", tmp_path)
    assert (tmp_path / "untaken.toml").read_text() == "mine"


def test_dsjson_takes_context(command, tmp_path):
    file = DATA / "vw_cb_coffee_23.dsjson"
    command("dsjson", file, "--out", tmp_path, "--context", "FromUrl.weather")
    job = tomllib.loads((tmp_path / "untaken.toml").read_text())
    assert job["decisions"]["context"] == ["FromUrl.weather"]
    log = pl.read_parquet(tmp_path / "decisions/*/*.parquet")
    assert set(log["FromUrl.weather"]) <= {"Sunny", "Rainy", "Snowy"}
    assert log["FromUrl.weather"].null_count() == 0


def test_apprentice_mode_and_a_limit_are_options(command, tmp_path):
    file = DATA / "rl_cb_apprentice_deferred_7.dsjson"
    with pytest.raises(LogError, match="--learning-mode apprentice"):
        command("dsjson", file, "--out", tmp_path)
    assert list(tmp_path.iterdir()) == []
    told = command("dsjson", file, "--out", tmp_path, "--learning-mode", "apprentice")
    assert "only its value is identified" in told


def test_fb_reads_its_mode_from_the_file(command, tmp_path):
    told = command(
        "fb", DATA / "fb" / "rl_cb_apprentice_deferred_10.fb", "--out", tmp_path
    )
    assert told.startswith("7 decisions from 7 lines of 10")


def test_jsonl_takes_context(command, tmp_path):
    expected = {"action": "a", "logging_probabilities": {"a": 1.0}, "reward": True}
    case = {"id": "t1", "input": {"topic": "x"}, "expected": expected}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case))
    out = tmp_path / "out"
    command("jsonl", tmp_path, "--out", out, "--context", "topic")
    assert pl.read_parquet(out / "decisions/*/*.parquet")["topic"].to_list() == ["x"]
    assert tomllib.loads((out / "untaken.toml").read_text())["decisions"]["context"]


def test_table_takes_a_mapping(command, tmp_path):
    (tmp_path / "men.csv").write_text("item,click,p\n14,0,0.03\n")
    mapping = ["--column", "action=item", "--column", "reward=click"]
    mapping += ["--column", "propensity=p"]
    command("table", tmp_path / "men.csv", "--out", tmp_path / "out", *mapping)
    assert (tmp_path / "out/decisions/day=undated/part-0.parquet").exists()
    with pytest.raises(UsageError, match="'item' is not OURS=THEIRS"):
        command("table", tmp_path / "men.csv", "--out", tmp_path, "--column", "item")


def test_nothing_to_import_names_what_was_looked_for(command, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(LogError, match=r"nothing to import in .*empty"):
        command("dsjson", tmp_path / "empty", "--out", tmp_path)
    (tmp_path / "log.json.gz").touch()
    (tmp_path / "log.json").touch()
    for place in (tmp_path, tmp_path / "log.json.gz"):
        with pytest.raises(LogError, match=r"unpack these files first: .*\.json\.gz"):
            command("dsjson", place, "--out", tmp_path)
