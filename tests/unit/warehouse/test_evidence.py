"""Evidence is counted once for each day and candidate, and adds up to the log."""

from __future__ import annotations

import polars as pl
import pytest

from flows.errors import PolicyError
from flows.offpolicy import evaluate

ADDED = 'late = "constant:b"\n'


def evidence(place):
    """File by file of the evidence when it was written."""
    return {
        name: when
        for name, when in place.changes().items()
        if name.startswith("evidence/")
    }


def candidates_of(place, files):
    return {
        pl.read_parquet(place.results / file)["candidate"].unique().item()
        for file in files
        if file.endswith(".parquet")
    }


def headline(place, night):
    rows = place.estimates(night)
    return rows.filter(pl.col("window") == "since_start", pl.col("segment_by") == "")


def test_a_candidate_added_later_computes_only_itself(place):
    place.days((1, 2))
    place.night()
    before, rows = evidence(place), headline(place, "2024-05-02")
    place.job(candidates=ADDED + 'table = "table.parquet"\nnew = "column:new"')
    place.night()
    after = evidence(place)
    assert {name: after[name] for name in before} == before
    assert candidates_of(place, set(after) - set(before)) == {"late"}
    # The file's order changed as well: shares go by who appeared first.
    late = pl.col("candidate") == "late"
    assert headline(place, "2024-05-02").filter(~late).equals(rows)


def test_a_candidate_that_leaves_keeps_its_share(place):
    place.days([1])
    place.night()
    rows = headline(place, "2024-05-01")
    place.job(candidates='table = "table.parquet"')
    place.night()
    kept = rows.filter(pl.col("candidate") != "new")
    assert headline(place, "2024-05-01").equals(kept)


def test_a_changed_table_recounts_only_its_candidate(place):
    place.days((1, 2))
    place.night()
    before = evidence(place)
    place.table((0.6, 0.2, 0.2))
    place.night()
    after = evidence(place)
    assert {name: after[name] for name in before} == before
    assert candidates_of(place, set(after) - set(before)) == {"table"}
    rows = pl.read_parquet(place.results / "tables" / "estimates.parquet")
    assert (
        rows.select("night", "candidate", "window", "segment", "estimand")
        .is_unique()
        .all()
    )


def test_a_touched_table_is_the_same_table(place):
    place.days([1])
    place.night()
    place.table()
    (place.root / "table.parquet").touch()
    assert place.night().days_read == 0


def test_a_table_by_day_is_read_day_by_day(place, day):
    place.job(candidates='daily = "daily/day=*/*.parquet"')
    place.days((1, 2))
    for number in (1, 2):
        rows = day(number).select("decision_id", "actions", probabilities="new")
        file = place.root / "daily" / f"day=2024-05-0{number}" / "0.parquet"
        file.parent.mkdir(parents=True)
        rows.write_parquet(file)
    place.night()
    before = evidence(place)
    rows.with_columns(probabilities=pl.lit([1.0, 0.0, 0.0])).write_parquet(file)
    assert place.night().days_read == 1
    new = set(evidence(place)) - set(before)
    assert {name.split("/")[1] for name in new} == {"2024-05-02"}
    file.unlink()
    with pytest.raises(PolicyError, match=r"no file of .* is for day 2024-05-02"):
        place.night()


def test_a_changed_old_day_is_a_revision_and_later_nights_follow(place, day):
    place.days((1, 2, 3))
    place.night()
    rows = {date: place.estimates(f"2024-05-0{date}") for date in (1, 2, 3)}
    changed = day(2).with_columns(reward=1 - pl.col("reward"))
    place.write(changed, "day=2024-05-02/part-0.parquet")
    again = place.night()
    assert (again.days_read, again.nights_estimated) == (1, 2)
    days = place.document("2024-05-03")["days"]
    assert [one["revision"] for one in days] == [0, 1, 0]
    assert place.estimates("2024-05-01").equals(rows[1])
    assert not place.estimates("2024-05-03").equals(rows[3])


@pytest.mark.parametrize("method", ["mixture", "compat"])
def test_since_the_start_equals_evaluate_on_the_same_files(place, method):
    place.job(candidates='new = "column:new"', method=method)
    place.days((1, 2, 3))
    place.night()
    found = evaluate(
        str(place.root / "log"),
        candidates=["column:new"],
        reward_range=(0.0, 1.0),
        floor=0.1,
        method=method,
        context=["device"],
        by=["device"],
    )
    rows = place.estimates("2024-05-03").filter(window="since_start", candidate="new")
    finding = found.candidates[0].finding
    for estimate in finding.estimates:
        row = rows.row(
            by_predicate=(pl.col("segment_by") == "")
            & (pl.col("estimand") == estimate.estimand),
            named=True,
        )
        same = ["estimate", "identified_lower", "identified_upper"]
        # compat is never adjusted; by mixture a first candidate has its own share.
        same += ["lower", "upper"] if method == "compat" else []
        assert [row[n] for n in same] == [getattr(estimate, n) for n in same]
        assert row["decisions"] == finding.decisions == 360
        assert row["effective_sample_size"] == finding.diagnostics.effective_sample_size
    if method == "compat":
        for segment, (one,) in found.segments.items():
            row = rows.row(
                by_predicate=(pl.col("segment") == segment)
                & (pl.col("estimand") == "value"),
                named=True,
            )
            assert (row["lower"], row["upper"]) == (one.value.lower, one.value.upper)


def test_a_log_in_another_form_counts_the_same(places, day):
    lists, structs = places("lists"), places("structs")
    for place in (lists, structs):
        place.job(candidates='uniform = "uniform"')
    rows = day(1)
    lists.write(rows, "1.parquet")
    pairs = [
        [{"action": a, "probability": p} for a, p in zip(*both, strict=True)]
        for both in zip(rows["actions"], rows["logging_probabilities"], strict=True)
    ]
    rows = rows.drop("actions", "new").with_columns(
        logging_probabilities=pl.Series(pairs)
    )
    structs.write(rows, "1.parquet")
    text = structs.file.read_text()
    form = '[decisions]\nprobabilities = "structs"'
    structs.file.write_text(text.replace("[decisions]", form))
    for place in (lists, structs):
        place.night()
    assert structs.estimates("2024-05-01").equals(lists.estimates("2024-05-01"))
