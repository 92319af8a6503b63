from __future__ import annotations

import pytest

from flows.reports import build, findings, html, markdown, quality, tables, words


def dated(*days, night="2020-03-31"):
    return {"night": night, "days": [{"day": day, "decisions": 1} for day in days]}


@pytest.mark.parametrize(
    ("days", "told"),
    [
        ([], ""),
        (["2020-03-01"], ""),
        (["2020-03-01", "2020-03-02"], ""),
        (["2020-03-01", "2020-03-03"], "No decision on 2 March 2020."),
        (["2020-02-28", "2020-03-02"], "No decision on 29 February to 1 March 2020."),
        (["2020-03-05", "2020-03-01"], "No decision on 2 to 4 March 2020."),
        (["2020-03-30", "2020-04-02"], ""),
        (
            [f"2020-03-{day:02}" for day in (1, 3, 5, 7, 9)],
            "No decision on 2 March 2020, 4 March 2020, 6 March 2020 and 8 March 2020.",
        ),
        (
            [f"2020-03-{day:02}" for day in (1, 3, 5, 7, 10, 13)],
            "No decision on 2 March 2020, 4 March 2020, 6 March 2020 and 4 more days.",
        ),
    ],
)
def test_dates_without_decisions_are_named(days, told):
    assert findings.gaps(dated(*days)) == told


def test_page_and_markdown_name_absent_days(nights):
    document = build(nights["gaps"])
    told = "No decision on 23 November 2019 and 25 to 26 November 2019."
    assert told in html(document)
    assert f"- {told}" in markdown(document)


def test_a_window_shows_the_dates_that_hold_decisions(sample, nights):
    document = build(sample.facts())
    rows = tables.windows(document, document["candidates"][0]).rows
    assert [row[1].rpartition(", n =")[0] for row in rows] == [
        "30 November 2019",
        "24 to 30 November 2019",
        "24 to 30 November 2019; 7 nights of data",
        "24 to 30 November 2019",
    ]
    gaps = build(nights["gaps"])
    last_7 = tables.windows(gaps, gaps["candidates"][0]).rows[1]
    assert last_7[1].startswith("24 to 30 November 2019; 5 nights of data, n =")


def test_a_window_longer_than_the_log_says_how_many_nights_it_has(sample):
    document = build(sample.facts())
    row = tables.windows(document, document["candidates"][0]).rows[2]
    assert row[:2] == (
        "Last 28 nights",
        "24 to 30 November 2019; 7 nights of data, n = 10,003, single look",
    )


def test_only_kinds_of_missing_decisions_that_exist_are_shown(nights, make, acts):
    document = build(make(acts("x", missing=0.1)).facts())
    assert quality.missing(document).columns == ("Candidate", "Reward missing")
    document = build(nights["wrong"])
    document["candidates"][0]["missing"]["both"] = 1
    assert quality.missing(document).columns[1:] == (
        "Reward missing",
        "Support missing",
        "Both missing",
    )
    assert "200 lack a reward, 1 lacks both" in markdown(document)


def test_withheld_candidates_are_told_with_what_to_do(nights):
    document = build(nights["withheld"])
    found = document["candidates"][0]["diagnostics"]
    found |= {"mean_weight": 1.606, "expected_mean_weight": 1.0}
    (told,) = findings.withheld(document)
    assert told == (
        "The intervals of thompson are withheld. The logged probabilities cannot be "
        "those the actions were drawn with: the mean weight must be 1 and is 1.606. "
        "Check how logging_probabilities are logged and joined."
    )
    found |= {"mean_weight": 0.5, "expected_mean_weight": 0.97}
    assert (
        "the mean weight must be 0.9700 and is 0.5000."
        in findings.withheld(document)[0]
    )
    found |= {"mean_weight": 1.0}
    found |= {"expected_mean_weight": 1.0}
    assert "drawn with. Check how" in findings.withheld(document)[0]


@pytest.mark.parametrize(
    ("by", "segment", "told"),
    [
        ("city", "Berlin, Mitte", "Berlin, Mitte"),
        ("city", "a\\b", "a\\b"),
        ("city", "(null)", "(null)"),
        (
            "city",
            "\\(null)",
            "\N{LEFT DOUBLE QUOTATION MARK}(null)\N{RIGHT DOUBLE QUOTATION MARK}",
        ),
        ("city, device", "Berlin, mobile", "Berlin, mobile"),
        ("city, device", "a\\\\b, mobile", "a\\b, mobile"),
        ("city, device", ", ", ", "),
        (
            "city, device",
            "Berlin\\, Mitte, (null)",
            words.QUOTED.format("Berlin, Mitte") + ", (null)",
        ),
    ],
)
def test_values_of_segments_are_shown_as_they_were_logged(by, segment, told):
    assert words.segment({"by": by, "segment": segment}) == told


def test_no_form_shows_the_backslash_of_a_joint_value(nights):
    document = build(nights["gaps"])
    told = words.QUOTED.format("Berlin, Mitte") + ", mobile"
    assert f"city, device: {told}" in markdown(document)
    page = html(document)
    assert told in page
    assert "Berlin\\" not in page


def test_one_thing_left_out_is_not_several(make, acts):
    facts = make(acts("x"), count=61, segments=(("shop", list(map(str, range(17)))),))
    page = html(build(facts.facts()))
    assert "1 segment with fewer decisions is not drawn." in page
    assert "(1 rows)" not in page
    few = build(make(acts("x"), segments=()).facts())
    few["candidates"][0]["segments"] = [
        {"by": "shop", "segment": str(i), "decisions": 1}
        | {name: few["candidates"][0][name] for name in ("value", "improvement")}
        for i in range(101)
    ]
    caption = tables.segments(few, few["candidates"][0]).caption
    assert caption.endswith(" 1 of 101 segments, the smallest, is left out.")


def test_a_candidate_that_acts_as_the_logging_policy_needs_no_settling(nights):
    document = build(nights["gaps"])
    candidate = document["candidates"][0]
    unit = words.unit(document)
    assert findings.unsettled(candidate, unit).endswith(
        "10 % of its decisions are missing, and by what is known so far they leave "
        "open between 5 less and 5 more reward per 100 decisions, however long the log."
    )
    candidate["diagnostics"] |= {"mean_weight": 1.0, "largest_weight": 1.0}
    assert findings.unsettled(candidate, unit) == ""
