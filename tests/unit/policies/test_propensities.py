"""Candidates on a log that holds the probability of the logged action alone."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from flows.errors import LogError, PolicyError

ACTIONS = ("a", "b", "c")
FORM = {"probabilities": "propensity", "context": ("place",)}
MODULE = """
RULE = {rule!r}

def by_frame(frame):
    assert set(frame.columns) == {{"place", "actions"}}
    return [
        [RULE[place][action] for action in actions]
        for place, actions in frame.select("place", "actions").iter_rows()
    ]

def by_row(decision):
    assert set(decision) == {{"place", "actions"}}
    shares = RULE[decision["place"]].items()
    return {{"probabilities": {{action: share for action, share in shares if share}}}}

def elsewhere(decision):
    return {{"probabilities": {{"a": 0.75, "d": 0.25}}}}

def too_much(frame):
    return [[0.75, 0.75, 0.0]] * frame.height
"""


def alone(log):
    """The log with the propensity of the logged action, and what `new` gives it."""
    logged = [actions.index(n) for n, actions in log["action", "actions"].iter_rows()]
    position = pl.Series(logged, dtype=pl.UInt32)
    return log.with_columns(
        propensity=pl.col("logging_probabilities").list.get(position),
        gives=pl.col("new").list.get(position),
    ).drop("actions", "logging_probabilities")


@pytest.fixture(params=["closed", "open"])
def log(request, decisions):
    return decisions(request.param)


@pytest.fixture
def tables(log, rule, write_log):
    by_id = log.select("decision_id", "actions", probabilities="new")
    by_place = pl.DataFrame(
        [
            {"place": place, "action": action, "probability": probability}
            for place, shares in rule.items()
            for action, probability in shares.items()
            if probability
        ]
    )
    return {
        "lists by decision": write_log(by_id.reverse(), "by_id.parquet"),
        "rows by decision": write_log(
            by_id.explode("actions", "probabilities").rename(
                {"actions": "action", "probabilities": "probability"}
            ),
            "rows.parquet",
        ),
        "look-up": write_log(by_place, "by_place.parquet"),
    }


def test_every_form_gives_what_lists_give_the_logged_action(
    log, rule, tables, laid, module, write_log
):
    _, lists = laid(write_log(log), "column:new", "logging", context=("place",))
    name = module(MODULE.format(rule=rule))
    specs = [
        *("column:gives", *tables.values()),
        *(f"{name}:by_frame", f"row:{name}:by_row", "logging"),
    ]
    file = write_log(alone(log).drop("new"), "alone.parquet")
    _, rows = laid(file, *specs, actions=ACTIONS, **FORM)
    assert rows["logged"].to_list() == lists["logged"].to_list()
    for spec in map(str, specs[:-1]):
        assert rows[spec].to_list() == lists["column:new"].to_list(), spec
        below = lists["column:new"] * (lists["logged"] < 0.05)
        assert rows[f"{spec} unsupported"].to_list() == below.to_list(), spec
    assert rows["logging"].to_list() == lists["logged"].to_list()


def test_a_form_gives_the_same_alone(log, tables, laid, module, rule, write_log):
    file = write_log(alone(log).drop("new"), "alone.parquet")
    name = module(MODULE.format(rule=rule))
    _, expected = laid(file, "column:gives", **FORM)
    for spec in (*tables.values(), f"{name}:by_frame", f"row:{name}:by_row"):
        actions = ACTIONS if ":" in str(spec) else ()
        _, rows = laid(file, spec, actions=actions, **FORM)
        assert rows[str(spec)].to_list() == expected["column:gives"].to_list(), spec


def test_lists_along_the_declared_actions_may_stand_in_the_log(
    decisions, laid, write_log
):
    file = write_log(alone(decisions("closed")))
    array = pl.col("new").list.to_array(3)
    other = write_log(pl.read_parquet(file).with_columns(array), "array.parquet")
    for each in (file, other):
        _, rows = laid(each, "column:new", "column:gives", actions=ACTIONS, **FORM)
        assert rows["column:new"].to_list() == rows["column:gives"].to_list()


def test_named_policies_are_what_their_lists_would_give(decisions, laid, write_log):
    log = decisions("closed")
    specs = ("uniform", "first", "constant:b")
    _, lists = laid(write_log(log), *specs)
    _, rows = laid(
        write_log(alone(log), "alone.parquet"), *specs, actions=ACTIONS, **FORM
    )
    for spec in specs:
        assert rows[spec].to_list() == lists[spec].to_list(), spec


def test_a_column_of_names_is_a_policy_that_takes_them(decisions, laid, write_log):
    log = alone(decisions("closed")).with_columns(
        picked=pl.col("place").replace_strict({"north": "a", "south": "b", "east": "d"})
    )
    for dtype in (pl.String, pl.Categorical):
        file = write_log(log.with_columns(pl.col("picked").cast(dtype)))
        for actions in (ACTIONS, ()):
            prepared, rows = laid(file, "column:picked", actions=actions, **FORM)
            expected = (log["picked"] == log["action"]).cast(pl.Float64)
            assert rows["column:picked"].to_list() == expected.to_list()
            assert prepared.unknown == {"column:picked": ("d",)}
            mass = log["picked"].is_in(["d"]).cast(pl.Float64) * bool(actions)
            assert rows["column:picked unsupported"].to_list() == mass.to_list()


def test_mass_on_undeclared_actions_is_known_to_lack_support(
    decisions, laid, module, rule, write_log
):
    log = alone(decisions("closed"))
    file, name = write_log(log, "alone.parquet"), module(MODULE.format(rule=rule))
    shares = {"actions": [["a", "d"]] * 3, "probabilities": [[0.75, 0.25]] * 3}
    by_place = write_log(
        pl.DataFrame({"place": ["north", "south", "east"]} | shares), "place.parquet"
    )
    by_id = write_log(
        log.select("decision_id").with_columns(
            actions=pl.lit(["a", "d"]), probabilities=pl.lit([0.75, 0.25])
        ),
        "id.parquet",
    )
    for spec in (by_place, by_id, f"row:{name}:elsewhere"):
        prepared, rows = laid(file, spec, actions=ACTIONS, floor=0.001, **FORM)
        taken = (log["action"] == "a").cast(pl.Float64) * 0.75
        assert rows[str(spec)].to_list() == taken.to_list()
        assert set(rows[f"{spec} unsupported"]) == {0.25}
        assert prepared.unknown == {str(spec): ("d",)}
    for spec in (by_place, by_id):
        prepared, rows = laid(file, spec, floor=0.001, **FORM)
        assert rows[str(spec)].to_list() == taken.to_list()
        assert set(rows[f"{spec} unsupported"]) == {0.0}
        assert prepared.unknown == {str(spec): ("d",)}


def test_an_action_that_is_not_declared_is_never_taken(decisions, laid, write_log):
    file = write_log(alone(decisions("closed")))
    prepared, rows = laid(file, "constant:d", actions=ACTIONS, **FORM)
    assert set(rows["constant:d"]) == {0.0}
    assert set(rows["constant:d unsupported"]) == {1.0}
    assert prepared.unknown == {"constant:d": ("d",)}
    prepared, rows = laid(file, "constant:d", **FORM)
    assert set(rows["constant:d"]) == {0.0}
    assert set(rows["constant:d unsupported"]) == {0.0}
    assert prepared.unknown == {"constant:d": ("d",)}


def test_support_is_known_where_it_is_declared_and_nowhere_else(
    decisions, laid, write_log
):
    log = decisions("closed")
    file = write_log(alone(log), "alone.parquet")
    known = {
        True: laid(file, "column:gives", floor=0.001, full_support=True, **FORM),
        False: laid(file, "column:gives", floor=0.001, **FORM),
    }
    for declared, (prepared, _) in known.items():
        assert prepared.scorable.knows_support is declared
    assert laid(write_log(log), "uniform")[0].scorable.knows_support is True


def test_a_declared_full_support_is_held_against_the_log(decisions, laid, write_log):
    log = alone(decisions("closed"))
    least = log.filter(pl.col("gives") > 0)["propensity"].min()
    file = write_log(log, "alone.parquet")
    layout = FORM | {"full_support": True}
    laid(file, "column:gives", floor=least, **layout)
    with pytest.raises(LogError) as error:
        laid(file, "column:gives", "logging", floor=least * 1.0001, **layout)
    assert "full_support is declared, but 1 decision took an action" in str(error.value)
    assert "candidate 'column:gives' may take" in str(error.value)
    assert f"with {least:g}" in str(error.value)
    laid(file, "column:gives", floor=least * 1.0001, **FORM)
    laid(file, "logging", floor=1.0, **layout)


def test_full_support_says_nothing_of_actions_that_no_candidate_takes(
    decisions, laid, write_log
):
    log = alone(decisions("closed")).with_columns(
        pl.when(pl.col("action") == "c")
        .then(0.001)
        .otherwise("propensity")
        .alias("propensity")
    )
    file = write_log(log)
    laid(file, "constant:a", full_support=True, **FORM)
    with pytest.raises(LogError, match=r"action c with 0\.001"):
        laid(file, "constant:c", full_support=True, **FORM)


def test_the_log_is_scored_where_it_lies_unless_keys_are_decisions(
    decisions, laid, write_log, tables, tmp_path
):
    file = write_log(alone(decisions("closed")), "alone.parquet")
    written = tmp_path / "work-0" / "scorable.parquet"
    specs = ("column:gives", "uniform", "constant:a", "logging", tables["look-up"])
    laid(file, *specs, actions=ACTIONS, **FORM)
    assert not list((tmp_path / "work-0").iterdir())
    laid(file, tables["lists by decision"], **FORM)
    assert (tmp_path / "work-1" / written.name).exists()


def test_a_table_must_hold_every_decision(decisions, laid, write_log):
    log = alone(decisions("closed"))
    table = write_log(
        pl.DataFrame({"place": ["north"], "action": ["a"], "probability": [1.0]}),
        "table.parquet",
    )
    with pytest.raises(PolicyError, match="40 decisions have no entry for their"):
        laid(write_log(log), table, **FORM)


def test_a_function_must_return_distributions(decisions, laid, module, rule, write_log):
    name = module(MODULE.format(rule=rule))
    with pytest.raises(PolicyError, match="candidate_probabilities_sum_to_one"):
        laid(
            write_log(alone(decisions("closed"))),
            f"{name}:too_much",
            actions=ACTIONS,
            **FORM,
        )


def test_a_context_may_be_null_or_a_candidate_itself(decisions, laid, write_log):
    log = alone(decisions("closed")).with_columns(
        pl.when(pl.col("place") != "east").then("place").alias("place")
    )
    table = write_log(
        pl.DataFrame(
            {
                "gives": log["gives"].unique(),
                "actions": [["a", "b", "c"]] * log["gives"].n_unique(),
                "probabilities": [[0.5, 0.25, 0.25]] * log["gives"].n_unique(),
            }
        ),
        "table.parquet",
    )
    layout = FORM | {"context": ("place", "gives")}
    _, rows = laid(write_log(log), table, "column:gives", keep=("place",), **layout)
    share = {"a": 0.5, "b": 0.25, "c": 0.25}
    assert rows[str(table)].to_list() == [share[n] for n in log["action"]]
    assert rows["column:gives"].to_list() == log["gives"].to_list()
    assert rows["place"].null_count() == 20


def test_a_window_holds_its_decisions_alone(
    decisions, laid, tables, module, rule, write_log
):
    start = dt.datetime(2019, 11, 30, tzinfo=dt.UTC)
    log = alone(decisions("closed")).with_columns(
        decided_at=pl.Series([start + dt.timedelta(hours=n) for n in range(60)])
    )
    file, name = write_log(log), module(MODULE.format(rule=rule))
    window = (start + dt.timedelta(days=1), start + dt.timedelta(days=2))
    for spec in ("column:gives", *tables.values(), f"{name}:by_frame"):
        prepared, rows = laid(file, spec, window=window, actions=ACTIONS, **FORM)
        assert prepared.profile.decisions == rows.height == 24
        assert rows[str(spec)].to_list() == log["gives"][24:48].to_list()


@pytest.mark.parametrize("spec", ["uniform", "module:run", "row:module:run", "first"])
def test_candidates_that_need_all_actions_are_refused_without_them(
    decisions, laid, write_log, spec
):
    with pytest.raises(PolicyError, match=f"there is no '{spec}'"):
        laid(write_log(alone(decisions("closed"))), spec, **FORM)
