"""Every target: what arrives, what a night written again replaces, what is refused."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from flows.exports import TABLES, USUAL

FIRST, SECOND = dt.date(2024, 5, 1), dt.date(2024, 5, 2)
every_kind = pytest.mark.parametrize(
    "target", ["duckdb", "parquet", "postgresql", "delta", "iceberg"], indirect=True
)


def of_job(target, table, job="shop"):
    rows = target.read(table)
    return rows.filter(pl.col("job").cast(pl.String) == job)


def same(found, expected):
    assert_frame_equal(
        found.select(expected.columns),
        expected,
        check_row_order=False,
        check_exact=True,
    )


def meanings(target):
    """What a target says of two columns and a table."""
    if target.kind == "duckdb":
        import duckdb

        with duckdb.connect(str(target.path), read_only=True) as con:
            return con.execute(
                "select comment from duckdb_columns() where table_name = 'estimates' "
                "and column_name in ('job', 'lower') union all select comment from "
                "duckdb_tables() where table_name = 'estimates'"
            ).fetchall()
    if target.kind == "parquet":
        file = next(target.path.glob("estimates/*/*/*.parquet"))
        told = pl.read_parquet_metadata(file)
        return [told["lower"], told["job"]]
    if target.kind == "delta":
        from deltalake import DeltaTable

        table = DeltaTable(str(target.path / "estimates"))
        fields = table.schema().fields
        return [table.metadata().description, *(one.metadata for one in fields)]
    if target.kind == "iceberg":
        from pyiceberg.catalog.sql import SqlCatalog

        uri = f"sqlite:///{target.path / 'catalog.db'}"
        catalog = SqlCatalog("untaken", uri=uri)
        table = catalog.load_table("untaken.estimates")
        catalog.close()
        return [table.properties, *(one.doc for one in table.schema().fields)]
    table = f"'{target.namespace}.estimates'::regclass"
    said = f"col_description(attrelid, attnum), obj_description({table})"
    query = f"select {said} from pg_attribute where attrelid = {table}"  # noqa: S608
    return target.server.frame(query).rows()


@every_kind
def test_all_rows_arrive_once_and_a_second_export_finds_nothing_to_do(shop, target):
    ran = shop.export(target)
    assert (ran.code, ran.err) == (0, "")
    # A table that is new in the warehouse has to be named there, or it goes nowhere.
    assert shop.tables() == set(TABLES) - {"suggestions", "suggestion_reviews"}
    for table in shop.tables() & set(target.tables or USUAL):
        if (expected := shop.published(table)).height:
            same(of_job(target, table), expected)
    told = str(meanings(target))
    assert "Lower end of the interval, in the unit of the reward." in told
    assert "Name of the job, as its job file says." in told
    assert shop.export().out == f"  export     {target.kind}: up to date\n"


@every_kind
def test_a_night_written_again_replaces_its_rows_and_no_others(shop, another, target):
    assert (shop.export(target).code, another.export(target).code) == (0, 0)
    before = shop.published("estimates")
    shop.change(
        f"delete from estimates where night = date '{FIRST}'",  # noqa: S608 - it left the log
        "delete from estimates where candidate = 'new' and estimand = 'value'",
        "update estimates set lower = -1, state = 'an ''other'",
        f"delete from missing where day = date '{SECOND}'",  # noqa: S608
        "insert into violations (rule, row) values ('a rule', 7)",
    )
    # The first day's rows are all there; of the second none is missing any more.
    ran = shop.export()
    night = shop.published("estimates")
    assert ran.code == 0
    assert f"{night.height + 1} rows written in 3 tables" in ran.out
    kept = before.filter(pl.col("night") == FIRST)
    same(of_job(target, "estimates"), pl.concat([kept, night]))
    same(of_job(target, "missing"), shop.published("missing"))
    same(of_job(target, "violations"), shop.published("violations"))
    same(of_job(target, "estimates", "another"), before)


@every_kind
def test_columns_that_are_new_are_added_and_others_refused(shop, target):
    assert shop.export(target).code == 0
    shop.change(
        "alter table estimates add column further bigint default 5",
        "comment on column estimates.further is 'Number of further things.'",
    )
    assert shop.export().code == 0
    assert of_job(target, "estimates")["further"].to_list() == [5] * (
        shop.published("estimates").height
    )
    held = of_job(target, "estimates")
    shop.change(
        "alter table estimates drop column further",
        "alter table missing alter column kind type bigint using 1",
        "alter table estimates alter column lower type double using 2",
    )
    message = shop.export().refusal()
    assert "estimates.further is not known to this version" in message
    assert "missing.kind is text there and integer here" in message
    assert "Nothing was written" in message
    same(of_job(target, "estimates"), held)
