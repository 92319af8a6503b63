"""`untaken query` as it is run, over a night's results."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import runpy
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import polars as pl
import pytest

CONFTEST = Path(__file__).parents[1] / "unit" / "warehouse" / "conftest.py"
MADE = runpy.run_path(str(CONFTEST))
TABLES = (
    "answers, candidates, closing_in, differences, doubly_robust, estimates, evidence"
)
RUN = "from flows.cli import run; import sys; code = run(sys.argv[1:])"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two nights, read from then on."""
    place = MADE["Place"](tmp_path_factory.mktemp("results") / "place")
    place.days((1, 2))
    place.night()
    return place


@pytest.fixture
def ask(results, untaken):
    return lambda *arguments: untaken("query", results.file, *arguments)


def test_an_answer_is_a_table_to_read(ask):
    told = ask("select candidate, decisions from answers where estimand = 'value'")
    assert (told.code, told.err) == (0, "")
    assert [line.split() for line in told.out.splitlines()[3:]][1:-1] == [
        ["│", name, "│", "240", "│"] for name in ("logging", "new", "table")
    ]


def test_a_long_table_says_what_it_leaves_out(ask):
    told = ask("from range(5000)").out
    assert len(told.splitlines()) < 60
    assert "5000 rows" in told
    assert "(40 shown)" in told
    assert told.endswith("All of it: --format csv, json or parquet\n")
    assert "--format" not in ask("from range(40)").out


def test_the_same_answer_comes_as_csv_json_and_parquet(ask, tmp_path):
    text = "select night, candidate, estimate from closing_in order by all"
    rows = list(csv.DictReader(io.StringIO(ask(text, "--format", "csv").out)))
    document = ask(text, "--format", "json").document
    file = tmp_path / "answer.parquet"
    assert ask(text, "--out", file).out == ""
    frame = pl.read_parquet(file)
    assert frame["night"].to_list()[0].isoformat() == rows[0]["night"] == "2024-05-01"
    assert [row["candidate"] for row in rows] == frame["candidate"].to_list()
    for name in ("candidate", "estimate"):
        assert [row[name] for row in document] == frame[name].to_list()
    assert [float(row["estimate"]) for row in rows] == frame["estimate"].to_list()


def test_json_has_null_for_what_it_cannot_say(ask):
    text = "select 'nan'::double as x, 1.5 as y, 1 as y, 'infinity'::float as z -- end"
    (row,) = ask(text, "--format", "json").document
    assert row["x"] is row["z"] is None
    assert row["y"] == 1.5
    assert ask("select 1 where false", "--format", "json").document == []


def test_the_ending_of_a_file_says_its_form(ask, tmp_path):
    file = tmp_path / "answer.json"
    ask("select 1 as one", "--out", file)
    assert json.loads(file.read_text()) == [{"one": 1}]
    ask("select 1 as one", "--out", file, "--format", "csv")
    assert file.read_text() == "one\n1\n"
    assert list(tmp_path.iterdir()) == [file]


def test_times_are_in_utc_and_files_are_read(ask, write_log):
    file = write_log({"x": [1, 2]})
    text = "select sum(x) as x, '2024-05-01 12:00+02'::timestamptz as at from "
    told = ask(f"{text} '{file}'", "--format", "csv").out
    assert told == "x,at\n3,2024-05-01 10:00:00+00\n"


def test_a_pivot_is_a_query(ask):
    text = "pivot answers on estimand using max(decisions) group by candidate"
    for form in ("table", "csv", "json"):
        assert "improvement" in ask(text, "--format", form).out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("from answrs", 'Did you mean "answers"?'),
        ("from answrs", f"There are: {TABLES}"),
        ("select nigt from answers", 'Candidate bindings: "night"'),
        ("select nofunction(1)", "Scalar Function with name nofunction does not exist"),
        ("selec 1", 'syntax error at or near "selec"'),
        ("select 'a'::integer", "Could not convert string 'a'"),
        ("from 'none/*.parquet'", "No files found"),
        ("", "one query is answered at a time; there are none"),
        ("select 1; select 2", "there are 2"),
        ("drop table estimates", "DROP is no SELECT"),
        ("update runs set exit_code = 0", "the warehouse is only read"),
        ("copy answers to 'answers.csv'", "COPY is no SELECT"),
        ("explain analyze copy answers to 'x.csv'", "EXPLAIN is no SELECT"),
        ("attach 'x.duckdb'", "ATTACH is no SELECT"),
        ("set threads = 1", "SET is no SELECT"),
        ("import database 'x'", "PRAGMA is no SELECT"),
        (
            "with a as (insert into runs from runs returning *) from a",
            "attached in read-only mode",
        ),
        ("from evidence_of('nobody')", "no such evidence; there is: logging;"),
    ],
)
@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_what_is_no_query_is_refused_and_nothing_is_written(
    ask, results, text, told, form, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    before = (results.results / "warehouse.duckdb").read_bytes()
    assert told in ask(text, "--format", form).refusal()
    assert list(tmp_path.iterdir()) == []
    assert (results.results / "warehouse.duckdb").read_bytes() == before


def test_a_file_that_cannot_be_the_answer_is_refused(ask, results, tmp_path):
    warehouse = results.results / "warehouse.duckdb"
    for out, told in (
        (tmp_path / "none" / "x.csv", "no file in a folder that is there"),
        (tmp_path, "--out takes an answer as"),
        (warehouse, "--out takes an answer as"),
        (tmp_path / "x.txt", "--out takes an answer as"),
    ):
        assert told in ask("select 1", "--out", out).refusal()
    told = ask("select 1", "--format", "csv", "--out", warehouse).refusal()
    assert "is the warehouse itself" in told
    assert ask("from answers", "--format", "csv").code == 0


def test_a_query_that_fails_half_way_leaves_no_half_answer(ask, tmp_path):
    file = tmp_path / "answer.csv"
    file.write_text("old")
    text = "select if(i > 900000, error('bad row'), i) from range(1000000) t(i)"
    assert "bad row" in ask(text, "--format", "csv").refusal()
    assert "bad row" in ask(text, "--out", file).refusal()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_without_a_night_the_command_to_run_is_named(untaken, tmp_path):
    place = MADE["Place"](tmp_path / "place")
    refusal = untaken("query", place.file, "from answers").refusal()
    assert f"run: untaken nightly {place.file}" in refusal
    assert not place.results.exists()
    place.file.write_text("[job]\nname = 3\n")
    assert "job.name = 3" in untaken("query", place.file, "select 1").refusal()
    place.file.unlink()
    assert "does not exist" in untaken("query", place.file, "select 1").refusal()


def test_a_warehouse_that_is_none_is_told(untaken, tmp_path):
    place = MADE["Place"](tmp_path / "place")
    place.results.mkdir(parents=True)
    (place.results / "warehouse.duckdb").write_text("no database")
    assert "cannot be opened" in untaken("query", place.file, "select 1").refusal()


def test_parquet_is_not_poured_into_a_terminal_but_into_a_pipe(results):
    command = [sys.executable, "-P", "-c", f"{RUN}; sys.exit(code)"]
    command += ["query", str(results.file), "from answers", "--format", "parquet"]
    piped = subprocess.run(command, check=True, capture_output=True)
    assert pl.read_parquet(io.BytesIO(piped.stdout)).height == 5
    terminal, end = pty.openpty()
    try:
        done = subprocess.run(
            command, check=False, stdout=end, stderr=subprocess.PIPE, text=True
        )
    finally:
        os.close(end)
        os.close(terminal)
    assert (done.returncode, "name a file with --out" in done.stderr) == (2, True)


def test_a_query_loads_neither_prefect_nor_polars(results):
    told = f"{RUN}; print({{'prefect', 'polars', 'pydantic'}} & set(sys.modules))"
    command = [sys.executable, "-P", "-c", told, "query", str(results.file), "select 1"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_memory_does_not_grow_with_the_answer(results, tmp_path, form):
    """From 20 to 300 MB as text; what the engine itself takes differs by machine."""
    told = (
        f"import resource; {RUN}; "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    peaks = []
    for rows in (500_000, 8_000_000):
        text = "select i, i * 0.1 as x, 'text ' || i as t from range(ROWS) s(i)"
        text = text.replace("ROWS", str(rows))
        command = [sys.executable, "-P", "-c", told, "query", str(results.file), text]
        command += ["--out", str(tmp_path / f"answer.{form}")]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 200


def test_readers_and_nights_do_not_wait_for_each_other(tmp_path):
    """A plain DuckDB holds the file open while nights publish; others open it anew."""
    place = MADE["Place"](tmp_path / "place")
    place.days([1])
    place.night()
    file = str(place.results / "warehouse.duckdb")
    reading = (
        "import duckdb, sys\n"
        "con = duckdb.connect(sys.argv[1], read_only=True)\n"
        "text = 'select max(night)::varchar, count(*) from closing_in'\n"
        "for _ in sys.stdin:\n"
        "    print(*con.execute(text).fetchone(), flush=True)\n"
    )
    reader = subprocess.Popen(
        [sys.executable, "-P", "-c", reading, file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def said():
        reader.stdin.write("\n")
        reader.stdin.flush()
        return reader.stdout.readline().split()

    seen, is_over = [], threading.Event()

    def opening():
        while not is_over.is_set():
            with duckdb.connect(file, read_only=True) as con:
                ((nights,),) = con.execute(
                    "select count(distinct night) from closing_in"
                ).fetchall()
            seen.append(nights)

    others = threading.Thread(target=opening)
    try:
        first = said()
        others.start()
        for number in (2, 3):
            place.days([number])
            assert place.night().exit_code == 0
            assert said() == first == ["2024-05-01", "5"]
    finally:
        is_over.set()
        others.join()
        reader.communicate()
    assert seen == sorted(seen)
    assert set(seen) <= {1, 2, 3}
    with duckdb.connect(file, read_only=True) as con:
        assert con.execute("select max(night)::varchar from answers").fetchall() == [
            ("2024-05-03",)
        ]
