"""What a report says of the rule by which the retired service exchanged policies."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json

import polars as pl
import pytest

from flows.reports import build, exchanged, html, markdown, to_json

ONLINE = (0.30, 0.25, 0.35)
HIGHER = (0.34, 0.26, 0.42)
WIDER = (0.34, 0.20, 0.48)


def by_the_rule(facts, ran=ONLINE, **alone):
    """The facts of a log of the service: value and ends of each candidate by itself."""
    names = ("value", "lower", "upper")
    rows = [
        {
            "candidate": name,
            **dict(zip(names, ends, strict=True)),
            **{f"online_{n}": end for n, end in zip(names, ran, strict=True)},
            "would_switch": ends[0] > ran[0] and ends[1] > ran[1],
        }
        for name, ends in {"logging": ran, **alone}.items()
    ]
    return dataclasses.replace(facts, switch_rule=pl.DataFrame(rows))


def rows(document):
    return {
        head: (note, *(cell.number for cell in cells))
        for head, note, cells in exchanged.table(document).rows
    }


def test_other_logs_are_told_nothing_of_the_service(sample):
    document = build(sample.facts())
    assert document["switch_rule"] is None
    assert exchanged.table(document) is None
    assert exchanged.TITLE not in html(document)
    assert exchanged.TITLE not in markdown(document)


def test_rule_and_test_stand_beside_each_other(make, acts):
    facts = make(
        acts("better", improvement=0.05, spread=0.6),
        acts("lucky", spread=0.6),
        acts("wide", spread=0.6),
        acts("baseline", "first", -0.1, 0.6),
        acts("online", "logging", spread=0.0),
        logged=0.3,
    ).facts()
    document = build(
        by_the_rule(
            facts,
            better=HIGHER,
            lucky=HIGHER,
            wide=WIDER,
            baseline=(0.2, 0.15, 0.25),
            online=ONLINE,
        )
    )
    assert json.loads(to_json(document)) == document
    found = rows(document)
    assert found["logging policy"] == (
        "the online policy; 150 % of the baseline",
        "",
        "30",
        "",
    )
    assert found["better"] == ("170 % of the baseline", "switch", "34", "earns more")
    assert found["lucky"][1:] == ("switch", "34", "undecided")
    assert found["wide"][1:] == ("keep", "34", "undecided")
    assert found["baseline"] == ("the baseline", "keep", "20", "earns less")
    assert found["online"][0].startswith("acts as the online policy does")
    assert found["online"][1:] == ("keep", "30", "the same")
    assert exchanged.verdict(document) == (
        "By its rule the service would have switched to better or lucky. The log does "
        "not show that lucky earns more."
    )
    page, text = html(document), markdown(document)
    assert "That is no test" in page
    assert "are approximate" in page
    assert "| better: 170 % of the baseline | switch | 34 (26 to 42) | earns" in text


@pytest.mark.parametrize(
    ("improvement", "alone", "verdict"),
    [
        (
            0.0,
            WIDER,
            "have kept its online policy. The test supports no switch either.",
        ),
        (0.05, WIDER, "kept its online policy. The test supports a switch to new."),
        (0.05, HIGHER, "would have switched to new. The test supports that."),
        (0.0, HIGHER, "switched to new. The log does not show that new earns more."),
    ],
)
def test_the_verdict_says_whether_rule_and_test_agree(
    make, acts, improvement, alone, verdict
):
    facts = make(acts("new", improvement=improvement, spread=0.6), logged=0.3).facts()
    assert exchanged.verdict(build(by_the_rule(facts, new=alone))).endswith(verdict)


def test_what_is_withheld_or_unknown_is_said(make, acts):
    facts = make(
        acts("withheld", state="withheld"),
        acts("silent", state="all_rewards_missing"),
        acts("scarce"),
    ).facts()
    document = build(by_the_rule(facts, withheld=HIGHER, silent=HIGHER))
    assert {name: cells[1] for name, cells in rows(document).items()} == {
        "logging policy": "",
        "withheld": "withheld",
        "silent": "no rewards yet",
        "scarce": "not known",
    }
    assert [n["would_switch"] for n in document["switch_rule"]["candidates"]] == [
        None,
        None,
        None,
    ]
    assert exchanged.verdict(document).startswith("Nothing is known yet")


def test_missing_decisions_and_short_logs_are_said(make, acts):
    some = make(acts("new", missing=0.01, unsupported=0.02), count=1).facts()
    told = " ".join(exchanged.notes(build(by_the_rule(some, new=HIGHER))))
    assert "14 decisions without a reward count as 0, which was the service's" in told
    assert "below the floor count as never taken" in told
    assert "too few" not in told
    few = make(acts("new"), count=1, decisions=100).facts()
    told = " ".join(exchanged.notes(build(by_the_rule(few, new=HIGHER))))
    assert "100 decisions at a floor of 0.029 are too few for them" in told
    assert "count as 0" not in told


def test_a_baseline_that_earns_nothing_has_no_percentages(make, acts):
    facts = make(acts("new"), acts("base", "column:baseline")).facts()
    document = build(by_the_rule(facts, new=HIGHER, base=(0.0, -0.1, 0.1)))
    assert document["switch_rule"]["baseline"] == "base"
    assert {n["of_baseline"] for n in document["switch_rule"]["candidates"]} == {None}
    assert "% of the baseline" not in html(document)


def test_a_candidate_that_began_later_is_compared_over_the_same_decisions(make, acts):
    late = dt.date(2019, 11, 29)
    facts = make(acts("new"), fixed_at={"new": late}).facts()
    told = by_the_rule(facts, new=HIGHER)
    frame = told.switch_rule.with_columns(
        online_value=pl.when(pl.col("candidate") == "new")
        .then(0.4)
        .otherwise(pl.col("online_value"))
    )
    document = build(dataclasses.replace(told, switch_rule=frame))
    note = rows(document)["new"][0]
    assert note.startswith("since 29 November 2019; online 40, 25 to 35")
