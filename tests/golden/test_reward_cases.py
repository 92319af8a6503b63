"""Cases of rewards that the join answers, and 000's examples; each test has its id."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from flows import queries
from flows.decisions import Layout, measure, open_log
from flows.errors import LogError
from flows.rewards import Beside, Decisions, Factor, Outputs, Rewards, judge

RANKED_AT = dt.datetime(2023, 5, 1, 12, tzinfo=dt.UTC)
LATER = RANKED_AT + dt.timedelta(days=1)


def after(seconds, start=RANKED_AT):
    return start + dt.timedelta(seconds=seconds)


@pytest.fixture
def estimated_with(tmp_path):
    """The rewards that estimates are made from, defaults put in."""
    file = tmp_path / "beside.parquet"
    return lambda: [*pl.read_parquet(file)["untaken_reward"]]


@pytest.fixture
def joined(tmp_path):
    """Joins decisions with events, and tells (reward, status) of each and the rest."""

    def join(decisions, events, activations=None, *, as_of=LATER, **declared):
        log = tmp_path / "decisions.parquet"
        common = {"decided_at": RANKED_AT, "action": "x"}
        made = pl.DataFrame([common | one for one in decisions])
        made.with_columns(
            file=pl.lit(str(log)), row=pl.int_range(1, pl.len() + 1)
        ).write_parquet(log)
        (tmp_path / "rewards.parquet").unlink(missing_ok=True)
        pl.DataFrame(events).write_parquet(tmp_path / "rewards.parquet")
        if activations is not None:
            pl.DataFrame(activations).write_parquet(tmp_path / "activations.parquet")
            declared["activations"] = ("activations.parquet",)
        settings = {"wait_seconds": 600, "reward_range": (0.0, 1.0), "default": 0.0}
        rewards = Rewards(("rewards.parquet",), base=tmp_path, **settings | declared)
        rows = pl.read_parquet(log).height
        beside = Beside((tmp_path / "beside.parquet",), (rows,), rewards.default)
        with queries.connection() as con:
            con.read_parquet(str(log)).create_view("decisions")
            found = judge(
                con,
                Decisions("decisions", (str(log),)),
                rewards,
                as_of=as_of,
                outputs=Outputs(
                    tmp_path / "judged.parquet", beside, tmp_path / "set_aside.parquet"
                ),
            )
        frame = pl.read_parquet(tmp_path / "judged.parquet")
        return frame.select("reward", "status").rows(), found

    return join


def event(decision_id, seconds, reward, **more):
    at = {"decision_id": decision_id, "rewarded_at": after(seconds), "reward": reward}
    return at | more


def ids(*names, **more):
    return [{"decision_id": name} | more for name in names]


@pytest.mark.parametrize(
    ("aggregation", "first", "second"), [("earliest", 0.2, 1.0), ("sum", 0.5, 1.0)]
)
def test_r01_rewards_are_aggregated_within_a_slot(joined, aggregation, first, second):
    decisions = [{"decision_id": "e1", "slot": slot} for slot in ("s1", "s2")]
    events = [
        event("e1", 60, 0.2, slot="s1"),
        event("e1", 120, 1.0, slot="s2"),
        event("e1", 180, 0.3, slot="s1"),
    ]
    rows, _ = joined(decisions, events, aggregation=aggregation)
    assert rows == [(first, "observed"), (second, "observed")]


def test_r03_a_reward_at_the_end_of_the_wait_is_late(joined):
    events = [event("a", 15, 1.0), event("b", 14.999, 1.0)]
    rows, found = joined(ids("a", "b"), events, wait_seconds=15)
    assert rows == [(None, "default"), (1.0, "observed")]
    assert (found.counts.late, found.counts.at_the_boundary) == (1, 1)


def test_r04_no_click_is_the_default_once_the_wait_is_over(joined, estimated_with):
    events = [event("other", 5, 1.0)]
    rows, found = joined(ids("a"), events, as_of=after(300))
    assert rows == [(None, "immature")]
    assert (found.counts.immature, found.counts.default) == (1, 0)
    rows, found = joined(ids("a"), events, as_of=after(600))
    assert rows == [(None, "default")]
    assert estimated_with() == [0.0]


def test_r12_decisions_without_observation_stay(joined, estimated_with):
    joined(ids("a", "b"), [event("a", 5, 1.0)])
    assert estimated_with() == [1.0, 0.0]


def test_r14_a_reward_of_no_slot_is_listed(joined, tmp_path):
    decisions = [{"decision_id": "e", "slot": slot} for slot in (0, 1)]
    events = [event("e", 5, 1.0, slot="0"), event("e", 5, 1.0, slot="hero")]
    rows, found = joined(decisions, events)
    assert rows == [(1.0, "observed"), (None, "default")]
    assert (found.counts.no_such_slot, found.counts.dangling) == (1, 0)
    listed = pl.read_parquet(tmp_path / "set_aside.parquet")
    assert listed.select("reason", "slot").rows() == [("no_such_slot", "hero")]


def test_r16_a_tie_goes_to_the_reward_that_arrived_first(joined):
    events = [event("a", 30, 0.0), event("a", 30, 1.0)]
    for _ in range(20):
        rows, found = joined(ids("a"), events)
        assert rows == [(0.0, "observed")]
        assert found.counts.ties == 1


def test_r17_the_end_of_the_wait_is_outside(joined):
    rows, found = joined(ids("a"), [event("a", 600, 1.0)])
    assert rows == [(None, "default")]
    assert found.counts.late == 1


def test_r20_a_reward_of_an_unknown_decision_invents_none(joined):
    rows, found = joined(ids("a"), [event("ghost", 5, 1.0)])
    assert rows == [(None, "default")]
    assert (found.counts.dangling, found.counts.decisions) == (1, 1)


def test_r22_a_reward_of_0_has_an_effect(joined, estimated_with):
    rows, _ = joined(
        ids("a", "b"), [event("a", 5, 0.0)], default=-0.5, reward_range=(-1.0, 1.0)
    )
    assert rows == [(0.0, "observed"), (None, "default")]
    assert estimated_with() == [0.0, -0.5]


@pytest.mark.parametrize(
    ("reward_activates", "a", "c", "rewarded"),
    [
        (False, (None, "unactivated"), (None, "unactivated"), 2),
        (True, (1.0, "observed"), (1.0, "observed"), 0),
    ],
)
def test_r24_a_deferred_decision_waits(joined, reward_activates, a, c, rewarded):
    rows, found = joined(
        ids("a", "b", "c", is_deferred=True),
        [event("a", 5, 1.0), event("c", 5, 1.0)],
        [
            {"decision_id": "b", "activated_at": after(10)},
            {"decision_id": "c", "activated_at": after(600)},
        ],
        reward_activates=reward_activates,
    )
    assert rows == [a, (None, "default"), c]
    assert found.counts.rewarded_unactivated == rewarded
    assert found.counts.late_activations == 1


def test_r27_naive_times_are_refused_unless_declared_utc(joined):
    midnight = dt.datetime(2023, 5, 1, tzinfo=dt.UTC)
    naive = event("a", 0, 1.0) | {"rewarded_at": dt.datetime(2023, 5, 1, 0, 5)}  # noqa: DTZ001
    decisions = ids("a", decided_at=midnight)
    with pytest.raises(LogError, match="time zone") as told:
        joined(decisions, [naive])
    assert "naive_is_utc = true" in str(told.value)
    _, found = joined(decisions, [naive], naive_is_utc=True)
    assert found.delays.median_seconds == 300
    zoned = pl.DataFrame([naive]).with_columns(
        pl.lit(dt.datetime(2023, 4, 30, 20, 5))  # noqa: DTZ001 - its zone follows
        .dt.replace_time_zone("America/New_York")
        .alias("rewarded_at")
    )
    _, found = joined(decisions, zoned)
    assert found.delays.median_seconds == 300


def test_r27_naive_ranks_are_refused(write_log):
    naive = {
        "decision_id": "a",
        "decided_at": dt.datetime(2023, 5, 1),  # noqa: DTZ001 - it is the case
        "action": "x",
        "actions": ["x"],
        "logging_probabilities": [1.0],
        "reward": None,
    }
    log = write_log([naive], schema_overrides={"reward": pl.Float64})
    with pytest.raises(LogError, match="naive"):
        open_log([str(log)], Layout(), dated=True, with_ids=True)


def test_000_partial_scores_of_a_video_add_up(joined):
    factors = (
        Factor("clicked", 0.5, "kind = 'click'"),
        Factor("opened", 0.3, "kind = 'open'"),
        Factor(
            "watched", 0.2, "watched_seconds >= greatest(300, 0.3 * length_seconds)"
        ),
    )
    seen = {"watched_seconds": None, "length_seconds": None}
    events = [
        event("a", 1, 0.0, kind="click", **seen),
        event("a", 2, 0.0, kind="click", **seen),
        event("a", 3, 0.0, kind="open", **seen),
        event("a", 400, 0.0, kind="watch", watched_seconds=300, length_seconds=900),
        event("b", 1, 0.0, kind="click", **seen),
        event("b", 400, 0.0, kind="watch", watched_seconds=599, length_seconds=2000),
        event("c", 400, 0.0, kind="watch", watched_seconds=299, length_seconds=600),
        event("d", 400, 0.0, kind="watch", watched_seconds=600, length_seconds=2000),
    ]
    rows, _ = joined(ids("a", "b", "c", "d"), events, factors=factors)
    assert [reward for reward, _ in rows] == [1.0, 0.5, 0.0, 0.2]
    assert {status for _, status in rows} == {"observed"}


@pytest.mark.parametrize(("aggregation", "total"), [("sum", 1.0), ("earliest", 0.8)])
def test_000_a_score_now_and_another_later(joined, aggregation, total):
    events = [event("a", 5, 0.8), event("a", 300, 0.2)]
    rows, _ = joined(ids("a"), events, aggregation=aggregation)
    assert rows == [(total, "observed")]


def test_000_opened_and_closed_again_counts_the_highest(joined):
    factors = (
        Factor("hovered", 0.1, "kind = 'hover'"),
        Factor("opened", 0.5, "kind = 'open'", group="page"),
        Factor("opened and closed", 0.2, "kind = 'close'", group="page"),
    )
    events = [
        event("a", 1, 0.0, kind="hover"),
        event("a", 2, 0.0, kind="open"),
        event("a", 3, 0.0, kind="close"),
        event("b", 3, 0.0, kind="close"),
    ]
    rows, _ = joined(ids("a", "b"), events, factors=factors)
    assert rows == [(0.6, "observed"), (0.2, "observed")]


def test_000_another_item_than_the_chosen_one_is_rewarded_0(joined):
    events = [event("a", 5, 1.0, action="y"), event("b", 5, 1.0, action="x")]
    rows, found = joined(ids("a", "b", "c"), events, default=0.25)
    assert rows == [(0.0, "observed"), (1.0, "observed"), (None, "default")]
    assert found.counts.wrong_item == 1


def test_the_log_that_checks_use_can_be_joined(write_log, tmp_path):
    decision = {
        "decision_id": "a",
        "decided_at": RANKED_AT,
        "action": "x",
        "actions": ["x", "y"],
        "logging_probabilities": [0.5, 0.5],
        "reward": None,
    }
    log = write_log([decision], schema_overrides={"reward": pl.Float64})
    opened = open_log([str(log)], Layout(), dated=True, with_ids=True)
    pl.DataFrame([event("a", 5, 1.0)]).write_parquet(tmp_path / "rewards.parquet")
    rewards = Rewards((str(tmp_path / "rewards.parquet"),), 600, (0.0, 1.0))
    out = tmp_path / "judged.parquet"
    with queries.connection() as con:
        measure(con, opened)
        table = Decisions("measured_decisions", opened.files)
        judge(con, table, rewards, as_of=LATER, outputs=Outputs(out))
    assert pl.read_parquet(out).rows() == [("a", 1.0, "observed")]
