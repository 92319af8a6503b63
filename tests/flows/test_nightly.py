"""`untaken nightly` as it is run: the command, Prefect, its server, what kills it."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import psutil
import pytest

import flows

ROOT = Path(flows.__path__[0]).parent
CONFTEST = Path(__file__).parents[1] / "unit" / "warehouse" / "conftest.py"
MADE = runpy.run_path(str(CONFTEST))
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
    place = served.copied(tmp_path / "place")
    for left in set(place.results.iterdir()) - {place.results / "prefect"}:
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    place.days([2], size=60)
    return place


@pytest.fixture
def undisturbed(place, tmp_path):
    """What the job's results are when nothing happens, without any Prefect."""
    other = place.copied(tmp_path / "undisturbed")
    other.night()
    return other.state()


def test_the_command_says_the_answer_and_where_the_results_are(served):
    code, out, err = served.ended
    assert (code, err) == (0, "")
    answer, report, warehouse = out.splitlines()
    assert answer.startswith("shop: Not enough evidence")
    assert report == f"  report     {served.results}/reports/2024-05-01.html"
    assert warehouse == f"  warehouse  {served.results}/warehouse.duckdb"
    assert (served.results / "reports" / "2024-05-01.html").stat().st_size > 5000
    assert leftovers(served) == []


def test_whatever_kills_a_run_the_next_ones_end_as_if_nothing_had_been(
    place, undisturbed
):
    for pattern, ending in (
        ("evidence/*/*.parquet", signal.SIGINT),
        (".warehouse.duckdb.new", signal.SIGKILL),
    ):
        run = start("nightly", place.file)
        when_there(place, pattern, run)
        children = psutil.Process(run.pid).children(recursive=True)
        assert children
        run.send_signal(ending)
        outcome(run)
        psutil.wait_procs(children, timeout=10)
        assert all(map(is_gone, children))
        assert not list(place.results.glob("reports/*"))
    # Two at once: one waits for the other, and finds that nothing is left to do.
    ended = [outcome(run) for run in [start("nightly", place.file) for _ in range(2)]]
    assert [code for code, _, _ in ended] == [0, 0]
    (waited,) = [err for _, _, err in ended if err]
    assert "another run" in waited
    assert "waiting for its end" in waited
    assert place.state() == undisturbed
    assert leftovers(place) == []
    runs = [json.loads(file.read_text()) for file in place.results.glob("runs/*")]
    assert min(run["days_read"] for run in runs) == 0


def test_jobs_run_one_after_the_other_and_the_worst_code_wins(place):
    """The first names a second, whose log breaks a rule; paths start from each file.

    One of its exports has no place to go to, which costs the other nothing.
    """
    other = MADE["Place"](place.root / "others")
    is_sixth = pl.int_range(pl.len()) == 5
    rows = MADE["day"](1).with_columns(
        reward=pl.when(is_sixth).then(7.0).otherwise("reward")
    )
    other.write(rows, "1.parquet")
    other.file.write_text(other.file.read_text().replace('"shop"', '"other"'))
    text = place.file.read_text()
    text = text.replace("[job]", '[job]\nalso = ["others/job.toml"]')
    nowhere = '{ to = "postgresql", url_env = "UNTAKEN_UNSET" }'
    targets = f'export = [{nowhere}, {{ to = "duckdb", path = "out.duckdb" }}]'
    place.file.write_text(text.rstrip() + f"\n{targets}\n")
    place.root.rename(place.root.with_name("moved"))
    base = place.root.parent
    code, out, err = outcome(start("nightly", "moved/job.toml", cwd=base))
    assert code == 2
    answer, report, warehouse, export = out.splitlines()
    assert answer.startswith("shop: Not enough evidence")
    assert export.startswith("  export     duckdb: ")
    assert report == "  report     moved/results/shop/reports/2024-05-02.html"
    assert warehouse == "  warehouse  moved/results/shop/warehouse.duckdb"
    assert err.startswith("untaken: shop: export to postgresql: the environment has no")
    assert "untaken: other: 1 violation among 120 rows" in err
    assert "moved/others/log/1.parquet, row 6, decision 1-5: 7.0" in err
    listing = base / err.strip().rpartition("All of them: ")[2]
    assert pl.read_parquet(listing).height == 1
    assert not (base / "moved/others/results/other/warehouse.duckdb").exists()


def test_job_files_are_refused_together_before_anything_starts(place, untaken):
    (place.root / "a.toml").write_text("[job]\nnam = 'a'")
    (place.root / "b.toml").write_text(place.file.read_text().replace("0.1", "7"))
    refusal = untaken("nightly", place.root / "a.toml", place.root / "b.toml").refusal()
    assert "did you mean name?" in refusal
    assert "propensity_floor = 7" in refusal
    copy = place.root / "copy.toml"
    copy.write_text(place.file.read_text())
    refusal = untaken("nightly", place.file, copy).refusal()
    assert "both write to" in refusal
