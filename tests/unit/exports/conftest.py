"""A job that was published once, targets of every kind, and a PostgreSQL server."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import tempfile
from pathlib import Path

import duckdb
import polars as pl
import pytest

MADE = runpy.run_path(
    str(Path(__file__).parents[1] / "warehouse" / "conftest.py"), run_name="made"
)
NEEDS = {
    "postgresql": "adbc_driver_postgresql",
    "delta": "deltalake",
    "iceberg": "pyiceberg",
}
# Making a table costs Iceberg a third of a second.
FEW = '["estimates", "missing", "violations"]'
SHORT = ["estimates", "missing", "violations"]


class Shop:
    """A published job in a folder of its own."""

    def __init__(self, place, untaken) -> None:
        self.place, self.untaken = place, untaken
        self.file, self.root = place.file, place.root
        self.text = place.file.read_text()
        self.warehouse = place.results / "warehouse.duckdb"

    def named(self, name) -> None:
        """The same results as those of another job."""
        self.text = self.text.replace('name = "shop"', f'name = "{name}"')
        results = self.place.results.rename(self.place.results.with_name(name))
        self.warehouse = results / "warehouse.duckdb"

    def to(self, *targets) -> None:
        """Names targets in the job file."""
        self.file.write_text(f"{self.text}export = [{', '.join(map(str, targets))}]\n")

    def export(self, *targets, options=()):
        """Runs `untaken export`."""
        if targets:
            self.to(*targets)
        return self.untaken("export", self.file, *options)

    def change(self, *statements) -> None:
        """Changes what was published, as a night does that is made again."""
        with duckdb.connect(str(self.warehouse)) as con:
            for statement in statements:
                con.execute(statement)

    def tables(self) -> set[str]:
        """The names of the published tables."""
        with duckdb.connect(str(self.warehouse), read_only=True) as con:
            found = con.execute("select table_name from duckdb_tables()").fetchall()
            return {name for (name,) in found}

    def published(self, table) -> pl.DataFrame:
        """The rows of a published table, lists as JSON."""
        with duckdb.connect(str(self.warehouse), read_only=True) as con:
            con.execute("set timezone = 'UTC'")
            rows = con.sql(f"from {table}")
            listed = [
                f'to_json("{name}")::varchar as "{name}"'
                if str(of).endswith("[]")
                else f'"{name}"'
                for name, of in zip(rows.columns, rows.types, strict=True)
            ]
            return pl.DataFrame(con.sql(f"from {table} select {', '.join(listed)}"))


class Target:
    """A target of some kind: how a job file names it, and what it holds."""

    def __init__(self, kind, folder, server) -> None:
        self.kind, self.folder, self.server = kind, folder, server
        self.namespace = "s" + os.urandom(4).hex()
        self.tables = SHORT if kind == "iceberg" else None

    @property
    def path(self) -> Path:
        return self.folder / self.kind

    def __str__(self) -> str:
        if self.kind == "postgresql":
            where = f'url_env = "SHOP_URL", namespace = "{self.namespace}"'
        else:
            where = f'path = "{self.path}"'
        tables = f", tables = {FEW}" if self.kind == "iceberg" else ""
        return f'{{ to = "{self.kind}", {where}{tables} }}'

    def read(self, table) -> pl.DataFrame:
        """All rows of a table, with plain readers."""
        place = self.path / table
        if self.kind == "duckdb":
            with duckdb.connect(str(self.path), read_only=True) as con:
                con.execute("set timezone = 'UTC'")
                return pl.DataFrame(con.sql(f"from untaken.{table}"))
        if self.kind == "parquet":
            files = pl.scan_parquet(
                place, hive_partitioning=True, missing_columns="insert"
            )
            return files.collect()
        if self.kind == "delta":
            return pl.read_delta(str(place))
        if self.kind == "iceberg":
            from pyiceberg.catalog.sql import SqlCatalog

            uri = f"sqlite:///{self.path / 'catalog.db'}"
            catalog = SqlCatalog("untaken", uri=uri)
            rows = catalog.load_table(f"untaken.{table}").scan().to_arrow()
            catalog.close()
            return pl.from_arrow(rows)
        return self.server.frame(f"table {self.namespace}.{table}")


class Server:
    """A PostgreSQL server of our own on a socket."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.url = f"postgresql://postgres@/postgres?host={folder}"

    def as_user(self, name) -> str:
        return self.url.replace("postgres@", f"{name}@")

    def frame(self, query) -> pl.DataFrame:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.url) as con, con.cursor() as cursor:
            cursor.execute(query)
            found = cursor.fetch_polars()
            con.commit()
            return found


@pytest.fixture(scope="session")
def server():
    """The distribution's PostgreSQL, started for these tests alone."""
    pytest.importorskip("adbc_driver_postgresql")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = found[-1] if found else shutil.which("initdb")
    if initdb is None:
        pytest.skip("needs the system package postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    options = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        shutil.chown(folder, "postgres")
        options = {"user": "postgres", "cwd": "/"}

    def run(*command):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)

    data, socket = folder / "data", f"-c unix_socket_directories={folder}"
    setting = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    run(initdb, "-D", data, *setting)
    control = [Path(initdb).with_name("pg_ctl"), "-D", data, "-w", "-l", folder / "log"]
    quiet = f"-c listen_addresses= {socket} -c fsync=off -c full_page_writes=off"
    run(*control, "-o", quiet, "start")
    yield Server(folder)
    run(*control, "-m", "immediate", "stop")
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def published(tmp_path_factory):
    """Two nights with missing decisions, one candidate, and nothing exported."""
    place = MADE["Place"](tmp_path_factory.mktemp("published") / "place")
    place.job(candidates='new = "column:new"', reports=("json",))
    for number in (1, 2):
        rows = MADE["day"](number, 60).with_columns(
            pl.when(pl.int_range(pl.len()) >= 6).then("reward").alias("reward")
        )
        place.write(rows, MADE["name_of"](number))
    place.night()
    return place


@pytest.fixture
def shop(published, tmp_path, untaken):
    return Shop(published.copied(tmp_path / "shop"), untaken)


@pytest.fixture
def another(published, tmp_path, untaken):
    """A job of another name with the same results."""
    made = Shop(published.copied(tmp_path / "another"), untaken)
    made.named("another")
    return made


@pytest.fixture
def target(request, tmp_path, monkeypatch):
    """A target of the kind that the test names."""
    kind = request.param
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind])
    server = request.getfixturevalue("server") if kind == "postgresql" else None
    if server is not None:
        monkeypatch.setenv("SHOP_URL", server.url)
    return Target(kind, tmp_path, server)
