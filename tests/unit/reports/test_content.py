from __future__ import annotations

import dataclasses
import datetime as dt
import json
import math

import polars as pl
import pytest

from flows.reports import build, to_json

KEYS = [
    "schema",
    "job",
    "night",
    "timezone",
    "log",
    "evaluation",
    "answer",
    "logging_policy",
    "candidates",
    "doubly_robust",
    "differences",
    "ranking",
    "rewards",
    "default_reward",
    "warnings",
    "violations",
    "days",
    "revisions",
    "frequencies",
    "switch_rule",
    "suggestions",
]
CANDIDATE_KEYS = [
    "candidate",
    "spec",
    "fixed_at",
    "decisions",
    "looks",
    "value",
    "improvement",
    "missing",
    "assumptions",
    "diagnostics",
    "supported_since",
    "windows",
    "segments",
    "nights",
]


def test_document_has_the_published_keys_in_their_order(sample):
    document = build(sample.facts())
    assert list(document) == KEYS
    assert document["schema"] == "untaken.report/2"
    assert [list(each) for each in document["candidates"]] == [CANDIDATE_KEYS] * 4
    assert list(document["candidates"][0]["windows"]) == [
        "night",
        "last_7",
        "last_28",
        "since_start",
    ]


def test_candidates_keep_the_order_of_the_job_file(sample):
    names = [each["candidate"] for each in build(sample.facts())["candidates"]]
    assert names == ["thompson", "uniform", "house_pick", "by_position"]


def test_log_is_summed_over_its_days(sample):
    assert build(sample.facts())["log"] == {
        "decisions": 10003,
        "days": 7,
        "first_day": "2019-11-24",
        "last_day": "2019-11-30",
        "night_decisions": 1429,
        "rewards": 10003,
        "actions": 34,
    }


def test_nights_are_those_since_the_start_oldest_first(sample):
    nights = build(sample.facts())["candidates"][0]["nights"]
    assert [entry["night"] for entry in nights] == [
        f"2019-11-{day}" for day in range(24, 31)
    ]
    assert [entry["decisions"] for entry in nights] == [1429 * n for n in range(1, 8)]


def test_headline_is_the_window_since_the_start(sample):
    for each in build(sample.facts())["candidates"]:
        start = each["windows"]["since_start"]
        assert (each["value"], each["improvement"]) == (
            start["value"],
            start["improvement"],
        )
        assert each["nights"][-1]["improvement"] == each["improvement"]


def test_segments_come_in_natural_order(make, acts):
    facts = make(acts("x"), segments=(("shop", ("10", "2", "(null)", "b")),)).facts()
    segments = build(facts)["candidates"][0]["segments"]
    assert [entry["segment"] for entry in segments] == ["2", "10", "(null)", "b"]


def test_order_of_rows_and_run_ids_change_nothing(sample):
    facts = sample.facts()
    shuffled = dataclasses.replace(
        facts,
        estimates=facts.estimates.sample(fraction=1, shuffle=True, seed=3).with_columns(
            run_id=pl.lit("another")
        ),
        days=facts.days.reverse(),
    )
    assert to_json(build(shuffled)) == to_json(build(facts))


def test_json_holds_no_nan_and_at_most_12_digits(sample):
    facts = sample.facts()
    facts = dataclasses.replace(
        facts, estimates=facts.estimates.with_columns(top_share=pl.lit(math.nan))
    )
    text = to_json(build(facts))
    assert "NaN" not in text
    assert text.endswith("}\n")

    def check(number):
        assert len(number.lstrip("-0.").replace(".", "").partition("e")[0]) <= 12
        return float(number)

    assert json.loads(text, parse_float=check) == build(facts)


def test_supported_candidate_gives_the_answer(nights):
    document = build(nights["supported"])
    assert document["answer"]["state"] == "supported"
    assert document["answer"]["candidate"] == "thompson"
    thompson = document["candidates"][0]
    since = document["answer"]["supported_since"]
    assert thompson["supported_since"] == since
    lowers = {e["night"]: e["improvement"]["lower"] for e in thompson["nights"]}
    assert all(lower > 0 for night, lower in lowers.items() if night >= since)
    before = dt.date.fromisoformat(since) - dt.timedelta(1)
    assert lowers[before.isoformat()] <= 0


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("sample", "not enough evidence"),
        ("wrong", "not enough evidence"),
        ("withheld", "withheld"),
        ("no_rewards", "all rewards missing"),
        ("worse", "worse"),
        ("many", "supported"),
    ],
)
def test_each_kind_of_night_has_its_state(nights, kind, state):
    assert build(nights[kind])["answer"]["state"] == state


def test_findings_are_carried(nights):
    document = build(nights["wrong"])
    assert document["violations"] == [
        {"day": "2019-11-28", "rule": "probabilities_sum_to_one", "count": 14}
    ]
    assert document["warnings"][0]["count"] == 212
    revised = [day["day"] for day in document["days"] if day["revision"]]
    assert revised == ["2019-11-26"]
    catalogue = document["candidates"][1]
    assert catalogue["diagnostics"]["unknown_actions"] == [
        {"action": "Jacket-22", "nearest": "jacket-22"},
        {"action": "scarf", "nearest": None},
    ]
    assert catalogue["missing"]["support"] == 300


def test_a_candidate_without_estimates_is_refused(sample):
    facts = dataclasses.replace(sample.facts(), candidates=(("absent", "uniform"),))
    with pytest.raises(KeyError, match="absent"):
        build(facts)


def test_doubly_robust_answers_stand_beside_and_change_nothing(sample):
    facts = sample.facts()
    twins = facts.estimates.filter(
        pl.col("night") == facts.night,
        pl.col("window") == "since_start",
        pl.col("segment_by") == "",
        pl.col("candidate") != "logging",
    )
    without = build(facts)
    document = build(dataclasses.replace(facts, doubly_robust=twins))
    found = document.pop("doubly_robust")
    assert without.pop("doubly_robust") == []
    assert document == without
    assert [each["candidate"] for each in found] == [
        each["candidate"] for each in without["candidates"]
    ]
    for each, other in zip(found, without["candidates"], strict=True):
        assert each["improvement"] == other["improvement"]
