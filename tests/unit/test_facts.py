"""What the results folder says to the reports of its nights."""

from __future__ import annotations

import datetime as dt
import runpy
import shutil
from pathlib import Path

import polars as pl
import pytest

from flows import steps
from flows.asked import Asked
from flows.facts import Kept
from flows.job import load

MADE = runpy.run_path(str(Path(__file__).parent / "warehouse" / "conftest.py"))
DAYS = {number: dt.date(2024, 5, number) for number in (1, 2, 3)}


@pytest.fixture
def place(tmp_path):
    place = MADE["Place"](tmp_path / "place")
    place.job(candidates='new = { spec = "column:new", fixed_at = 2024-05-02 }')
    return place


def declare(place, *lines):
    """Puts lines into the section [evaluation], the method's among them."""
    told = "\n".join(lines)
    place.file.write_text(place.file.read_text().replace('method = "mixture"', told))


def write(place, models=("a", "a", "a")):
    for number, model in enumerate(models, 1):
        rows = MADE["day"](number).with_columns(model_id=pl.lit(model))
        place.write(rows, MADE["name_of"](number))


def kept(place):
    job = load(place.file)
    return Kept.of(place.folder(), job)


def warned(facts):
    return {one["rule"]: one for one in facts.warnings}


def test_a_night_s_facts_hold_nothing_of_later_nights(place):
    write(place)
    place.night()
    facts = kept(place).facts(DAYS[2])
    assert facts.days["day"].to_list() == [DAYS[1], DAYS[2]]
    assert facts.estimates["night"].max() == DAYS[2]
    assert facts.frequencies["day"].max() == DAYS[2]
    assert facts.fixed_at == {"new": DAYS[2]}
    assert facts.support == "logged"
    assert facts.checkpoint_nights == ()


@pytest.mark.parametrize(
    ("lines", "nights"),
    [
        (("horizon_nights = 28",), (7, 14, 21, 28)),
        (("horizon_nights = 2",), (1, 2)),
        (("drift = true",), ()),
    ],
)
def test_checkpoints_follow_from_the_declared_horizon(place, lines, nights):
    declare(place, 'method = "anytime"', *lines)
    write(place)
    place.night()
    facts = kept(place).facts(DAYS[3])
    assert facts.checkpoint_nights == nights


def test_an_open_horizon_has_checkpoints_at_doubling_nights(place):
    declare(place, 'method = "anytime"')
    write(place)
    place.night()
    assert kept(place).facts(DAYS[3]).checkpoint_nights[:5] == (1, 2, 4, 7, 14)


def test_a_night_keeps_the_horizon_it_was_made_by(place):
    declare(place, 'method = "anytime"', "horizon_nights = 4")
    write(place, ("a", "a"))
    place.night()
    text = place.file.read_text()
    place.file.write_text(text.replace("horizon_nights = 4", "horizon_nights = 8"))
    write(place)
    place.night()
    both = kept(place)
    assert both.facts(DAYS[2]).design.horizon_nights == 4
    assert both.facts(DAYS[3]).design.horizon_nights == 8
    assert both.facts(DAYS[3]).checkpoint_nights == (2, 4, 6, 8)


def test_more_than_one_model_is_warned_of_on_the_night_it_shows(place):
    write(place, ("a", "a", "b"))
    place.night()
    assert "one_model_decides" not in warned(kept(place).facts(DAYS[2]))
    found = warned(kept(place).facts(DAYS[3]))["one_model_decides"]
    assert found["count"] == 360
    assert found["sentence"].endswith("model_id names a, b.")
    assert 'logging = "adaptive"' in found["remedy"]


def test_models_may_follow_each_other_where_logging_is_adaptive(place):
    declare(place, 'method = "mixture"', 'logging = "adaptive"')
    write(place, ("a", "a", "b"))
    place.night()
    facts = kept(place).facts(DAYS[3])
    assert warned(facts) == {}
    assert facts.design.used == "mixture"
    assert facts.design.assumes == "running_average"


def test_a_day_that_changes_tells_how_far_published_nights_moved(place):
    write(place)
    place.night()
    assert kept(place).facts(DAYS[3]).revisions.height == 0
    changed = MADE["day"](1).with_columns(reward=pl.lit(1.0), model_id=pl.lit("a"))
    place.write(changed, MADE["name_of"](1))
    place.night()
    moved = kept(place).facts(DAYS[3]).revisions
    assert set(moved["night"]) == set(DAYS.values())
    assert (moved["estimate_before"] != moved["estimate_after"]).any()
    assert set(kept(place).facts(DAYS[1]).revisions["night"]) == {DAYS[1]}


def test_rewards_that_come_apart_are_told_as_the_night_knew_them(place):
    place.apart()
    place.decide([(f"{row}", 7_200 * row) for row in range(24)])
    known = [(f"{row}", 7_200 * row + 60, 7_200 * row + 90, 1.0) for row in range(18)]
    later = ("18", 129_660, 200_000, 1.0)  # of 2 May, known on the third
    place.events([*known, later, ("20", 144_000, 144_010, 1.0)])
    place.night(last=DAYS[2])
    facts = kept(place).facts(DAYS[2])
    assert facts.days["rewards"].to_list() == [12, 7]
    first, second = facts.rewards.judged
    assert (first.is_open, second.is_open) == (False, False)
    assert second.closes_at == dt.datetime(2024, 5, 3, 0, 11, tzinfo=dt.UTC)
    assert (second.counts.observed, second.counts.default) == (7, 5)
    assert facts.default.without["estimator"].unique().to_list() == [
        "without default reward"
    ]
    assert warned(facts) == {}


def test_an_open_day_has_no_default_reward_and_advice_is_a_warning(place):
    place.apart()
    place.decide([(f"{row}", 7_200 * row) for row in range(12)])
    place.events([("0", 60, None, 1.0)])
    place.night(last=DAYS[1])
    facts = kept(place).facts(DAYS[1])
    (day,) = facts.rewards.judged
    assert day.is_open
    assert (day.counts.observed, day.counts.default) == (1, 0)
    assert day.counts.missing + day.counts.immature == 11
    assert facts.default.without.height == 0
    advice = warned(facts)["rewards_say_when_they_were_loaded"]
    assert (advice["days"], advice["last_day"]) == (1, "2024-05-01")
    assert place.document("2024-05-01")["rewards"]["open_until"] == (
        "2024-05-02T00:11:00+00:00"
    )


def test_the_switch_rule_is_told_of_the_log_of_the_service_alone(place, tmp_path):
    write(place)
    place.night()
    assert kept(place).facts(DAYS[3]).switch_rule is None
    sample = Path(__file__).parents[2] / "data" / "sample"
    shutil.copytree(sample / "coffee", tmp_path / "coffee")
    shutil.copy(sample / "coffee.toml", tmp_path)
    job = load(tmp_path / "coffee.toml")
    plan = steps.plan(job, Asked())
    steps.check(plan)
    for day in steps.uncounted(plan):
        steps.count(plan, day)
    steps.estimate(plan)
    night = plan.nights[-1]
    rows = Kept.of(plan.folder, job).facts(night).switch_rule.rows_by_key("candidate")
    # As vw-estimators 0.2.2 has them of the same log.
    assert rows["baseline"][0][:3] == pytest.approx((0.3069, 0.0910, 0.5228), abs=1e-4)
    assert rows["random"][0][:3] == pytest.approx((0.1535, 0.0920, 0.2149), abs=1e-4)
    assert rows["logging"] == rows["online"]


def test_the_default_of_a_log_that_holds_its_rewards_is_told_without_it(place):
    text = place.file.read_text()
    place.file.write_text(
        text.replace('["device"]\n', '["device"]\ndefault_reward = 0.0\n', 1)
    )
    rows = MADE["day"](1)
    late = pl.int_range(pl.len()) % 4 == 0
    rows = rows.with_columns(
        reward=pl.when(~late).then("reward"),
        reward_status=pl.when(late)
        .then(pl.lit("default"))
        .otherwise(pl.lit("observed")),
    )
    place.write(rows, MADE["name_of"](1))
    place.night()
    found = kept(place).facts(DAYS[1]).default
    assert found.reward == 0.0
    assert set(found.without["missing_reward"]) == {30}
    told = place.document("2024-05-01")["default_reward"]["without"]
    assert [one["candidate"] for one in told] == ["logging", "new"]
