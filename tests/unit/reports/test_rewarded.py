"""What a report says of rewards that come in a table of their own."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json

import polars as pl
import pytest

from flows.reports import (
    build,
    findings,
    html,
    judged,
    markdown,
    quality,
    rewarded,
    to_json,
)
from flows.reports.night import DefaultFacts, JudgedDay, RewardFacts
from flows.reports.phrases import duration
from flows.rewards import Counts, Delays, Factor, Rewards

DAYS = [dt.date(2019, 11, day) for day in range(24, 31)]
DECLARED = Rewards(
    events=("rewards/*.parquet",),
    wait_seconds=600.0,
    reward_range=(0.0, 1.0),
    default=0.0,
    load_delay_seconds=900.0,
)
USUAL = Counts(decisions=1429, observed=400, default=1029, timely=400)


def day_of(day, counts=USUAL, *, known_from=None, is_open=False):
    return JudgedDay(
        day=day,
        known_from=known_from or day,
        is_open=is_open,
        closes_at=dt.datetime.combine(day, dt.time(0, 25), dt.UTC) + dt.timedelta(1),
        counts=counts,
        delays=Delays(218.36, 432.5, 550.0),
    )


def facts_of(facts, *last, declared=DECLARED):
    """The facts of a night whose last days were judged as said, others as usual."""
    judged_days = (*map(day_of, DAYS[: len(DAYS) - len(last)]), *last)
    facts = dataclasses.replace(facts, rewards=RewardFacts(declared, judged_days))
    return facts if declared.default is None else with_default(facts)


def with_default(facts):
    """The facts of a log in which most decisions earn the default reward."""
    without = facts.estimates.filter(
        pl.col("night") == facts.night,
        pl.col("window") == "since_start",
        pl.col("segment_by") == "",
    ).with_columns(lower=pl.col("lower") - 0.1, missing_reward=pl.lit(7203))
    return dataclasses.replace(facts, default=DefaultFacts(0.0, without))


def rows(table):
    return {head: cells[0].number for head, _, cells in table.rows}


def test_a_log_that_holds_its_rewards_has_no_section(sample):
    document = build(sample.facts())
    assert document["rewards"] is None
    assert 'id="rewards"' not in html(document)
    assert "## Rewards" not in markdown(document)


def test_the_section_tells_how_rewards_are_joined_and_what_became_of_them(sample):
    document = build(facts_of(sample.facts()))
    assert json.loads(to_json(document)) == document
    assert rewarded.declared(document) == [
        (
            "A reward counts when it is received less than 10 minutes after its "
            "decision; clocks differ, so one received up to 2 minutes before it does."
        ),
        (
            "A decision enters the numbers when no reward can count for it any more: "
            "25 minutes after it was made, since rewards may take 15 minutes more to "
            "be loaded."
        ),
        "A decision without a reward earns the default, 0.",
        "Of several rewards of a decision the one that was received first counts.",
    ]
    assert rows(judged.decisions(document)) == {
        "With a reward": "2,800",
        "By default": "7,203",
    }
    assert rows(judged.events(document)) == {"In time": "2,800"}
    assert rewarded.delays(document).startswith(
        "Half of the rewards of a day came within 3.64 minutes, 99 % within 7.21 "
        "minutes, the slowest after 9.17 minutes."
    )
    assert rewarded.known(document) == []
    assert rewarded.opening(document) == ""
    assert rewarded.selected(document) == ""
    assert "all 10,003 have a reward, observed or by default" in (
        findings.nothing_missing(document)
    )
    page, text = html(document), markdown(document)
    assert "2,800 observed and 7,203 by default (0)" in page
    assert "With the default reward and without it" in page
    told = "| By default: none was received in time; each earns the default | 7,203 "
    assert told in text
    assert "logging policy: anything from 0 to 1" in text


def test_factors_are_listed_with_weight_condition_and_group(sample):
    factors = (
        Factor("opened", 0.3, "seconds >= 0", "shown"),
        Factor("bought", 0.7),
    )
    declared = dataclasses.replace(DECLARED, factors=factors, default=None)
    document = build(facts_of(sample.facts(), declared=declared))
    assert [(head, note) for head, note, _ in judged.factors(document).rows] == [
        ("opened", "when seconds >= 0; of group shown only the highest"),
        ("bought", "times the rewards that name it"),
    ]
    assert rewarded.declared(document)[2:] == [
        "No default reward is declared: a decision without a reward is missing.",
        "Of several rewards of one factor the one that was received first counts.",
        "Each factor counts once a decision; the factors of a decision are added.",
    ]
    assert judged.without_default(document) is None
    assert "when seconds &gt;= 0" in html(document)


def test_an_open_night_says_at_the_top_until_when(sample):
    counts = Counts(decisions=1429, observed=300, missing=629, immature=500)
    document = build(facts_of(sample.facts(), day_of(DAYS[-1], counts, is_open=True)))
    told = (
        "The night is open until 1 December 2019, 00:25 (UTC): rewards that are not "
        "there yet count as missing, and 500 decisions too young for one are left out."
    )
    assert document["rewards"]["open_until"] == "2019-12-01T00:25:00+00:00"
    assert document["answer"]["sentence"].endswith(told)
    assert f'<p class="until">{told}</p>' in html(document)
    assert markdown(document).split("\n\n")[2] == f"**{told}**"
    assert html(document).count("is open until") == 1
    assert "never the default" in rewarded.known(document)[0]
    assert rows(judged.decisions(document))["Missing"] == "629"


def test_days_judged_again_are_told_from_nights_made_again(nights):
    facts = nights["wrong"]
    again = facts.revisions.with_columns(
        known_from=pl.col("night") + dt.timedelta(1), run_id=pl.lit("9")
    )
    twice = pl.concat([again, again.with_columns(run_id=pl.lit("8"))])
    days = [day_of(day, known_from=DAYS[-1]) for day in DAYS[-3:]]
    document = build(
        dataclasses.replace(
            facts_of(facts, *days), revisions=pl.concat([facts.revisions, twice])
        )
    )
    times = {(n["night"], n["known_from"], n["times"]) for n in document["revisions"]}
    assert ("2019-11-27", "2019-11-28", 1) in times
    assert len(quality.revisions(document).rows) == 1
    ((head, note, _),) = quality.known_later(document).rows
    assert (head, note) == (
        "thompson",
        (
            "improvement, 27 November 2019, rewards known since 28 November 2019; "
            "2 nights moved"
        ),
    )
    assert rewarded.known(document) == [
        (
            "More rewards of 28 to 29 November 2019 became known after those nights "
            "had closed. This night counts them; those stay as published."
        )
    ]
    assert "Moved by later rewards" in html(document)
    assert "with them +5" in markdown(document)


def test_what_did_not_occur_has_no_row_and_what_did_says_what_it_means(sample):
    counts = Counts(
        decisions=1429,
        observed=400,
        default=929,
        unactivated=100,
        rewarded_unactivated=7,
        timely=420,
        wrong_item=4,
        late=30,
        at_the_boundary=2,
        duplicates=5,
        contradicting=1,
        late_after_closing=3,
        events=463,
    )
    document = build(facts_of(sample.facts(), day_of(DAYS[-1], counts)))
    table = judged.events(document)
    assert [*rows(table)] == [
        "In time",
        "For another action",
        "Late",
        "Exactly at the end",
        "Late by days",
        "Repeated",
        "Contradicting",
    ]
    notes = {head: note for head, note, _ in judged.decisions(document).rows}
    assert notes["Not activated"].endswith("though 7 of them have a reward")
    newest, *_, oldest = judged.days(document).rows
    assert "100 not activated; 4 for another action; 30 late" in newest[1]
    assert (
        oldest[1] == "half of its rewards within 3.64 minutes, 99 % within 7.21 minutes"
    )
    assert "does not depend on the action" in rewarded.selected(document)
    assert "events" not in document["rewards"]["counts"]


def test_values_stand_with_the_default_reward_and_without(sample):
    document = build(facts_of(sample.facts()))
    told = [(head, note) for head, note, _ in judged.without_default(document).rows]
    assert told[:2] == [
        ("logging policy", "the default, 0"),
        ("logging policy", "anything from 0 to 1"),
    ]
    assert len(told) == 10
    first = document["default_reward"]["without"][1]
    assert first["candidate"] == "thompson"
    assert first["missing"]["reward"] == 7203
    lower = document["candidates"][0]["value"]["lower"]
    assert first["value"]["lower"] == pytest.approx(lower - 0.1)


def test_a_log_that_holds_its_rewards_is_told_without_its_default_too(sample):
    document = build(with_default(sample.facts()))
    told = "7,203 of 10,003 decisions have no reward and earn the default, 0."
    page, text = html(document), markdown(document)
    assert document["rewards"] is None
    assert f"<p>{told}</p>" in page
    assert "With the default reward and without it" in page
    assert "What became of" not in page
    assert f"## Rewards\n\n{told}" in text
    assert "logging policy: anything from 0 to 1" in text


def test_advice_is_told_by_the_days_on_which_it_applies(sample):
    advice = {
        "rule": "wait_is_a_usual_one",
        "sentence": "The wait is a usual one: it is 1 minute.",
        "remedy": "keep it.",
        "count": 2858,
        "days": 2,
        "last_day": "2019-11-30",
    }
    facts = facts_of(sample.facts())
    bare = advice | {"sentence": "Rewards have known_at.", "days": 1}
    every = dataclasses.replace(facts, warnings=(advice, advice | {"days": 7}, bare))
    assert findings.warnings(build(every)) == [
        (
            "Expected: the wait is a usual one. Found on 2 of 7 days, last on 30 "
            "November 2019: it is 1 minute. Keep it."
        ),
        "Expected: the wait is a usual one. Found: it is 1 minute. Keep it.",
        "Expected: rewards have known_at. Not so on 30 November 2019. Keep it.",
    ]


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.5, "0.5 seconds"),
        (90, "90 seconds"),
        (600, "10 minutes"),
        (3600, "1 hour"),
        (86_400, "24 hours"),
        (172_800, "2 days"),
        (3661, "3,661 seconds"),
    ],
)
def test_declared_durations_are_told_exactly(seconds, told):
    assert duration(seconds) == told
