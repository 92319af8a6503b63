"""Every file of sql/rewards/checks has an event that passes it and one that fails."""

from __future__ import annotations

import math

import polars as pl
import pytest

from flows import queries
from flows.errors import ViolationsError
from flows.rewards import Factor

FAILING = {
    "events/10_decision_id_is_present": {"decision_id": ""},
    "events/11_rewarded_at_is_present": {"rewarded_at": None},
    "events/12_known_at_is_present": {"known_at": None},
    "events/20_reward_is_a_number": {"reward": math.inf},
    "events/21_factor_is_declared": {"factor": "veiw"},
    "events/22_conditions_read_no_nan": {"seconds": math.nan},
    "activations/10_decision_id_is_present": {"decision_id": None},
    "activations/11_activated_at_is_present": {"activated_at": None},
    "activations/12_known_at_is_present": {"known_at": None},
}
FACTORS = (Factor("view"), Factor("long", 0.5, "seconds > 3"))


@pytest.fixture
def checked(join, tmp_path, at):
    """Joins one event and one activation, changed as given."""

    def run(event=None, activation=None):
        good = {
            "decision_id": "a",
            "rewarded_at": at(5),
            "known_at": at(6),
            "reward": 1.0,
            "factor": "view",
            "seconds": 2.0,
        }
        frame = pl.DataFrame([good, good | (event or {})])
        frame.write_parquet(tmp_path / "rewards.parquet")
        good = {"decision_id": "a", "activated_at": at(5), "known_at": at(6)}
        frame = pl.DataFrame([good, good | (activation or {})])
        frame.write_parquet(tmp_path / "activations.parquet")
        return join(
            "a", factors=FACTORS, activations=("activations.parquet",), deferred=True
        )

    return run


def test_every_check_has_an_event_that_fails_it():
    files = [
        name.removeprefix("rewards/checks/")
        for table in ("events", "activations")
        for name in queries.names(f"rewards/checks/{table}")
    ]
    assert sorted(files) == sorted(FAILING)


def test_good_events_pass(checked):
    assert checked().counts.observed == 1


@pytest.mark.parametrize("check", FAILING)
def test_a_broken_event_fails_its_check_alone(checked, check):
    table, name = check.split("/")
    given = {"event" if table == "events" else "activation": FAILING[check]}
    with pytest.raises(ViolationsError) as told:
        checked(**given)
    (broken,) = told.value.broken
    assert (broken.rule, broken.count) == (name.split("_", 1)[1], 1)
    assert broken.rows[0].row == 2
