from __future__ import annotations

import pytest

from flows.reports import build, html, limits, markdown, tables, words
from flows.reports.numbers import Unit, unit_of

EACH = Unit(1, "per decision", 40.0)


def entry(low, high, middle=None):
    return {
        "estimate": middle,
        "lower": low,
        "upper": high,
        "identified_lower": low,
        "identified_upper": high,
    }


@pytest.mark.parametrize(
    ("low", "high", "mark"),
    [
        (None, None, ""),
        (3.0, 3.0, ""),
        (3.0, 3.0 + 1e-8, ""),
        (3.0, 3.0 + 1e-7, limits.MIDDLE),
        (-10.0, 29.9, limits.MIDDLE),
        (-10.0, 30.0, limits.UNKNOWN),
        (-13.0, 50.0, limits.UNKNOWN),
    ],
)
def test_an_estimate_is_marked_by_how_much_is_open_of_the_reward_range(low, high, mark):
    assert limits.mark(entry(low, high), EACH) == mark


def test_the_span_of_rewards_is_part_of_the_unit():
    assert unit_of((-10.0, 30.0)) == EACH


def test_the_logging_policy_earned_a_range_while_rewards_are_missing():
    told = limits.earned(entry(16.0, 32.0, 24.0), 620, 6000, EACH)
    assert told == (
        "between 16 and 32 reward per decision (620 of 6,000 rewards missing; 24 is "
        "the middle of what they leave possible)"
    )


@pytest.fixture(scope="module")
def document(nights):
    return build(nights["gaps"])


def test_every_form_says_what_missing_rewards_leave_possible(document):
    said = (
        "earned between 19 and 29 reward per 100 decisions (1,429 of 14,290 rewards "
        "missing; 24 is the middle of what they leave possible)"
    )
    assert said in words.logged(document)
    for text in (html(document), markdown(document)):
        assert said in text.replace("\N{NO-BREAK SPACE}", " ").replace("\\", "")
    assert "1,429 of 14,290 rewards are missing" in document["answer"]["sentence"]


def test_a_middle_carries_a_mark_that_the_table_explains(document):
    found = tables.candidates(document)
    assert [[cell.mark for cell in cells] for _, _, cells in found.rows] == [
        ["", "*"],
        ["*", "*"],
        [limits.UNKNOWN, limits.UNKNOWN],
    ]
    assert [mark for mark, _ in found.footnotes] == ["*", limits.UNKNOWN]
    assert limits.FOOTNOTES["*"] in html(document)
    text = markdown(document)
    assert f"\n\n\\* {limits.FOOTNOTES['*']}\n" in text
    assert f"\n\n{limits.UNKNOWN} {limits.FOOTNOTES[limits.UNKNOWN]}\n" in text


def test_a_number_that_nothing_supports_is_not_shown(document):
    never = tables.candidates(document).rows[-1]
    assert never[0] == "never_logged"
    assert [cell.number for cell in never[2]] == [limits.NONE] * 2


def test_measured_numbers_carry_no_mark(sample):
    document = build(sample.facts())
    assert tables.candidates(document).footnotes == []
    assert "<tfoot>" not in html(document)
    assert words.logged(document).startswith("earned 0.")


def test_without_rewards_nothing_was_earned_that_is_known(nights):
    document = build(nights["no_rewards"])
    document["logging_policy"]["value"] |= {"lower": None, "upper": None} | {
        "state": "all_rewards_missing"
    }
    assert words.logged(document).startswith("no rewards yet, rewards being 0 to 1")
