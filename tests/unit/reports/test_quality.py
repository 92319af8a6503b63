from __future__ import annotations

import dataclasses

import polars as pl
import pytest

from flows.reports import build, findings, html, limits, markdown, quality
from flows.reports.night import NUMBERS

BROKEN = (
    "The log holds the probability of the logged action alone. How much of a "
    "candidate's probability lies on actions without support cannot be known."
)


@pytest.fixture(scope="module")
def wrong(nights):
    return build(nights["wrong"])


def test_revisions_tell_what_was_published_and_what_holds_now(wrong):
    assert wrong["revisions"][0] == {
        "candidate": "thompson",
        "other": "",
        "estimand": "improvement",
        "times": 1,
        "night": "2019-11-27",
        "known_from": "2019-11-27",
        "before": {"estimate": 0.1, "lower": -0.1, "upper": 0.3},
        "after": {"estimate": 0.05, "lower": -0.2, "upper": 0.2},
    }
    ((head, note, (before, now)),) = quality.revisions(wrong).rows
    assert (head, note) == (
        "thompson",
        "improvement, 27 November 2019; 2 nights moved",
    )
    assert before.number == "+10"
    assert now.number == "+5"
    assert "As published" in html(wrong)
    assert "published as +10" in markdown(wrong)


def test_a_night_revised_twice_is_told_from_first_to_last(nights):
    facts = nights["wrong"]
    again = facts.revisions.head(1).with_columns(
        estimate_before=pl.lit(0.05), estimate_after=pl.lit(0.02), run_id=pl.lit("9")
    )
    both = pl.concat([again, facts.revisions])
    found = build(dataclasses.replace(facts, revisions=both))["revisions"][0]
    assert found["times"] == 2
    assert found["before"]["estimate"] == 0.1
    assert found["after"]["estimate"] == 0.02


def test_numbers_that_came_back_are_no_movement(nights):
    facts = nights["wrong"]
    back = facts.revisions.head(1).with_columns(
        **{f"{name}_after": f"{name}_before" for name in ("estimate", "lower", "upper")}
    )
    assert quality.revisions(build(dataclasses.replace(facts, revisions=back))) is None


def test_only_actions_that_deviate_are_listed(wrong):
    assert wrong["frequencies"]["actions"] == 3
    assert [n["action"] for n in wrong["frequencies"]["deviating"]] == [
        "hat",
        "scarf",
        "hat",
    ]
    table = quality.frequencies(wrong)
    assert [(head, note) for head, note, _ in table.rows] == [
        ("hat", "all days together; also on 1 day alone"),
        ("scarf", "all days together"),
    ]
    assert "1 other action fits." in table.caption
    assert findings.frequencies(wrong) == ""
    assert "hat, all days together; also on 1 day alone: taken 4,100" in markdown(wrong)


def test_an_action_that_deviates_on_one_day_alone_names_it(nights):
    facts = nights["wrong"]
    daily = facts.frequencies.filter(pl.col("day").is_not_null())
    document = build(dataclasses.replace(facts, frequencies=daily))
    assert [note for _, note, _ in quality.frequencies(document).rows] == [
        "28 November 2019"
    ]


def test_where_all_actions_fit_one_line_says_so(nights, sample):
    facts = nights["wrong"]
    fitting = facts.frequencies.with_columns(is_deviating=pl.lit(value=False))
    document = build(dataclasses.replace(facts, frequencies=fitting))
    told = "All 3 actions were taken as often as the logged probabilities say"
    assert told in html(document)
    assert quality.frequencies(document) is None
    unknown = build(sample.facts())
    assert findings.frequencies(unknown) == ""
    assert "taken as often" not in html(unknown)


def test_what_a_log_of_propensities_cannot_say_is_said(nights):
    document = build(nights["moving"])
    assert document["evaluation"]["support"] == "unknown"
    told = findings.unknowable(document)
    assert told[0].startswith(BROKEN)
    assert "only one above 1 is told to be wrong" in told[1]
    assert "full_support = true" in told[2]
    assert "What cannot be known" in html(document)
    assert BROKEN in markdown(document)
    cells = [cells[1].interval for _, _, cells in quality.weights(document).rows]
    assert cells == ["expected at most 1"] * 2


def test_declared_support_is_told_to_be_declared(make, acts):
    document = build(make(acts("x"), support="declared").facts())
    (told,) = findings.unknowable(document)
    assert "is declared in the job file" in told
    assert findings.nothing_missing(document).endswith("has support, by declaration.")


def test_unknown_support_is_never_told_to_be_there(make, acts, sample):
    document = build(make(acts("x"), support="unknown").facts())
    assert findings.nothing_missing(document) == (
        "No reward is missing: all 10,003 decisions have one."
    )
    assert findings.unknowable(build(sample.facts())) == []


def test_unknown_support_stands_beside_missing_decisions(make, acts):
    night = make(acts("x", missing=0.1), acts("y", unsupported=0.1), support="unknown")
    rewards, support = build(night.facts())["candidates"]
    assert limits.lacking(rewards) == (
        "1,000 of 10,003 rewards are missing and support is not known"
    )
    assert limits.lacking(support) == (
        "1,000 of 10,003 decisions lack support and support is not known"
    )


def test_weights_withheld_on_a_log_of_propensities_are_too_large(make, acts):
    document = build(make(acts("x", state="withheld"), support="unknown").facts())
    document["candidates"][0]["diagnostics"]["mean_weight"] = 1.606
    (told,) = findings.withheld(document)
    assert "the mean weight must be at most 1 and is 1.606." in told


def test_warnings_say_how_many_break_which_rule_and_what_to_do(wrong):
    (told,) = findings.warnings(wrong)
    rule, _, remedy = told.partition("chance. ")
    assert rule == "212 decisions break: The logging policy gave several actions a "
    assert remedy == "Let it explore."


def test_a_sampled_log_is_told_to_count_by_its_probabilities(nights):
    facts = nights["sample"]
    told = "kept in the log with a probability of at least 0.1"
    assert told not in html(build(facts))
    sampled = dataclasses.replace(facts, least_sample_probability=0.1)
    assert told in html(build(sampled))


def test_a_night_that_moved_little_is_shown_with_more_digits_or_as_the_same(nights):
    facts = nights["wrong"]
    both = facts.revisions.filter(pl.col("night").dt.day() == 28).head(1)
    after = {f"{name}_after": pl.col(f"{name}_before") for name in NUMBERS}
    for moved, told in ((0.0004, "+10.04"), (0.0000004, "the same")):
        frame = both.with_columns(**after).with_columns(
            estimate_after=pl.col("estimate_before") + moved
        )
        document = build(dataclasses.replace(facts, revisions=frame))
        ((_, _, cells),) = quality.revisions(document).rows
        assert cells[1].number == told
