"""Prefect's local server, as the nightly run starts it: real processes throughout."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

import flows
from flows import server
from flows.errors import UntakenError, UsageError

ROOT = Path(flows.__path__[0]).parent
PATIENCE_SECONDS = 240

JOBS = """
from prefect import flow, task
from prefect.events import emit_event
from flows.errors import LogError

@task
def add(left, right):
    return left + right

@task
def refuse():
    raise LogError("two rows break a rule")

@flow
def sums():
    return add(add(1, 2), add.submit(3, 4).result())

@flow
def refused():
    refuse()

def talk():
    for number in range(300):
        emit_event("said", {"prefect.resource.id": f"word.{number}"})
"""

HEAD = """
import sys
from pathlib import Path
from flows import server
home = Path(sys.argv[1])
"""

SUMS = """
for night in range(2):
    with server.starting(home) as prefect_server:
        import jobs
        prefect_server.wait()
        assert jobs.sums() == 10
        jobs.talk()
"""

REFUSED = """
from flows.errors import LogError
try:
    with server.starting(home) as prefect_server:
        import jobs
        prefect_server.wait()
        jobs.refused()
except LogError as error:
    sys.exit(f"refused: {error}")
"""

ANSWERS = """
with server.running(home) as url:
    print(url, flush=True)
"""

SLEEPS = """
import time
with server.running(home) as url:
    print(url, flush=True)
    time.sleep(600)
"""

# A shell set up for another server, behind a proxy that is not there.
HOSTILE = {
    "PREFECT_API_URL": "http://127.0.0.1:9/api",
    "PREFECT_LOGGING_LEVEL": "DEBUG",
    "PREFECT_PROFILE": "elsewhere",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}


@pytest.fixture
def start(tmp_path):
    """Starts `code` on a home, in a folder with a `flows` and settings of its own."""
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "__init__.py").write_text("raise SystemExit('wrong flows')")
    (tmp_path / "prefect.toml").write_text("[server.database]\nconnection_url = 'no:/'")
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    (jobs / "jobs.py").write_text(JOBS)

    def process(code, home):
        return subprocess.Popen(
            [sys.executable, "-P", "-c", HEAD + code, home],
            cwd=tmp_path,
            env=os.environ | HOSTILE | {"PYTHONPATH": f"{ROOT}{os.pathsep}{jobs}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return process


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A home whose database is there."""
    folder = tmp_path_factory.mktemp("prefect")
    with server.running(folder):
        return folder


@pytest.fixture
def substitute(tmp_path, monkeypatch):
    """Puts a module of the given text in the place of uvicorn, for the child alone."""

    def put(text):
        (tmp_path / "uvicorn.py").write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return put


def outcome(process):
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, out, err


def is_gone(process):
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_flows_run_night_after_night_without_a_word(start, home):
    assert outcome(start(SUMS, home)) == (0, "", "")


def test_an_expected_error_leaves_one_line_and_it_is_ours(start, home):
    assert outcome(start(REFUSED, home)) == (1, "", "refused: two rows break a rule\n")


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_server_outlives_its_parent(start, home, ending):
    parent = start(SLEEPS, home)
    assert parent.stdout.readline().startswith("http://127.0.0.1:")
    children = psutil.Process(parent.pid).children(recursive=True)
    parent.send_signal(ending)
    outcome(parent)
    deadline = time.monotonic() + 10
    while not all(map(is_gone, children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(children) == 1
    assert all(map(is_gone, children))


def test_two_runs_at_once_make_one_database(start, tmp_path):
    fresh = tmp_path / "fresh"
    outcomes = [outcome(run) for run in [start(ANSWERS, fresh), start(ANSWERS, fresh)]]
    assert [code for code, _, _ in outcomes] == [0, 0]
    assert sorted(err.count("waiting for its end") for _, _, err in outcomes) == [0, 1]
    assert not list(fresh.glob("*.broken"))


def test_a_broken_database_is_moved_aside_and_made_again(start, home, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / server.DATABASE).write_text("no database" * 1000)
    (broken / server.BLOCKS).write_bytes((home / server.BLOCKS).read_bytes())
    code, _, err = outcome(start(ANSWERS, broken))
    assert (code, err) == (0, "")
    assert (broken / "prefect.db.broken").read_text().startswith("no database")
    with closing(sqlite3.connect(broken / server.DATABASE)) as database:
        (blocks,) = database.execute("select count(*) from block_type").fetchone()
    assert blocks > 0


def test_a_run_names_the_one_it_waited_for_in_vain(home):
    with (
        server.held(home, 0),
        pytest.raises(UsageError, match=rf"process {os.getpid()}\) is using"),
        server.running(home, timeout_seconds=0.2),
    ):
        pass


def test_a_server_that_cannot_start_says_why_and_loses_nothing(home, substitute):
    substitute("raise ImportError('no such server')")
    before = dict(os.environ), (home / server.DATABASE).read_bytes()
    with (
        pytest.raises(UntakenError, match=r"(?s)ended twice.*no such server"),
        server.running(home),
    ):
        pass
    assert (dict(os.environ), (home / server.DATABASE).read_bytes()) == before


def test_a_server_that_never_answers_is_given_up(home, substitute):
    substitute("import time; time.sleep(600)")
    with (
        pytest.raises(UntakenError, match="did not answer within 1 s"),
        server.running(home, timeout_seconds=1),
    ):
        pass
