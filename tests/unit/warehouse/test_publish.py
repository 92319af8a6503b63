"""The warehouse: one DuckDB file that anybody may open at any time."""

from __future__ import annotations

import duckdb
import polars as pl


def query(file, text):
    with duckdb.connect(str(file), read_only=True) as con:
        return con.execute(text).fetchall()


def test_a_plain_duckdb_finds_eleven_tables_and_six_views(week):
    file = week.results / "warehouse.duckdb"
    named = "select table_name, table_type from information_schema.tables"
    assert sorted(query(file, named)) == [
        ("answers", "VIEW"),
        ("candidates", "BASE TABLE"),
        ("closing_in", "VIEW"),
        ("differences", "VIEW"),
        ("doubly_robust", "VIEW"),
        ("estimates", "BASE TABLE"),
        ("evidence", "BASE TABLE"),
        ("frequencies", "BASE TABLE"),
        ("known_segments", "BASE TABLE"),
        ("missing", "BASE TABLE"),
        ("revisions", "BASE TABLE"),
        ("rewards", "BASE TABLE"),
        ("runs", "BASE TABLE"),
        ("segments", "VIEW"),
        ("settings", "BASE TABLE"),
        ("violations", "BASE TABLE"),
        ("without_default", "VIEW"),
    ]
    answers = "select candidate, estimand, decisions from answers"
    assert query(file, answers) == [
        ("logging", "value", 840),
        ("new", "improvement", 840),
        ("new", "value", 840),
        ("table", "improvement", 840),
        ("table", "value", 840),
    ]
    nights = "select count(*), max(night)::varchar from closing_in where estimand = "
    assert query(file, nights + "'improvement'") == [(14, "2024-05-07")]
    found = "select distinct segment from segments order by 1"
    assert query(file, found) == [("desk",), ("phone",)]


def test_the_tables_stand_beside_it_with_the_same_rows(week):
    for table in ("estimates", "missing", "violations", "runs"):
        text = f"select count(*) from {table}"  # noqa: S608 - a table of ours
        ((count,),) = query(week.results / "warehouse.duckdb", text)
        rows = pl.read_parquet(week.results / "tables" / f"{table}.parquet")
        assert rows.height == count


def test_evidence_adds_up_to_the_decisions_of_each_candidate(week):
    text = (
        "select candidate, segment_by, sum(decisions)::int from evidence "
        "group by all order by all"
    )
    assert query(week.results / "warehouse.duckdb", text) == [
        (name, cut, 840)
        for name in ("logging", "new", "table")
        for cut in ("", "device")
    ]


def test_who_has_the_old_file_open_goes_on_reading_it(place):
    place.days([1])
    place.night()
    file = place.results / "warehouse.duckdb"
    text = "select max(night)::varchar from estimates"
    with duckdb.connect(str(file), read_only=True) as reader:
        place.days([2])
        assert place.night().exit_code == 0
        assert reader.execute(text).fetchall() == [("2024-05-01",)]
    assert query(file, text) == [("2024-05-02",)]


def test_missing_decisions_are_counted_by_kind(place, day):
    rows = day(1).with_columns(
        pl.when(pl.int_range(pl.len()) < 30)
        .then(None)
        .otherwise("reward")
        .alias("reward")
    )
    place.write(rows, "1.parquet")
    place.job(candidates='new = "column:new"\nelsewhere = "constant:z"')
    place.night()
    text = (
        "select candidate, kind, decision_count, unsupported_probability from missing "
        "where segment_by = '' order by all"
    )
    assert query(place.results / "warehouse.duckdb", text) == [
        ("elsewhere", "both", 30, 1.0),
        ("elsewhere", "support", 90, 1.0),
        ("logging", "reward", 30, 0.0),
        ("new", "reward", 30, 0.0),
    ]


def test_a_day_that_left_the_log_leaves_the_warehouse(place):
    place.days((1, 2))
    place.night()
    next((place.root / "log").glob("day=2024-05-01/*")).unlink()
    place.night()
    file = place.results / "warehouse.duckdb"
    for table, column in (("estimates", "night"), ("evidence", "day")):
        text = f"select distinct {column}::varchar from {table}"  # noqa: S608 - ours
        assert query(file, text) == [("2024-05-02",)]


def test_what_became_of_rewards_stands_in_a_table_by_day_and_version(week, place):
    text = "select count(*) from rewards"
    assert query(week.results / "warehouse.duckdb", text) == [(0,)]
    place.apart()
    place.decide([(f"{row}", 7_200 * row) for row in range(24)])
    late = ("1", 7_260, 100_000, 1.0)  # known when the night of 1 May had closed
    last = ("nobody", 180_000, 180_000, 1.0)
    place.events([("0", 60, 90, 1.0), late, ("20", 144_010, 144_020, 1.0), last])
    place.night()
    file = place.results / "warehouse.duckdb"
    text = (
        "select day::varchar, known_from::varchar, judged_as_of::varchar, "
        "superseded_at::varchar, is_open, decisions, observed, defaulted, "
        "median_seconds from rewards"
    )
    first, second = "2024-05-02 00:11:00+00", "2024-05-03 00:11:00+00"
    with duckdb.connect(str(file), read_only=True) as con:
        con.execute("set timezone = 'UTC'")
        assert con.execute(text).fetchall() == [
            ("2024-05-01", "2024-05-01", first, second, False, 12, 1, 11, 60.0),
            ("2024-05-01", "2024-05-02", second, None, False, 12, 2, 10, 60.0),
            ("2024-05-02", "2024-05-02", second, None, False, 12, 1, 11, 10.0),
        ]
    both = (
        "select estimator, missing_reward from estimates where estimand = 'value' and "
        "candidate = 'logging' and \"window\" = 'since_start' and night = '2024-05-02'"
    )
    assert sorted(query(file, both)) == [
        ("importance weighting", 0),
        ("without default reward", 21),
    ]
    view = "select candidate, estimand from without_default where night = '2024-05-02'"
    assert query(file, view) == [
        ("logging", "value"),
        ("uniform", "improvement"),
        ("uniform", "value"),
    ]
