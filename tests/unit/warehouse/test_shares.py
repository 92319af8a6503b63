from __future__ import annotations

import datetime as dt
import math

import polars as pl

from flows.offpolicy.nights import segment_shares, series_share
from flows.warehouse.plans import APPEARED


def ends(place, night, candidate="new", segment=""):
    rows = place.estimates(night).filter(
        (pl.col("window") == "since_start")
        & (pl.col("candidate") == candidate)
        & (pl.col("segment") == segment)
    )
    return rows.sort("estimand").select("estimand", "lower", "upper").rows()


def test_shares_of_endlessly_many_candidates_add_up_to_one():
    assert sum(series_share(place) for place in range(1, 100_000)) < 1
    assert math.isclose(series_share(1), 6 / math.pi**2)


def test_a_candidate_changed_under_its_name_appears_anew(place):
    place.days([1])
    place.night()
    before = ends(place, "2024-05-01")
    place.table(probabilities=(0.6, 0.2, 0.2))
    place.night()
    appeared = [name for name, _ in place.folder().read_json(APPEARED)]
    assert appeared == ["new", "table", "table"]
    assert ends(place, "2024-05-01") == before


def test_a_table_by_decision_that_grows_is_the_same_candidate(place, day):
    place.job(candidates='kept = "kept/*.parquet"')

    def keep(number):
        file = place.root / "kept" / f"{number}.parquet"
        file.parent.mkdir(exist_ok=True)
        day(number).select(
            "decision_id", "actions", pl.col("new").alias("probabilities")
        ).write_parquet(file)

    for number in (1, 2):
        place.days([number])
        keep(number)
        place.night()
    assert len(place.folder().read_json(APPEARED)) == 1


def test_a_segment_that_appears_later_moves_no_published_interval(place, day):
    place.days([1, 2])
    place.night()
    before = ends(place, "2024-05-02", segment="desk")
    late = pl.when(pl.int_range(pl.len()) < 20).then(pl.lit("watch"))
    rows = day(3).with_columns(device=late.otherwise(pl.col("device")))
    entry = pl.read_parquet(place.root / "table.parquet")
    watch = entry.head(1).with_columns(device=pl.lit("watch"))
    pl.concat([entry, watch]).write_parquet(place.root / "table.parquet")
    place.write(rows, "day=2024-05-03/part-0.parquet")
    place.night()
    assert ends(place, "2024-05-02", segment="desk") == before


def test_segments_that_keep_appearing_do_not_overspend():
    days = [dt.date(2024, 5, number) for number in (1, 1, 2, 3, 4, 5, 6)]
    cells = {
        ("new", "device", f"device {number}"): pl.DataFrame({"day": [day, days[-1]]})
        for number, day in enumerate(days)
    }
    shares = list(segment_shares(cells).values())
    assert shares[:2] == [series_share(1) / 2] * 2
    assert shares[2:] == [series_share(place) for place in range(2, 7)]
    assert sum(shares) < 1
