"""Doubly robust estimates night after night: models that stay, twins, refusals."""

from __future__ import annotations

import json
import sys

import duckdb
import polars as pl
import pytest

from flows.errors import JobError, LogError, UsageError
from flows.job import load

pytest.importorskip("sklearn")

KEYS = ("window", "candidate", "other", "segment_by", "segment", "estimand")
FIRST, SECOND, THIRD = "2024-05-01", "2024-05-02", "2024-05-03"


def declare(place, extra="", **job):
    """A job file with the option, `extra` lines beside it."""
    place.job(**job)
    text = place.file.read_text()
    lines = f"doubly_robust = true\n{extra}segments"
    place.file.write_text(text.replace("segments", lines, 1))


def models(place):
    """The model of each night, as it is kept."""
    files = (place.results / "models").glob("*.json")
    return {file.name[:10]: file.read_bytes() for file in files}


def learnt(place, night):
    return json.loads(models(place)[night])["learnt"]


def of(rows, estimator):
    is_whole = (pl.col("segment_by") == "") & (pl.col("candidate") != "logging")
    return rows.filter(is_whole & (pl.col("estimator") == estimator)).sort(KEYS)


def both(place, night):
    rows = place.estimates(night)
    return of(rows, "importance weighting"), of(rows, "doubly robust")


@pytest.fixture(scope="module")
def made(tmp_path_factory, place_at):
    """Three nights with the option: to look at, not to change."""
    place = place_at(tmp_path_factory.mktemp("robust") / "place")
    declare(place)
    place.days((1, 2, 3))
    place.night()
    return place


def test_every_estimate_without_a_segment_has_a_twin(made):
    weighted, robust = both(made, THIRD)
    assert robust.select(KEYS).equals(weighted.select(KEYS))
    same = ("decisions", "missing_reward", "mean_weight", "look", "method", "state")
    assert robust.select(same).equals(weighted.select(same))
    inside = pl.col("estimate").is_between(pl.col("lower"), pl.col("upper"))
    assert robust.select(inside.all()).item()
    assert robust["top_share"].null_count() == robust.height


def test_no_segment_and_no_logging_policy_has_a_twin(made):
    rows = made.estimates(THIRD).filter(estimator="doubly robust")
    assert set(rows["segment_by"]) == {""}
    assert set(rows["candidate"]) == {"new", "table"}


def test_the_first_night_is_estimated_by_importance_weighting(made):
    weighted, robust = both(made, FIRST)
    numbers = ["estimate", "identified_lower", "identified_upper"]
    for name in numbers:
        assert robust[name].to_list() == pytest.approx(
            weighted[name].to_list(), abs=1e-5
        )
    assert learnt(made, FIRST) == []


def test_a_night_learns_from_the_nights_before_it(made):
    assert learnt(made, SECOND) == [FIRST]
    assert learnt(made, THIRD) == [FIRST, SECOND]


def test_tables_name_the_estimator_and_answers_are_not_mixed(made):
    with duckdb.connect(str(made.results / "warehouse.duckdb"), read_only=True) as con:
        found = con.execute(
            "select estimator, count(*) from estimates where night = '2024-05-03' "
            "and segment_by = '' group by all order by all"
        ).fetchall()
        assert found == [("doubly robust", 16), ("importance weighting", 20)]
        answers = con.execute("select estimate from answers order by all").fetchall()
        assert len(answers) == 5
        view = "select night::varchar, candidate, estimand from doubly_robust"
        assert len(con.execute(view).fetchall()) == 3 * 2 * 2


def test_doubly_robust_answers_stand_beside_the_others_in_a_report(made, places):
    plain = places("plain")
    plain.days((1, 2, 3))
    plain.night()
    without, beside = plain.document(THIRD), made.document(THIRD)
    assert without.pop("doubly_robust") == []
    found = [one["candidate"] for one in beside.pop("doubly_robust")]
    assert found == [one["candidate"] for one in without["candidates"]]
    assert without == beside


def test_a_revision_changes_estimates_and_no_model(made, tmp_path, day):
    place = made.copied(tmp_path / "place")
    before, rows = models(place), both(place, THIRD)[1]
    changed = day(1).with_columns(reward=1.0 - pl.col("reward"))
    place.write(changed, f"day={FIRST}/part-0.parquet")

    place.night()

    assert models(place) == before
    after = both(place, THIRD)[1]
    since = pl.col("window") == "since_start"
    pairs = zip(
        rows.filter(since)["estimate"], after.filter(since)["estimate"], strict=True
    )
    assert all(one != other for one, other in pairs)
    seen = list((place.results / "models" / "seen").glob(f"{FIRST}-*.parquet"))
    assert len(seen) == 1
    # A night to come learns from the day as it is now.
    place.days([4])
    place.night()
    assert learnt(place, "2024-05-04") == [FIRST, SECOND, THIRD]
    assert {night: models(place)[night] for night in before} == before


def test_nights_come_out_the_same_one_by_one_and_all_at_once(made, places):
    place = places("one by one")
    declare(place)
    for number in (1, 2, 3):
        place.days([number])
        place.night()
    assert models(place) == models(made)
    for night in (FIRST, SECOND, THIRD):
        assert place.estimates(night).equals(made.estimates(night))


def test_a_second_run_makes_nothing_again(made, tmp_path):
    place = made.copied(tmp_path / "place")
    before = place.changes()
    night = place.night()
    assert (night.days_read, night.nights_estimated) == (0, 0)
    assert place.changes() == before


def test_the_option_can_come_later(made, places):
    place = places("later")
    place.days((1, 2, 3))
    place.night()
    declare(place)
    place.night()
    assert models(place) == models(made)
    assert place.estimates(THIRD).equals(made.estimates(THIRD))


def test_a_candidate_that_is_joined_by_decision_moves_no_other(made, places, day):
    place = places("joined")
    place.days((1, 2, 3))
    ids = pl.concat(day(number).select("decision_id") for number in (1, 2, 3))
    ids.with_columns(
        actions=pl.lit(["a", "b", "c"]), probabilities=pl.lit([0.2, 0.3, 0.5])
    ).write_parquet(place.root / "by_decision.parquet")
    joined = 'new = "column:new"\ntable = "table.parquet"\nlate = "by_decision.parquet"'
    declare(place, candidates=joined)
    place.night()
    found = both(place, THIRD)[1]
    for name in ("new", "table"):
        expected = both(made, THIRD)[1].filter(candidate=name)
        assert found.filter(candidate=name).equals(expected)
    numbers = ["window", "estimand", "estimate"]
    late, table = (
        found.filter(candidate=name).select(numbers) for name in ("late", "table")
    )
    assert late.equals(table)


def test_missing_decisions_leave_the_same_open_by_both_estimators(places, day):
    place = places("missing")
    declare(place)
    for number in (1, 2):
        rows = day(number)
        lost = rows.with_columns(reward=pl.col("reward").replace(0.0, None))
        low = pl.concat_list(pl.lit(0.02), pl.lit(0.9), pl.lit(0.08))
        is_b = pl.col("action") == "b"
        place.write(
            lost.with_columns(
                logging_probabilities=pl.when(is_b)
                .then(low)
                .otherwise("logging_probabilities")
            ),
            f"day=2024-05-0{number}/part-0.parquet",
        )
    place.night()
    weighted, robust = both(place, SECOND)
    assert weighted["missing_reward"].min() > 0
    assert weighted["unsupported_probability"].min() > 0
    width = pl.col("identified_upper") - pl.col("identified_lower")
    for each in (weighted, robust):
        assert each.select(width.min()).item() > 0.05
    gaps = [each.select(width).to_series().to_list() for each in (weighted, robust)]
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-4)


@pytest.mark.parametrize(
    ("extra", "look"),
    [('logging = "adaptive"\n', "every look"), ("horizon_nights = 28\n", "every look")],
)
def test_twins_follow_the_declared_method(extra, look, places):
    place = places("declared")
    declare(place, extra, method="anytime")
    place.days((1, 2))
    place.night()
    weighted, robust = both(place, SECOND)
    since = pl.col("window") == "since_start"
    assert set(robust.filter(since)["look"]) == {look}
    assert robust["assumes"].equals(weighted["assumes"])
    assert robust.select((pl.col("lower") < pl.col("upper")).all()).item()


def test_decisions_that_list_different_actions_are_refused(places, day):
    place = places("lists")
    declare(place, candidates='new = "uniform"')
    rows = day(1).with_columns(
        actions=pl.when(pl.int_range(pl.len()) == 0)
        .then(pl.lit(["a", "b", "c"]).list.reverse())
        .otherwise("actions")
    )
    place.write(rows.drop("new"), f"day={FIRST}/part-0.parquet")
    with pytest.raises(LogError, match=f"all list the same actions.*of {FIRST} do not"):
        place.night()
    assert not (place.results / "evidence").exists()


def test_without_its_package_a_night_says_how_to_install_it(places, monkeypatch):
    place = places("bare")
    declare(place)
    place.days([1])
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(UsageError, match=r'pip install "untaken\[models\]"'):
        place.night()


@pytest.mark.parametrize("method", ["fixed", "compat"])
def test_methods_that_do_not_take_nights_in_order_are_refused(method, places):
    place = places("method")
    declare(place, method=method)
    with pytest.raises(JobError, match='needs method = "anytime" or "mixture"'):
        load(place.file)


def test_a_log_of_propensities_is_refused(places):
    place = places("propensities")
    declare(place)
    text = place.file.read_text()
    declared = '[decisions]\nprobabilities = "propensity"'
    place.file.write_text(text.replace("[decisions]", declared))
    with pytest.raises(JobError, match="needs the probability of every action"):
        load(place.file)
