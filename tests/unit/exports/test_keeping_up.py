"""What an export repairs, what it leaves behind, and what is loaded by hand."""

from __future__ import annotations

import duckdb
import polars as pl
import pytest

from flows import queries
from flows.exports.source import Slice, batches

PARQUET = '{ to = "parquet", path = "out" }'


def test_rows_that_somebody_deleted_come_back(shop):
    assert shop.export('{ to = "duckdb", path = "d", namespace = "ours" }').code == 0
    night = "select count(*) from ours.estimates where night = date '2024-05-01'"
    with duckdb.connect(str(shop.root / "d")) as con:
        ((count,),) = con.execute(night).fetchall()
        con.execute("delete from ours.estimates where night = date '2024-05-01'")
        con.execute("drop table ours.missing")
    ran = shop.export()
    missing = shop.published("missing").height
    assert f"{count + missing} rows written in 2 tables" in ran.out
    with duckdb.connect(str(shop.root / "d")) as con:
        assert con.execute(night).fetchall() == [(count,)]


def test_a_newer_version_says_anew_what_columns_mean(shop):
    assert shop.export('{ to = "duckdb", path = "d" }').code == 0
    with duckdb.connect(str(shop.root / "d")) as con:
        con.execute("comment on column untaken.runs.night is 'Said worse.'")
        con.execute("update untaken.exported set untaken_version = '0.0.1'")
    assert shop.export().code == 0
    with duckdb.connect(str(shop.root / "d")) as con:
        said = "select comment from duckdb_columns() where table_name = 'runs'"
        assert ("Said worse.",) not in con.execute(said).fetchall()
    assert shop.export().out == "  export     duckdb: up to date\n"


def test_what_a_killed_export_left_is_swept(shop):
    left = shop.root / "out" / ".shop.new" / "estimates" / "job=shop"
    left.mkdir(parents=True)
    (left / "part-0.parquet").write_bytes(b"half a file")
    assert shop.export(PARQUET).code == 0
    assert [file.name for file in (shop.root / "out").glob(".*")] == []


def test_an_export_that_died_before_its_end_is_finished_by_the_next(shop):
    assert shop.export(PARQUET).code == 0
    (night,) = (shop.root / "out").glob("estimates/*/night=2024-05-02/*")
    last = night.read_bytes()
    # The night is in its place, the table that says so is not.
    (shop.root / "out" / "exported" / "job=shop" / "part-0.parquet").unlink()
    night.write_bytes((night.parents[1] / "night=2024-05-01" / night.name).read_bytes())
    assert shop.export().code == 0
    assert night.read_bytes() == last


def test_any_reader_of_hive_partitions_finds_nights_and_jobs(shop):
    assert shop.export(PARQUET).code == 0
    files = str(shop.root / "out" / "estimates" / "**" / "*.parquet")
    rows = pl.scan_parquet(files, hive_partitioning=True).select("job", "night")
    expected = shop.published("estimates").select(pl.lit("shop").alias("job"), "night")
    assert rows.collect().sort("night").equals(expected.sort("night"))
    with duckdb.connect() as con:
        found = f"select distinct job, night::varchar from '{files}' order by 2"  # noqa: S608
        nights = [("shop", "2024-05-01"), ("shop", "2024-05-02")]
        assert con.execute(found).fetchall() == nights


@pytest.mark.parametrize(
    ("to", "further", "statements"),
    [
        (
            "snowflake",
            "",
            [
                '"WINDOW" varchar comment \'Which days it is about: night',
                "add column if not exists",
                "match_by_column_name = case_insensitive;",
                "put 'file://",
                '"JOB" = \'shop\'\n    and "NIGHT" in (select "NIGHT" from',
                "begin;\ndelete from",
            ],
        ),
        (
            "bigquery",
            ', uri = "gs://bucket/x/"',
            [
                "a date in the job\\'s time zone.",
                "uris = ['gs://bucket/x/shop/estimates.parquet']",
                "begin transaction;\ndelete from",
                "commit transaction;",
            ],
        ),
    ],
)
def test_files_and_statements_for_a_warehouse_that_is_loaded_by_hand(
    shop, to, further, statements
):
    ran = shop.export(f'{{ to = "{to}", path = "out"{further} }}')
    script = shop.root / "out" / "shop" / "load.sql"
    assert ran.code == 0
    assert f"; to load them: {script}" in ran.out
    text = script.read_text()
    assert text.splitlines()[1].startswith("-- Untested: ")
    assert [one for one in statements if one not in text] == []
    rows = pl.read_parquet(script.with_name("estimates.parquet"))
    assert rows.drop("job").equals(shop.published("estimates"))
    known = pl.read_parquet(script.with_name("exported.parquet"))
    # Nights without rows are named too, so that what they had is deleted.
    assert known.filter(table_name="revisions").height == 2


def test_lots_of_nights_fit_into_memory():
    slices = {number: Slice(150_000, "") for number in range(5)}
    assert batches(range(5), slices) == [[0, 1], [2, 3], [4]]


def test_every_column_of_the_warehouse_says_what_it_means(shop):
    with queries.connection() as con:
        path = queries.literal(str(shop.warehouse))
        queries.execute(con, f"attach {path} as source (read_only)")
        silent = [
            f"{table}.{column}"
            for table, column, _, meaning, whole in queries.run(con, "exports/meanings")
            if not (meaning and whole)
        ]
    assert silent == []
    names = {name.rpartition("/")[2] for name in queries.names("marts/comments")}
    assert names == shop.tables() | {"suggestions", "suggestion_reviews"}
