"""What may be declared of rewards, and what conditions may say."""

from __future__ import annotations

import pytest

from flows.errors import UsageError
from flows.rewards import Factor, Rewards


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"events": ()}, "events must name"),
        ({"wait_seconds": 0}, "wait_seconds 0 must be above 0"),
        ({"wait_seconds": float("nan")}, "wait_seconds nan"),
        ({"backward_seconds": -1}, "backward_seconds -1"),
        ({"reward_range": (1.0, 0.0)}, "must ascend"),
        ({"default": 2.0}, "default 2.0 lies outside reward_range"),
        ({"aggregation": "first"}, "'first' is none of earliest, sum"),
        ({"columns": {"rewarded": "x"}}, "columns maps 'rewarded'"),
        ({"factors": (Factor("a"), Factor("a"))}, "'a' stands more than once"),
        ({"factors": (Factor("a", float("inf")),)}, "the weight of factor 'a' is inf"),
        ({"factors": (Factor("a", 1.0, " "),)}, "empty name or condition"),
    ],
)
def test_what_cannot_be_meant_is_refused(declared, said):
    good = {"events": ("x",), "wait_seconds": 600, "reward_range": (0.0, 1.0)}
    with pytest.raises(UsageError, match=said) as told:
        Rewards(**good | declared)
    assert told.value.exit_code == 2


def test_everything_wrong_is_told_at_once():
    with pytest.raises(UsageError) as told:
        Rewards((), wait_seconds=-1, reward_range=(0.0, 1.0), default=7)
    assert str(told.value).count(";") == 2


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("seconds >", "cannot be read"),
        ("secnods > 3", "cannot be read: .*secnods"),
        ("seconds + 1", "no predicate: it is DOUBLE"),
        ("count(*) > 1", "cannot be read"),
        ("rewarded_at < now()", "asks for now"),
        ("random() < 0.5", "asks for random"),
        ("seconds > (select 1)", "asks for select"),
        ("seconds > 1) or (seconds", "no predicate|cannot be read"),
    ],
)
def test_a_condition_is_a_predicate_over_the_event(join, events, at, condition, said):
    events([{"decision_id": "a", "rewarded_at": at(1), "seconds": 2.0}])
    with pytest.raises(UsageError, match=said) as told:
        join("a", factors=(Factor("long", 1.0, condition),))
    assert "factor 'long'" in str(told.value)


def test_a_column_may_be_named_like_a_clock(join, events, at):
    events([{"decision_id": "a", "rewarded_at": at(1), "age": 30}])
    found = join("a", factors=(Factor("grown", 1.0, "age >= 18 -- years"),))
    assert found.counts.ones == 1


def test_a_condition_that_fails_on_an_event_is_told(join, events, at):
    row = {"decision_id": "a", "rewarded_at": at(1), "said": "5"}
    events([row, row | {"said": "long"}])
    with pytest.raises(UsageError, match="try_cast"):
        join("a", factors=(Factor("long", 1.0, "said::double > 3"),))


def test_a_condition_alone_needs_no_reward(join, events, at):
    row = {"decision_id": "a", "rewarded_at": at(1), "seconds": None}
    events([row | {"seconds": 5.0}, row | {"decision_id": "b"}])
    found = join("abc", factors=(Factor("long", 0.5, "seconds > 3"),))
    assert (found.counts.observed, found.counts.zeros) == (2, 1)
