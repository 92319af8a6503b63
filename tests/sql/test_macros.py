"""The macros for analysts: what they say, and that their intervals hold."""

# ruff: noqa: S608 - queries are put together from what stands here

from __future__ import annotations

import math
import runpy
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

from flows import queries
from flows.offpolicy.grid import Grid

MADE = runpy.run_path(
    str(Path(__file__).parents[1] / "unit" / "warehouse" / "conftest.py")
)
OVER_A_LOG = ("bernstein", "bernstein_answer", "log", "log_exploratory")
CANDIDATES = (
    'new = "column:new"\nelsewhere = "constant:z"\nsame = "logging"\nb = "constant:b"'
)
ENDS = ("estimate", "lower", "upper")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Four nights, a fifth of the rewards missing; a candidate without any support."""
    place = MADE["Place"](tmp_path_factory.mktemp("macros") / "place")
    place.job(candidates=CANDIDATES)
    text = place.file.read_text().replace("floor = 0.1", "floor = 0.15")
    compare = '[[compare]]\ncandidates = ["b", "new"]\n[outputs]'
    place.file.write_text(text.replace("[outputs]", compare))
    for number in range(1, 5):
        is_missing = pl.int_range(pl.len()) % 5 == 0
        rows = MADE["day"](number).with_columns(
            reward=pl.when(is_missing).then(None).otherwise("reward")
        )
        place.write(rows, MADE["name_of"](number))
    place.night()
    return place


def opened(place):
    return duckdb.connect(str(place.results / "warehouse.duckdb"), read_only=True)


def made(con, text):
    """The rows of a query, as dicts."""
    return pl.DataFrame(con.sql(text)).to_dicts()


@pytest.fixture
def con(place):
    with opened(place) as con:
        yield con


@pytest.fixture
def log():
    """A plain DuckDB with the macros that are for a log alone."""
    with duckdb.connect() as con:
        for name in OVER_A_LOG:
            con.execute(queries.text(f"macros/{name}"))
        yield con


def published(con):
    """What the newest night published since the start, by its subject and segment."""
    return made(
        con,
        "from estimates where \"window\" = 'since_start' and estimator = "
        "'importance weighting' and night = (select max(night) from estimates)",
    )


def asked(con, row):
    """What the macros say of the same."""
    macro = "improvement" if row["estimand"] == "improvement" else "value"
    (answer,) = made(
        con,
        f"select unnest(exploratory_{macro}(e)) from evidence_of('{row['candidate']}', "
        f"segment_by := '{row['segment_by']}', other := '{row['other']}') as e "
        f"where segment = '{row['segment']}'",
    )
    return answer


def test_estimates_over_evidence_are_those_of_the_night(con):
    rows = published(con)
    assert {row["estimand"] for row in rows} == {"value", "improvement", "difference"}
    assert any(row["missing_support"] for row in rows)
    for row in rows:
        answer = asked(con, row)
        assert answer["estimate"] == pytest.approx(row["estimate"], abs=2e-9)
        assert answer["decisions"] == row["decisions"]
        size = pytest.approx(row["effective_sample_size"], rel=1e-9, abs=1e-9)
        assert (answer["effective_sample_size"] or 0.0) == size
        assert (answer["method"], answer["look"]) == (
            "empirical_bernstein",
            "exploratory",
        )
        low, high = row["identified_lower"], row["identified_upper"]
        assert answer["lower"] <= low + 1e-8 <= high + 2e-8 <= answer["upper"] + 4e-8


def test_the_order_of_rows_changes_no_bit(place, tmp_path):
    text = (
        "select segment, day, unnest(exploratory_improvement(e)) from "
        "evidence_of('new', segment_by := 'device') as e group by segment, day "
        "order by segment, day"
    )
    copy = tmp_path / "shuffled.duckdb"
    copy.write_bytes((place.results / "warehouse.duckdb").read_bytes())
    with duckdb.connect(str(copy)) as con:
        con.execute("create table shuffled as from evidence order by hash(rowid)")
        con.execute("delete from evidence")
        con.execute("insert into evidence from shuffled")
        found = made(con, text)
    with opened(place) as con:
        assert made(con, text) == found
    assert len(found) == 8


def weighed(number):
    """A day's weights and unsupported masses of `new`, floor .15, by numpy."""
    rows = MADE["day"](number)
    logged = np.array(rows["logging_probabilities"].to_list())
    new = np.array(rows["new"].to_list())
    taken = np.array([MADE["ACTIONS"].index(a) for a in rows["action"]])
    each = np.arange(len(taken))
    is_supported = logged >= 0.15
    weight = np.where(is_supported[each, taken], new[each, taken], 0.0)
    reward = np.where(each % 5 == 0, np.nan, rows["reward"].to_numpy())
    return weight / logged[each, taken], (new * ~is_supported).sum(1), reward


def radius(scores, reach, error):
    """Maurer and Pontil (2009), Theorem 4."""
    n, said = len(scores), math.log(2 / error)
    variance = scores.var(ddof=1)
    return math.sqrt(2 * variance * said / n) + 7 * reach * said / (3 * (n - 1))


def test_the_interval_over_a_log_is_the_formula_of_its_paper(log):
    weight, unsupported, reward = weighed(1)
    rows = pl.DataFrame({"w": weight, "u": unsupported, "r": reward}).with_columns(
        pl.col("r").fill_nan(None)
    )
    log.register("rows", rows)
    said = "(w, r * 4 - 1, 0.15, -1, 3, unsupported := u, confidence := 0.9)"
    for name, stake, origin, bottom in (
        ("value", weight, -1.0, 0.0),
        ("improvement", weight - 1, 0.0, -1.0),
    ):
        (answer,) = made(log, f"select unnest(exploratory_log_{name}{said}) from rows")
        is_missing = np.isnan(reward)
        low = np.where(is_missing, np.minimum(stake, 0), stake * np.nan_to_num(reward))
        high = np.where(is_missing, np.maximum(stake, 0), stake * np.nan_to_num(reward))
        high = high + unsupported
        lower = max(bottom, low.mean() - radius(low, 1 / 0.15, 0.05))
        upper = min(1.0, high.mean() + radius(high, 1 / 0.15 + 1, 0.05))
        middle = (low.mean() + high.mean()) / 2
        wanted = [origin + 4 * end for end in (middle, lower, upper)]
        assert [answer[end] for end in ENDS] == pytest.approx(wanted, rel=1e-9)
        size = weight.sum() ** 2 / (weight**2).sum()
        assert answer["effective_sample_size"] == pytest.approx(size)


def test_the_macros_for_weights_say_what_numpy_says(log):
    weight, unsupported, _ = weighed(2)
    log.register("rows", MADE["day"](2))
    found = made(
        log,
        "select log_weight(action, actions, logging_probabilities, new, 0.15) as w, "
        "log_unsupported(logging_probabilities, new, 0.15) as u from rows",
    )
    assert [row["w"] for row in found] == pytest.approx(weight)
    assert [row["u"] for row in found] == pytest.approx(unsupported)


def test_evidence_gives_the_log_s_interval_and_never_a_narrower_one(con, log):
    parts = [weighed(number) for number in range(1, 5)]
    weight, unsupported, reward = map(np.concatenate, zip(*parts, strict=True))
    rows = pl.DataFrame({"w": weight, "u": unsupported, "r": reward})
    log.register("rows", rows.with_columns(pl.col("r").fill_nan(None)))
    for name in ("value", "improvement"):
        (over_log,) = made(
            log,
            f"select unnest(exploratory_log_{name}(w, r, 0.15, 0, 1, "
            "unsupported := u)) from rows",
        )
        (over_cells,) = made(
            con, f"select unnest(exploratory_{name}(e)) from evidence_of('new') as e"
        )
        assert over_cells["estimate"] == pytest.approx(over_log["estimate"], abs=1e-7)
        for end, side in (("lower", -1), ("upper", 1)):
            wider = side * (over_cells[end] - over_log[end])
            # Of squared mass without support only the sum is known.
            assert -1e-9 <= wider < 0.05


@pytest.mark.parametrize("rate", [0.02, 0.5, 0.95])
@pytest.mark.parametrize("with_missing", [False, True])
def test_intervals_of_simulated_logs_hold_the_truth(log, rate, with_missing):
    """500 logs of 400 decisions: two actions, logged .25 and .75, candidate .9 and .1.

    A quarter of the rewards may be missing, and low ones rather than high ones.
    """
    rng, logs, size = np.random.default_rng(7), 500, 400
    first = rng.random(logs * size) < 0.25
    earned = rng.random(logs * size) < np.where(first, rate, rate / 2)
    missing = rng.random(logs * size) < np.where(earned, 0.2, 0.3)
    rows = pl.DataFrame(
        {
            "log": np.repeat(np.arange(logs), size),
            "w": np.where(first, 3.6, 0.1 / 0.75),
            "r": np.where(missing & with_missing, np.nan, earned.astype(float)),
        }
    ).with_columns(pl.col("r").fill_nan(None))
    log.register("rows", rows)
    truth = {"value": 0.95 * rate, "improvement": 0.325 * rate}
    for name, true in truth.items():
        found = pl.DataFrame(
            log.sql(
                f"select log, unnest(exploratory_log_{name}(w, r, 0.25, 0, 1)) "
                "from rows group by log"
            )
        )
        half = (found["upper"] - found["lower"]) / 2
        is_held = found["lower"].le(true) & found["upper"].ge(true)
        assert is_held.mean() >= 0.95
        if rate >= 0.5 and not with_missing:
            # A quarter of the width would not do: these logs can tell.
            assert ((found["estimate"] - true).abs() <= half / 4).mean() < 0.95


def test_a_sampled_log_has_a_ratio(log):
    """Decisions with a reward are kept, the others one in four: the mean is .2."""
    rng = np.random.default_rng(3)
    reward = (rng.random(20_000) < 0.2).astype(float)
    probability = np.where(reward == 1, 1.0, 0.25)
    kept = rng.random(20_000) < probability
    rows = pl.DataFrame({"r": reward, "q": probability}).filter(kept)
    log.register("rows", rows)
    (answer,) = made(
        log,
        "select unnest(exploratory_log_value(1.0, r, 0.5, 0, 1, sample_probability := "
        "q, least_sample_probability := 0.25)) from rows",
    )
    ratio = (rows["r"] / rows["q"]).sum() / (1 / rows["q"]).sum()
    assert answer["estimate"] == pytest.approx(ratio)
    assert 0.1 < answer["lower"] < 0.2 < answer["upper"] < 0.3


def test_evidence_of_a_sampled_log_has_the_night_s_ratio(tmp_path):
    place = MADE["Place"](tmp_path / "place")
    place.job(candidates='new = "column:new"')
    declared = "least_sample_probability = 0.25\nmethod ="
    place.file.write_text(place.file.read_text().replace("method =", declared))
    q = pl.when(pl.int_range(pl.len()) % 3 == 0).then(1.0).otherwise(0.25)
    place.write(MADE["day"](1, 600).with_columns(sample_probability=q), "1.parquet")
    place.night()
    with opened(place) as con:
        for row in published(con):
            answer = asked(con, row)
            assert answer["estimate"] == pytest.approx(row["estimate"], abs=2e-9)
            assert answer["lower"] <= row["estimate"] <= answer["upper"]
            size = pytest.approx(row["effective_sample_size"], rel=1e-9)
            assert answer["effective_sample_size"] == size


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("w, r, 0.5, 0, 1", "a weight lies outside"),
        ("w - 3, r, 0.1, 0, 1", "a weight lies outside"),
        ("nullif(w, 2), r, 0.1, 0, 1", "a weight is null"),
        ("w, r, 0.1, 0, 0.5", "a reward lies outside the range"),
        ("w, r, 0.1, 0, 1, unsupported := 2", "an unsupported mass lies outside"),
        ("w, r, 0.1, 0, 1, sample_probability := 0.1", "a sample probability lies"),
    ],
)
def test_rows_that_contradict_the_design_are_refused(log, arguments, told):
    log.execute("create table rows as from (values (2.0, 1.0), (5.0, 0.0)) t(w, r)")
    with pytest.raises(duckdb.InvalidInputException, match=told):
        log.execute(f"select exploratory_log_value({arguments}) from rows")


def test_without_rewards_or_rows_nothing_is_claimed(log):
    log.execute("create table rows as from (values (2.0, null::double)) t(w, r)")
    text = "select unnest(exploratory_log_value(w, r, 0.1, 0, 1)) from rows where "
    for where, state in (("true", "all_rewards_missing"), ("false", "no_decision")):
        (answer,) = made(log, text + where)
        assert answer["state"] == state
        assert [answer[end] for end in ENDS] == [None] * 3


@pytest.mark.parametrize(
    ("statement", "state"),
    [
        ("update settings set assumes = 'running_average'", "no_interval"),
        ("update estimates set state = 'withheld'", "withheld"),
    ],
)
def test_where_the_bound_does_not_hold_there_are_no_ends(
    place, tmp_path, statement, state
):
    copy = tmp_path / "warehouse.duckdb"
    copy.write_bytes((place.results / "warehouse.duckdb").read_bytes())
    with duckdb.connect(str(copy)) as con:
        con.execute(statement)
        (answer,) = made(
            con, "select unnest(exploratory_value(e)) from evidence_of('new') as e"
        )
    assert (answer["state"], answer["lower"], answer["upper"]) == (state, None, None)
    assert (answer["estimate"] is None) == (state == "withheld")


def test_mass_without_support_that_no_log_tells_leaves_the_upper_end_open(
    place, tmp_path
):
    copy = tmp_path / "warehouse.duckdb"
    copy.write_bytes((place.results / "warehouse.duckdb").read_bytes())
    with duckdb.connect(str(copy)) as con:
        con.execute("update settings set is_support_known = false")
        con.execute("update evidence set unsupported_part = 0")
        (answer,) = made(
            con, "select unnest(exploratory_value(e)) from evidence_of('new') as e"
        )
    assert answer["upper"] == 1.0
    assert 0 < answer["lower"] < answer["estimate"] < 1


def test_what_nobody_declared_has_no_evidence(con):
    for asked_for in ("'nobody'", "'new', segment_by := 'age'", "'new', other := 'b'"):
        with pytest.raises(duckdb.InvalidInputException, match="there is: b; b by dev"):
            con.execute(f"select count(*) from evidence_of({asked_for})")
    pair = "select exploratory_improvement(e) from evidence_of('b', other := 'new') e"
    with pytest.raises(duckdb.InvalidInputException, match="has a difference"):
        con.execute(pair)


def test_the_design_stands_in_the_warehouse(con):
    (row,) = made(con, "from settings")
    grid = Grid(0.15, 0.0, 1.0)
    assert row["largest_weight"] == grid.largest_weight
    assert row["rounding"] == grid.slack
    assert (row["job"], row["method"], row["assumes"]) == (
        "shop",
        "mixture",
        "constant_mean",
    )
    largest = {
        n["candidate"]: n["largest_weight"] for n in made(con, "from candidates")
    }
    assert largest == {"logging": 1.0, "same": 1.0} | dict.fromkeys(
        ("new", "elsewhere", "b"), grid.largest_weight
    )
