"""Logged frequencies against probabilities: exact counts, and findings that hold."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from flows import queries
from flows.decisions import Layout, check, open_log
from flows.offpolicy.frequencies import COUNTS, SCHEMA, count, findings
from flows.offpolicy.grid import UNIT

DAY = dt.date(2026, 3, 1)
NAMES = ["x", "it's", "${name}", "y"]


def rows_of(listed, decisions=400, seed=5):
    """A log whose decision number n lists the actions `listed(n)`."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(decisions):
        actions = listed(number)
        share = random.dirichlet(np.ones(len(actions))).tolist()
        share[-1] = 1.0 - math.fsum(share[:-1])
        taken = random.choice(len(actions), p=share)
        rows.append(
            {
                "action": actions[taken],
                "actions": actions,
                "logging_probabilities": share,
                "reward": 0.0,
            }
        )
    return rows


def same(_number):
    return NAMES


def turning(number):
    """Lists of two to four actions that start anywhere."""
    start = number % 4
    return (NAMES[start:] + NAMES[:start])[: 2 + number % 3]


def one_by_one(rows):
    """The counts, added a row at a time."""
    sums = {}
    for row in rows:
        pairs = zip(row["actions"], row["logging_probabilities"], strict=True)
        for action, p in pairs:
            entry = sums.setdefault(action, [0, 0, 0, 0])
            entry[0] += 1
            entry[1] += row["action"] == action
            entry[2] += round(p * UNIT)
            entry[3] += round(p * (1 - p) * UNIT)
    listed = [(action, *entry) for action, entry in sorted(sums.items())]
    return pl.DataFrame(listed, schema=SCHEMA, orient="row")


def counted(file, *, window=None, **layout):
    log = open_log(
        [str(file)], Layout(**layout), dated=window is not None, with_ids=False
    )
    with queries.connection() as con:
        return count(con, log, check(con, log, reward_range=(0, 1), window=window))


def test_names_that_look_like_sql_parameters_are_names(write_log):
    rows = rows_of(lambda _: ["$unit", "?", "'' || $1"])

    assert_frame_equal(counted(write_log(rows)), one_by_one(rows))


def pairs_of(rows, key, value):
    return [
        {
            "action": row["action"],
            "reward": row["reward"],
            "logging_probabilities": [
                {key: action, value: probability}
                for action, probability in zip(
                    row["actions"], row["logging_probabilities"], strict=True
                )
            ],
        }
        for row in rows
    ]


@pytest.mark.parametrize("listed", [same, turning])
def test_counts_are_those_of_adding_row_by_row(write_log, listed):
    rows = rows_of(listed)

    assert_frame_equal(counted(write_log(rows)), one_by_one(rows))


@pytest.mark.parametrize("listed", [same, turning])
def test_every_form_of_the_probabilities_gives_the_same_counts(write_log, listed):
    rows = rows_of(listed)
    expected = one_by_one(rows)
    structs = write_log(pairs_of(rows, "action", "probability"), "structs.parquet")
    entries = write_log(pairs_of(rows, "key", "value"), "entries.parquet")
    shares = [
        {"action": row["action"], "reward": row["reward"]}
        | dict.fromkeys([f"p_{name}" for name in NAMES])
        | {
            f"p_{name}": share
            for name, share in zip(
                row["actions"], row["logging_probabilities"], strict=True
            )
        }
        for row in rows
    ]
    wide = write_log(pl.DataFrame(shares, infer_schema_length=None), "wide.parquet")
    columns = {"logging_probabilities": "p_*"}

    assert_frame_equal(counted(structs, probabilities="structs"), expected)
    assert_frame_equal(counted(entries, probabilities="map"), expected)
    assert_frame_equal(counted(wide, probabilities="wide", columns=columns), expected)


@pytest.mark.parametrize("listed", [same, turning])
def test_counts_of_parts_add_to_those_of_the_whole(write_log, listed):
    rows = pl.DataFrame(rows_of(listed))
    whole = counted(write_log(rows))
    order = np.random.default_rng(1).permutation(rows.height)
    for number in (2, 7):
        parts = [
            counted(write_log(rows[part], f"part-{number}.parquet"))
            for part in np.array_split(order, number)
        ]
        added = pl.concat(parts).group_by("action").agg(pl.col(COUNTS).sum())
        assert_frame_equal(added.sort("action"), whole)


def test_only_decisions_of_the_window_are_counted(write_log):
    rows = rows_of(turning)
    start = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    for number, row in enumerate(rows):
        row["decided_at"] = start + dt.timedelta(hours=number)
    window = (start, start + dt.timedelta(days=1))

    found = counted(write_log(rows), window=window)

    assert_frame_equal(found, one_by_one(rows[:24]))


def test_there_is_nothing_to_compare_in_a_log_of_propensities(write_log):
    rows = [{"action": "x", "propensity": 0.5, "reward": 1.0}] * 3

    found = counted(write_log(rows), probabilities="propensity", actions=("x", "y"))

    assert_frame_equal(found, pl.DataFrame(schema=SCHEMA))
    assert findings(found).is_empty()


def test_there_is_nothing_to_compare_where_decisions_were_kept_unevenly(write_log):
    rows = rows_of(same)
    even = [row | {"sample_probability": 0.5} for row in rows]
    uneven = [*even[1:], even[0] | {"sample_probability": 1.0}]

    assert_frame_equal(counted(write_log(even)), one_by_one(rows))
    assert counted(write_log(uneven)).is_empty()


def logs_of(true, logged, days, decisions, random):
    """Counts of days on which actions are drawn with `true`, not `logged`."""
    draws = random.multinomial(decisions, true, days)
    part = np.rint(np.array(logged) * UNIT).astype(np.int64) * decisions
    spread = np.array(logged) * (1 - np.array(logged)) * UNIT
    width = len(true)
    return pl.DataFrame(
        {
            "day": [DAY + dt.timedelta(days=n // width) for n in range(days * width)],
            "action": [f"item-{n}" for n in range(width)] * days,
            "listed": np.full(days * width, decisions),
            "logged": draws.ravel(),
            "probability_part": np.tile(part, days),
            "variance_part": np.tile(
                np.rint(spread).astype(np.int64) * decisions, days
            ),
        },
        schema={"day": pl.Date} | SCHEMA,
    )


def reacting(days, decisions, random):
    """Counts of a policy that repeats what it took: variances depend on the draws."""
    rows = []
    for number in range(days):
        share, sums = 0.5, np.zeros(3)
        for drawn in random.random(decisions):
            took = drawn < share
            sums += took, share, share * (1 - share)
            share = min(max(share + (0.05 if took else -0.05), 0.02), 0.98)
        day = DAY + dt.timedelta(days=number)
        logged, expected, variance = sums
        parts = [round(expected * UNIT), round(variance * UNIT)]
        rows.append((day, "go", decisions, int(logged), *parts))
    return pl.DataFrame(rows, schema={"day": pl.Date} | SCHEMA, orient="row")


def test_false_findings_stay_below_alpha_whenever_one_looks():
    random = np.random.default_rng(11)
    share = [0.0002, 0.0098, 0.09, 0.3, 0.6]
    alpha, logs = 0.05, 120
    alarms = naive = 0
    for _ in range(logs):
        log = logs_of(share, share, 64, 300, random)
        looks = [
            findings(
                log.filter(pl.col("day") < DAY + dt.timedelta(days=2**k)), alpha=alpha
            )
            for k in (0, 2, 4, 6)
        ]
        alarms += any(look["is_deviating"].any() for look in looks)
        naive += bool((looks[-1]["z"].abs() > 3).any())

    assert alarms <= alpha * logs
    # Three standard errors, asked every day, find something in nearly every log.
    assert naive > 0.9 * logs


def test_a_policy_that_reacts_to_its_draws_raises_no_false_finding():
    random = np.random.default_rng(12)
    alarms = sum(
        findings(reacting(10, 200, random), alpha=0.05)["is_deviating"].any()
        for _ in range(60)
    )

    assert alarms <= 3


@pytest.mark.parametrize(("days", "decisions"), [(1, 50_000), (50, 1_000)])
def test_a_probability_wrong_by_a_tenth_is_found_in_50_000_decisions(days, decisions):
    random = np.random.default_rng(13)
    logged = np.array([0.2, 0.2, 0.2, 0.2, 0.2])
    true = np.array([0.22, 0.195, 0.195, 0.195, 0.195])
    found = []
    for _ in range(20):
        log = findings(logs_of(true, logged, days, decisions, random))
        wrong = log.filter(pl.col("day").is_null() & pl.col("is_deviating"))
        found.append(wrong["action"].to_list())

    assert found == [["item-0"]] * 20


def test_a_single_day_that_is_wrong_is_named():
    random = np.random.default_rng(14)
    share = [0.5, 0.3, 0.2]
    days = logs_of(share, share, 30, 2_000, random)
    wrong = DAY + dt.timedelta(days=17)
    swapped = logs_of([0.4, 0.4, 0.2], share, 30, 2_000, random)
    log = pl.concat(
        [days.filter(pl.col("day") != wrong), swapped.filter(pl.col("day") == wrong)]
    )

    found = findings(log).filter(pl.col("is_deviating") & pl.col("day").is_not_null())

    assert found.select("day", "action").rows() == [
        (wrong, "item-0"),
        (wrong, "item-1"),
    ]


def test_findings_say_logged_and_expected_decisions():
    counts = pl.DataFrame(
        [("x", 1_000, 250, 200 * UNIT, 160 * UNIT), ("y", 1_000, 0, 0, 0)],
        schema=SCHEMA,
        orient="row",
    )

    x, y = findings(counts).rows(named=True)

    assert (x["day"], x["logged"], x["expected"]) == (None, 250, 200.0)
    assert x["standard_error"] == pytest.approx(math.sqrt(160))
    assert x["z"] == pytest.approx(50 / math.sqrt(160))
    assert (y["standard_error"], y["z"], y["is_deviating"]) == (0.0, None, False)


def test_the_bound_is_that_of_the_best_slope():
    variance, share = 160.0, 0.001 / 2 * 6 / math.pi**2
    counts = pl.DataFrame(
        [("x", 0, 0, 0, int(variance) * UNIT)], schema=SCHEMA, orient="row"
    )
    error = math.log(2 * 17 / share)
    lines = [
        (error + (math.exp(s) - 1 - s) * variance) / s
        for s in (2.0**k for k in range(-13, 4))
    ]

    (row,) = findings(counts).rows(named=True)

    assert row["allowed"] == pytest.approx(min(lines))


def test_shares_are_those_of_the_day_that_listed_an_action_first():
    """An action that comes later leaves the bounds of those before as they were."""
    share = [0.5, 0.5]
    log = logs_of(share, share, 3, 100, np.random.default_rng(15))
    later = log.filter(pl.col("day") > DAY).with_columns(
        action=pl.lit("new-") + pl.col("action")
    )

    alone, both = findings(log), findings(pl.concat([log, later]))

    together = both.filter(pl.col("day").is_null())
    assert_frame_equal(together[:2], alone.filter(pl.col("day").is_null()))
    assert together["allowed"][2] > findings(later)["allowed"][0]


def test_a_difference_within_the_tolerance_of_sums_is_no_finding():
    listed = 10**9
    counts = pl.DataFrame(
        [("x", listed, 10**8 + 5 * 10**5, 10**8 * UNIT, 9 * 10**7 * UNIT)],
        schema=SCHEMA,
        orient="row",
    )

    assert findings(counts)["is_deviating"].to_list() == [True]
    assert findings(counts, sum_tolerance=1e-3)["is_deviating"].to_list() == [False]


@pytest.mark.parametrize("alpha", [0.0, 1.0, math.nan])
def test_an_alpha_that_is_no_probability_is_refused(alpha):
    with pytest.raises(ValueError, match="must lie in"):
        findings(pl.DataFrame(schema=SCHEMA), alpha=alpha)
