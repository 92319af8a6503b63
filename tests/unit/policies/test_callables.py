"""Candidates written in Python: what they see, and what is said when they fail."""

from __future__ import annotations

import polars as pl
import pytest

COMMAND = ("--reward-range", 0, 1, "--floor", 0.05, "--context", "place")
MODULE = """
import numpy as np
import polars as pl

def raises(frame):
    raise KeyError("no model for this place")

def too_few_rows(frame):
    return [[1.0, 0.0, 0.0]] * (frame.height - 1)

def too_short_lists(frame):
    return [[1.0, 0.0]] * frame.height

def one_number_a_row(frame):
    return np.ones(frame.height)

def text(frame):
    return "uniform"

def nothing(frame):
    return None

def scores(frame):
    return [[3.0, 1.0, 1.0]] * frame.height

def not_to_one(frame):
    return [[0.5, 0.2, 0.2]] * frame.height

def has_nan(frame):
    return np.full((frame.height, 3), np.nan)

def has_null(frame):
    return [[None, 0.5, 0.5]] * frame.height

def row_raises(decision):
    raise KeyError("no model for this place")

def row_of_another_field(decision):
    return {"scores": {"a": 1.0}}

def row_not_to_one(decision):
    return {"probabilities": {"a": 0.5}}

def row_has_nan(decision):
    return {"probabilities": {"a": float("nan"), "b": 1.0}}

def row_of_text(decision):
    return {"probabilities": {"a": "much"}}

not_a_function = 3
"""


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("raises", "KeyError: 'no model for this place'"),
        ("too_few_rows", "decisions and returned"),
        ("too_short_lists", "length 2, expected 3"),
        ("one_number_a_row", "raised or returned no lists"),
        ("text", "raised or returned no lists"),
        ("nothing", "decisions and returned 0 rows"),
        ("scores", "candidate_probabilities_lie_in_0_1"),
        ("not_to_one", "candidate_probabilities_sum_to_one"),
        ("has_nan", "candidate_probabilities_lie_in_0_1"),
        ("has_null", "no_candidate_probability_is_null"),
        ("row:row_raises", "KeyError: 'no model for this place'"),
        ("row:row_of_another_field", "KeyError: 'probabilities'"),
        ("row:row_not_to_one", "sum 0.5"),
        ("row:row_has_nan", "nan"),
        ("row:row_of_text", "could not convert string to float"),
        ("not_a_function", "is not a function"),
        ("absent", "cannot import"),
    ],
)
def test_a_function_that_gives_no_distributions_is_refused(
    untaken, decisions, write_log, module, function, said
):
    name = module(MODULE)
    row, _, function = function.rpartition(":")
    spec = ":".join(part for part in (row, name, function) if part)
    message = untaken(
        *("evaluate", write_log(decisions("closed")), "--candidate", spec, *COMMAND)
    ).refusal()
    assert said in message
    assert f"{name}:{function}" in message


def test_a_module_that_is_not_there_is_named(untaken, decisions, write_log, module):
    module("")
    message = untaken(
        *(
            "evaluate",
            write_log(decisions("closed")),
            "--candidate",
            "no_such_module:f",
        ),
        *COMMAND,
    ).refusal()
    assert "cannot import no_such_module:f" in message
    assert "ModuleNotFoundError" in message


def test_rows_of_a_log_without_ids_are_counted(untaken, decisions, write_log, module):
    name = module("def f(frame):\n    return [[0.5, 0.2, 0.2]] * frame.height\n")
    log = decisions("closed").drop("decision_id")
    message = untaken(
        *("evaluate", write_log(log), "--candidate", f"{name}:f", *COMMAND)
    ).refusal()
    assert "decision in row 1: sum 0.89" in message


def test_a_function_sees_the_declared_context_and_the_actions_alone(
    untaken, decisions, write_log, module, tmp_path
):
    name = module(
        "def f(frame):\n"
        "    with open('seen.txt', 'a') as file:\n"
        "        file.write(','.join(sorted(frame.columns)) + '\\n')\n"
        "    return [[1.0, 0.0, 0.0]] * frame.height\n"
    )
    ran = untaken(
        *("evaluate", write_log(decisions("closed")), "--candidate", f"{name}:f"),
        *(*COMMAND, "--by", "floor_number"),
    )
    assert ran.code == 0, ran.err
    assert "floor_number = 1" in ran.out
    seen = (tmp_path / "seen.txt").read_text().splitlines()
    assert set(seen) == {"actions,place"}


def test_a_function_is_asked_once_for_every_decision(
    untaken, decisions, write_log, module, tmp_path
):
    name = module(
        "def f(decision):\n"
        "    with open('asked.txt', 'a') as file:\n"
        "        file.write(decision['decision_id'] + '\\n')\n"
        "    return {'probabilities': {'a': 1.0}}\n"
    )
    ran = untaken(
        *("evaluate", write_log(decisions("closed")), "--candidate", f"row:{name}:f"),
        *(*COMMAND, "--context", "decision_id"),
    )
    assert ran.code == 0, ran.err
    asked = (tmp_path / "asked.txt").read_text().splitlines()
    assert sorted(asked) == [f"d{number:03}" for number in range(60)]


def test_a_row_function_may_name_its_field_and_unlisted_actions(
    untaken, decisions, write_log, module
):
    name = module("def f(decision):\n    return {'shares': {'a': 0.5, 'A': 0.5}}\n")
    ran = untaken(
        *("evaluate", write_log(decisions("closed")), "--candidate", f"row:{name}:f"),
        *(*COMMAND, "--probabilities-field", "shares", "--json"),
    )
    (candidate,) = ran.candidates
    assert candidate["missing"]["unsupported_probability"] == pytest.approx(0.5)
    assert candidate["diagnostics"]["unknown_actions"] == [
        {"action": "A", "nearest": "a"}
    ]


def test_answers_may_be_arrays_series_or_lists(untaken, decisions, write_log, module):
    name = module(
        "import numpy as np\nimport polars as pl\n"
        "def array(frame):\n    return np.full((frame.height, 3), 1 / 3)\n"
        "def lists(frame):\n    return [[1 / 3] * 3] * frame.height\n"
        "def series(frame):\n    return pl.Series(lists(frame))\n"
    )
    specs = [
        part
        for function in ("array", "lists", "series")
        for part in ("--candidate", f"{name}:{function}")
    ]
    ran = untaken(
        *("evaluate", write_log(decisions("closed")), *specs),
        *("--candidate", "uniform", *COMMAND, "--method", "compat", "--json"),
    )
    assert len({str(candidate["value"]) for candidate in ran.candidates}) == 1


def test_a_module_of_the_same_name_in_another_folder_is_another_module(
    untaken, decisions, write_log, tmp_path, monkeypatch
):
    log = write_log(decisions("closed"))
    estimates = []
    for share in ("[1.0, 0.0, 0.0]", "[0.0, 0.0, 1.0]"):
        folder = tmp_path / share
        folder.mkdir()
        (folder / "policy_of_ours.py").write_text(
            f"def f(frame):\n    return [{share}] * frame.height\n"
        )
        monkeypatch.chdir(folder)
        ran = untaken(
            "evaluate", log, "--candidate", "policy_of_ours:f", *COMMAND, "--json"
        )
        estimates.append(ran.candidates[0]["value"]["estimate"])
    assert estimates[0] != estimates[1]


def test_a_function_and_a_column_stand_side_by_side_in_any_layout(
    untaken, decisions, write_log, module
):
    name = module("def f(frame):\n    return [[1.0, 0.0, 0.0]] * frame.height\n")
    log = decisions("closed")
    pairs = pl.DataFrame(
        {
            **{key: log[key] for key in ("decision_id", "place", "action", "reward")},
            **{
                column: [
                    [{"action": a, "probability": p} for a, p in zip(*row, strict=True)]
                    for row in log.select("actions", column).iter_rows()
                ]
                for column in ("logging_probabilities", "new")
            },
        }
    )
    specs = ("--candidate", "column:new", "--candidate", f"{name}:f")
    expected = untaken("evaluate", write_log(log), *specs, *COMMAND, "--json")
    found = untaken(
        *("evaluate", write_log(pairs, "pairs.parquet"), *specs, *COMMAND),
        *("--probabilities", "structs", "--json"),
    )
    assert expected.code == 0, expected.err
    assert found.out == expected.out
