"""Every form of a candidate gives the same numbers, on any sets of actions."""

from __future__ import annotations

import polars as pl
import pytest

COMMAND = ("--reward-range", 0, 1, "--floor", 0.05, "--context", "place", "--json")
MODULE = """
import polars as pl

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
"""


def numbers(candidate):
    """Everything but the words the candidate was written in."""
    return {
        key: candidate[key] for key in candidate if key not in ("candidate", "spec")
    }


@pytest.fixture(params=["closed", "open"])
def log(request, decisions):
    return decisions(request.param)


@pytest.fixture
def forms(log, rule, module, write_log):
    by_id = log.select("decision_id", "actions", probabilities="new")
    by_place = pl.DataFrame(
        [
            {"place": place, "action": action, "probability": probability}
            for place, shares in rule.items()
            for action, probability in shares.items()
            if probability
        ]
    )
    name = module(MODULE.format(rule=rule))
    return {
        "lists by decision": write_log(by_id.reverse(), "by_id.parquet"),
        "rows by decision": write_log(
            by_id.explode("actions", "probabilities").rename(
                {"actions": "action", "probabilities": "probability"}
            ),
            "rows.parquet",
        ),
        "look-up": write_log(by_place, "by_place.parquet"),
        "look-up of several": write_log(
            pl.concat(
                [
                    by_place.with_columns(candidate=pl.lit("ours")),
                    by_place.with_columns(candidate=pl.lit("other"), place="place"),
                ]
            ).filter(pl.col("candidate") == "ours"),
            "several.parquet",
        ),
        "function": f"{name}:by_frame",
        "function of a row": f"row:{name}:by_row",
    }


@pytest.mark.parametrize("method", ["mixture", "compat"])
def test_every_form_gives_the_numbers_of_the_column(
    untaken, log, forms, write_log, method
):
    file = write_log(log)
    specs = [part for form in forms.values() for part in ("--candidate", form)]
    ran = untaken(
        *("evaluate", file, "--candidate", "column:new", *specs),
        *(*COMMAND, "--method", method),
    )
    assert ran.code == 0, ran.err
    column, *others = map(numbers, ran.candidates)
    assert column["value"]["state"] == "estimated"
    for name, other in zip(forms, others, strict=True):
        assert other == column, name


def test_a_form_gives_the_same_numbers_alone(untaken, log, forms, write_log):
    file = write_log(log)

    def alone(form):
        ran = untaken("evaluate", file, "--candidate", form, *COMMAND)
        assert ran.code == 0, ran.err
        return numbers(ran.candidates[0])

    expected = alone("column:new")
    for name, form in forms.items():
        assert alone(form) == expected, name


@pytest.mark.parametrize(
    ("form", "probabilities"),
    [
        ("uniform", lambda actions: [1 / len(actions)] * len(actions)),
        ("first", lambda actions: [float(n == 0) for n in range(len(actions))]),
        ("constant:a", lambda actions: [float(action == "a") for action in actions]),
    ],
)
def test_named_policies_are_what_their_column_would_be(
    untaken, log, write_log, form, probabilities
):
    written = pl.Series([probabilities(actions) for actions in log["actions"]])
    file = write_log(log.with_columns(same=written))
    ran = untaken(
        *("evaluate", file, "--candidate", form, "--candidate", "column:same"),
        # Another method's intervals know how large the weights of a form can be.
        *(*COMMAND, "--method", "compat"),
    )
    named, column = map(numbers, ran.candidates)
    assert named == column


def test_the_logging_policy_has_the_mean_reward_and_no_improvement(
    untaken, log, write_log
):
    for method in ("mixture", "compat"):
        complete = log.with_columns(pl.col("reward").fill_null(0.0))
        ran = untaken(
            *("evaluate", write_log(complete), "--candidate", "logging"),
            *("--reward-range", 0, 1, "--floor", 0.3, "--method", method, "--json"),
        )
        (candidate,) = ran.candidates
        mean = pytest.approx(complete["reward"].mean(), abs=1e-6)
        assert candidate["value"]["estimate"] == mean
        assert candidate["improvement"]["estimate"] == pytest.approx(0, abs=1e-12)
        assert candidate["missing"]["support"] == 0
        assert ran.document["logging_policy"]["value"]["estimate"] == mean


def test_a_candidate_may_name_actions_that_a_decision_does_not_list(
    untaken, decisions, write_log
):
    """In the open log east has no b: its mass there is unsupported, not lost."""
    log = decisions("open")
    table = write_log(
        pl.DataFrame(
            {
                "place": ["north", "south", "east"],
                "actions": [["a", "b"]] * 3,
                "probabilities": [[0.5, 0.5]] * 3,
            }
        ),
        "table.parquet",
    )
    ran = untaken("evaluate", write_log(log), "--candidate", table, *COMMAND)
    (candidate,) = ran.candidates
    east = log.filter(pl.col("place") == "east")
    missing = candidate["missing"]
    assert missing["support"] + missing["both"] == east.height
    assert missing["both"] == east["reward"].null_count()
    assert missing["unsupported_probability"] == pytest.approx(1 / 6, abs=1e-6)
    assert candidate["diagnostics"]["unknown_actions"] == []
