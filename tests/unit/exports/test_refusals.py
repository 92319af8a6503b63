"""What an export refuses: it says what to do, and leaves nothing half-written."""

from __future__ import annotations

import resource
import subprocess
import sys
from contextlib import contextmanager

import duckdb
import polars as pl
import pytest

from flows.exports import TABLES

HOLDER = """
import sys, duckdb
con = duckdb.connect(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


def contents(folder):
    return {
        file.relative_to(folder): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


@contextmanager
def files_up_to(size):
    """A disk on which no file can grow beyond `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ('{ to = "mysql", path = "x" }', "'duckdb', 'parquet', 'postgresql'"),
        ('{ to = "duckdb" }', 'to = "duckdb" needs path'),
        ('{ to = "bigquery", path = "x" }', "needs uri"),
        ('{ to = "postgresql", path = "x", url_env = "U" }', "path is not for"),
        ('{ to = "parquet", path = "s3://x" }', "a file or folder of this machine"),
        ('{ to = "parquet", path = "x", tables = ["runz"] }', "no table runz; known:"),
        ('{ to = "duckdb", path = "x", namespace = "A b" }', "namespace = 'A b'"),
        (
            '{ to = "delta", path = "x" }, { to = "delta", path = "y" }',
            "two exports have the name 'delta'",
        ),
        (
            '{ to = "delta", path = "x" }, { to = "parquet", path = "x" }',
            "two exports have the path 'x'",
        ),
    ],
)
def test_a_target_that_cannot_be_meant_is_refused_with_the_job_file(shop, target, said):
    message = shop.export(target).refusal()
    assert "outputs.export" in message
    assert said in message


def test_a_job_that_exports_nothing_and_unknown_names_are_told(shop):
    assert '[outputs] export = [{ to = "parquet"' in shop.export().refusal()
    shop.to('{ to = "parquet", path = "out" }', '{ to = "duckdb", path = "d" }')
    message = shop.export(options=("--to", "parket")).refusal()
    assert "--to parket: no target of shop; did you mean parquet?" in message
    ran = shop.export(options=("--to", "duckdb"))
    assert (ran.code, (shop.root / "out").exists()) == (0, False)
    shop.warehouse.unlink()
    message = shop.export().refusal()
    assert message.count("holds no warehouse yet; run untaken nightly first") == 2
    assert (shop.root / "d").exists()


def test_a_target_that_fails_keeps_no_other_from_being_written(shop, monkeypatch):
    monkeypatch.delenv("NOT_SET", raising=False)
    before = contents(shop.place.results)
    ran = shop.export(
        '{ to = "postgresql", url_env = "NOT_SET" }', '{ to = "parquet", path = "out" }'
    )
    assert ran.code == 2
    assert ran.err == (
        "untaken: shop: export to postgresql: the environment has no NOT_SET, where "
        "the URL of the server is to stand\n"
    )
    assert "  export     parquet: " in ran.out
    assert contents(shop.place.results) == before


@pytest.mark.parametrize("target", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://me:se%63ret@127.0.0.1:1/x", "SHOP_URL cannot be reached: "),
        ("postgresql://me:sec/ret@127.0.0.1:1/x", "SHOP_URL cannot be read"),
        ("sec ret", "SHOP_URL cannot be read"),
    ],
)
def test_a_server_that_is_not_there_is_told_without_its_password(
    shop, target, monkeypatch, url, said
):
    monkeypatch.setenv("SHOP_URL", url)
    message = shop.export(target).refusal()
    assert said in message
    assert not any(part in message for part in ("sec", "ret@", "se%63ret"))


@pytest.mark.parametrize("target", ["postgresql"], indirect=True)
def test_rights_that_are_lacking_leave_the_database_as_it_was(
    shop, target, server, monkeypatch
):
    server.frame(f"create role {target.namespace} login")
    monkeypatch.setenv("SHOP_URL", server.as_user(target.namespace))
    message = shop.export(target).refusal()
    assert "PostgreSQL: permission denied for database postgres" in message
    # A schema that somebody made for it is enough.
    server.frame(f"create schema {target.namespace} authorization {target.namespace}")
    assert shop.export(target).code == 0
    later = f"{target.namespace}.missing"
    server.frame(f"alter table {later} owner to postgres")
    server.frame(f"grant select on {later} to {target.namespace}")
    shop.change("update estimates set lower = 0.5", "delete from missing")
    before = target.read("estimates")
    assert "permission denied for table missing" in shop.export(target).refusal()
    assert target.read("estimates").equals(before)


@pytest.mark.parametrize(
    "target", ["duckdb", "parquet", "postgresql", "delta"], indirect=True
)
def test_a_table_of_somebody_else_is_left_alone(shop, target, server):
    own = pl.DataFrame({"name": ["theirs"]})
    if target.kind == "duckdb":
        with duckdb.connect(str(target.path)) as con:
            con.execute("create schema untaken; create table untaken.runs (name text)")
            con.execute("insert into untaken.runs values ('theirs')")
    elif target.kind == "postgresql":
        server.frame(f"create schema {target.namespace}")
        server.frame(f"create table {target.namespace}.runs (name text)")
    else:
        (target.path / "runs").mkdir(parents=True)
        own.write_parquet(target.path / "runs" / "mine.parquet")
    message = shop.export(target).refusal()
    assert "Nothing was written" in message
    assert "runs" in message
    if target.kind == "duckdb":
        assert target.read("runs").equals(own)
    if target.kind in ("parquet", "delta"):
        assert [file.name for file in contents(target.path)] == ["mine.parquet"]


@pytest.mark.parametrize("target", ["duckdb", "parquet", "delta"], indirect=True)
def test_a_full_disk_leaves_the_target_as_it_was(shop, target):
    with files_up_to(2_000):
        message = shop.export(target).refusal()
    assert str(target.path) in message
    if target.kind != "delta":  # whose commits are one after the other
        assert [*target.folder.glob(f"{target.kind}/**/*")] == []
    assert shop.export().code == 0
    assert target.read("estimates").height == shop.published("estimates").height


def test_a_file_that_somebody_has_open_is_not_waited_for(shop):
    file = shop.root / "other.duckdb"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout.readline() == b"open\n"
        message = shop.export('{ to = "duckdb", path = "other.duckdb" }').refusal()
        holder.stdin.close()
    assert "somebody else has it open" in message
    assert "close it there and export again" in message
    assert shop.export().code == 0


def test_the_warehouse_is_not_exported_into_itself(shop):
    path = "results/shop/warehouse.duckdb"
    message = shop.export(f'{{ to = "duckdb", path = "{path}" }}').refusal()
    assert "is the warehouse that is exported; name another" in message
    assert shop.tables() <= set(TABLES)


def test_something_that_is_no_database_is_told(shop):
    (shop.root / "notes").write_text("not a database, but long enough to be looked at")
    message = shop.export('{ to = "duckdb", path = "notes" }').refusal()
    assert "notes: " in message
    assert (shop.root / "notes").read_text().startswith("not a database")
