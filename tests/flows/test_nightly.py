"""`untaken nightly` as it is run: the command, Prefect, its server, and what kills it."""

from __future__ import annotations

import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import flows

ROOT = Path(flows.__path__[0]).parent
MADE = runpy.run_path(str(ROOT / "tests" / "unit" / "warehouse" / "conftest.py"))
COMMAND = "import sys; from flows.cli import main; sys.argv[0] = 'untaken'; main()"
PATIENCE_SECONDS = 240


def start(*arguments, cwd=None):
    return subprocess.Popen(
        [sys.executable, "-P", "-c", COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcome(process):
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert "Traceback" not in err
    return process.returncode, out, err


def is_gone(process):
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def when_there(place, pattern, process):
    """Waits until a file of the results is there; the run is still going on."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not list(place.results.glob(pattern)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.002)


def leftovers(place):
    names = [file.name for file in place.results.rglob("*")]
    return [name for name in names if name.startswith(".work-") or ".new" in name]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A job that ran once by the command; its server's database is there."""
    place = MADE["Place"](tmp_path_factory.mktemp("served") / "place")
    place.job(candidates='new = "column:new"', reports=("html", "markdown", "json"))
    place.days([1], size=60)
    place.ended = outcome(start("nightly", place.file))
    return place


@pytest.fixture
def place(served, tmp_path):
    """The same job in a place of its own, with a second day and no results."""
    shutil.copytree(served.root, tmp_path / "place")
    place = MADE["Place"].__new__(MADE["Place"])
    vars(place).update(vars(served))
    place.root = tmp_path / "place"
    place.file = place.root / "job.toml"
    place.results = place.root / "results" / "shop"
    for left in set(place.results.iterdir()) - {place.results / "prefect"}:
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    place.days([2], size=60)
    return place


@pytest.fixture
def undisturbed(place, tmp_path):
    """What the job's results are when nothing happens, without any Prefect."""
    shutil.copytree(place.root, tmp_path / "undisturbed")
    other = MADE["Place"].__new__(MADE["Place"])
    other.file = tmp_path / "undisturbed" / "job.toml"
    other.night()
    return MADE["state"](tmp_path / "undisturbed" / "results" / "shop")


def test_the_command_says_the_answer_and_where_the_results_are(served):
    code, out, err = served.ended
    assert (code, err) == (0, "")
    answer, report, warehouse = out.splitlines()
    assert answer.startswith("shop: Not enough evidence")
    assert report == f"  report     {served.results}/reports/2024-05-01.html"
    assert warehouse == f"  warehouse  {served.results}/warehouse.duckdb"
    assert (served.results / "reports" / "2024-05-01.html").stat().st_size > 5000
    assert leftovers(served) == []


def test_whatever_kills_a_run_the_next_one_ends_as_if_nothing_had_been(
    place, undisturbed
):
    for pattern, ending in (
        ("evidence/*/*.parquet", signal.SIGKILL),
        ("estimates/*.parquet", signal.SIGTERM),
        (".warehouse.duckdb.new", signal.SIGKILL),
        ("reports/*.html", signal.SIGINT),
    ):
        run = start("nightly", place.file)
        when_there(place, pattern, run)
        children = psutil.Process(run.pid).children(recursive=True)
        assert children
        run.send_signal(ending)
        outcome(run)
        psutil.wait_procs(children, timeout=10)
        assert all(map(is_gone, children))
    assert outcome(start("nightly", place.file))[0] == 0
    assert place.state() == undisturbed
    assert leftovers(place) == []


def test_a_second_run_waits_for_the_first_and_changes_nothing(place, undisturbed):
    runs = [start("nightly", place.file) for _ in range(2)]
    ended = [outcome(run) for run in runs]
    assert [code for code, _, _ in ended] == [0, 0]
    waited = [err for _, _, err in ended if err]
    assert len(waited) == 1
    assert "another run" in waited[0]
    assert "waiting for its end" in waited[0]
    assert place.state() == undisturbed


def test_a_job_that_fails_does_not_keep_the_others_from_running(place):
    text = place.file.read_text()
    (place.root / "other.toml").write_text(
        text.replace('"shop"', '"other"').replace('"log/**', '"nothing/**')
    )
    also = text.replace("[job]", '[job]\nalso = ["other.toml"]')
    place.file.write_text(also)
    moved = place.root.parent  # paths start from the job file, not from here
    code, out, err = outcome(start("nightly", "place/job.toml", cwd=moved))
    assert code == 2
    assert out.startswith("shop: Not enough evidence")
    assert err.startswith("untaken: other: no Parquet file found for ")


def test_a_violation_ends_the_command_with_its_rows_and_no_traceback(place, day_of_bad):
    file = day_of_bad(place)
    code, out, err = outcome(start("nightly", place.file))
    assert (code, out) == (2, "")
    assert err.startswith("untaken: shop: 1 violations among 120 rows")
    assert f"{file}, row 6, decision 2-5: 7.0" in err
    assert "All of them: " in err
    assert not (place.results / "warehouse.duckdb").exists()


@pytest.fixture
def day_of_bad():
    def write(place):
        rows = MADE["day"](2, 60).to_dicts()
        rows[5]["reward"] = 7.0
        frame = MADE["day"](2, 60).with_columns(reward=[r["reward"] for r in rows])
        return place.write(frame, MADE["name_of"](2))

    return write
