"""Every interval says how it was made and under which looks it holds."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import get_args

import pytest

from flows.offpolicy.methods import Design, Logging, Method
from flows.reports import build, html, looks, markdown, pictures, tables, words

TIE = "\N{NO-BREAK SPACE}"


def estimates(value):
    """Every estimate in a document, wherever it stands."""
    if isinstance(value, dict):
        if "lower" in value and "state" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from estimates(each)


@pytest.fixture(scope="module")
def document(nights):
    return build(nights["looks"])


def named(document, name):
    return next(n for n in document["candidates"] if n["candidate"] == name)


@pytest.mark.parametrize("kind", ["sample", "looks", "moving", "withheld"])
def test_every_estimate_names_method_looks_and_what_it_assumes(nights, kind):
    found = list(estimates(build(nights[kind])))
    assert len(found) > 10
    for entry in found:
        assert entry["method"] in get_args(Method)
        assert entry["look"] in {"every look", "single look", "exploratory"}
        assert entry["assumes"] in {"constant_mean", "running_average"}


@pytest.mark.parametrize("method", get_args(Method))
@pytest.mark.parametrize("logging", get_args(Logging))
@pytest.mark.parametrize("is_drifting", [False, True])
def test_every_design_has_its_method_in_words(method, logging, is_drifting):
    design = Design(method, 0.95, logging=logging, is_drifting=is_drifting)
    told = looks.METHODS[design.used, design.assumes]
    assert "every look" in told or "single look" in told
    assert looks.ASSUMED[design.assumes]


@pytest.mark.parametrize("kind", ["sample", "looks", "moving"])
def test_every_caption_of_estimates_names_method_and_assumption(nights, kind):
    document = build(nights[kind])
    one = document["candidates"][0]
    made = [tables.candidates(document)]
    made += [f(document, one) for f in (tables.windows, tables.nights, tables.segments)]
    made += [tables.differences(document)] * bool(document["differences"])
    for table in made:
        assert f"method {one['value']['method']}" in table.caption
        assert looks.ASSUMED[one["value"]["assumes"]] in table.caption


def test_rows_of_windows_name_looks_that_differ(document):
    rows = tables.windows(document, named(document, "ranker_v4")).rows
    told = [note.rpartition(", ")[2] for _, note, _ in rows]
    assert told == ["single look", "single look", "exploratory", "every look"]


def test_page_and_markdown_explain_the_method_that_was_used(nights):
    for kind, told in (
        ("looks", "a mean that they refute stays refuted"),
        ("moving", "Averages move"),
        ("sample", "nothing about the rewards but their range"),
    ):
        document = build(nights[kind])
        assert told in html(document).replace(TIE, " ")
        assert told in markdown(document)


def test_the_next_checkpoint_is_told_for_all_that_share_a_start(document):
    first, second = looks.checkpoints(document)
    assert first == (
        "The horizon of thompson, ranker_v2 and always_first is 28 nights, counted "
        "from 13 November 2019; the next checkpoint is 3 December 2019."
    )
    assert second.startswith("The horizon of ranker_v4 is 28 nights, counted from 22 ")
    assert "the next checkpoint is 3 December 2019" in html(document)
    assert "the next checkpoint is 3 December 2019" in markdown(document)


def test_checkpoints_are_dates_from_the_candidate_s_own_start(document):
    assert named(document, "thompson")["looks"] == {
        "start": "2019-11-13",
        "checkpoints": ["2019-11-19", "2019-11-26", "2019-12-03", "2019-12-10"],
        "next_checkpoint": "2019-12-03",
    }
    assert named(document, "ranker_v4")["looks"]["start"] == "2019-11-22"


@pytest.mark.parametrize(("count", "last"), [(7, 28), (5, 30)])
def test_after_the_last_checkpoint_the_interval_no_longer_changes(
    make, acts, count, last
):
    design = Design("anytime", 0.95, horizon_nights=5)
    night = make(acts("x"), count=count, design=design, checkpoints=(2, 3, 4, 5))
    told, advice = looks.checkpoints(build(night.facts()))
    assert told.startswith(f"Since {last} November 2019, the last checkpoint, the ")
    assert "no longer changes" in told
    assert advice == "A new horizon in the job file starts new looks."


def test_an_open_horizon_is_told_to_be_open(make, acts):
    night = make(
        acts("x"), design=Design("anytime", 0.95), checkpoints=(1, 2, 4, 7, 14)
    )
    (told,) = looks.checkpoints(build(night.facts()))
    assert told.startswith("The horizon is open, counted from 24 November 2019; ")
    assert told.endswith("the next checkpoint is 7 December 2019.")


def test_methods_without_checkpoints_tell_of_none(sample):
    document = build(sample.facts())
    assert looks.checkpoints(document) == []
    assert "checkpoint" not in words.basis(document)


def test_what_moves_by_declaration_makes_the_answer_an_average(nights, sample):
    document = build(nights["moving"])
    told = (
        "the average over each window, whatever moved: the logging policy learns from "
        "night to night and the mean reward may drift, by declaration"
    )
    assert looks.target(document) == told
    assert told in html(document)
    assert told in markdown(document)
    assert document["evaluation"]["declared_method"] == "anytime"
    assert document["evaluation"]["method"] == "mixture"
    assert looks.holds(document) == "valid at every look for the running average"
    assert looks.target(build(sample.facts())) == ""


def test_a_start_after_the_log_s_is_told(document):
    assert looks.new_starts(document) == [
        "What counts as the start is 22 November 2019 for ranker_v4."
    ]
    rows = {head: note for head, note, _ in tables.candidates(document).rows}
    assert "12,861 decisions, since 22 November 2019; place" in rows["ranker_v4"]


def test_what_is_exploratory_feeds_neither_headline_nor_supported_since(document):
    late = named(document, "ranker_v3")
    assert late["improvement"]["lower"] > named(document, "thompson")["value"]["upper"]
    assert late["fixed_at"] == "2019-12-03"
    assert late["supported_since"] is None
    assert document["answer"]["candidate"] == "thompson"
    assert "Left out as exploratory: ranker_v3." in document["answer"]["sentence"]
    rank = next(r for r in document["ranking"] if r["candidate"] == "ranker_v3")
    assert (rank["best_place"], rank["worst_place"]) == (1, 6)


def test_a_run_of_supported_nights_starts_after_exploratory_ones(make, acts):
    fixed = dt.date(2019, 11, 28)
    night = make(acts("x", improvement=0.3, spread=0.5), fixed_at={"x": fixed})
    (found,) = build(night.facts())["candidates"]
    assert found["nights"][0]["improvement"]["lower"] > 0
    assert found["nights"][0]["improvement"]["look"] == "exploratory"
    assert found["supported_since"] == "2019-11-28"


def test_what_is_exploratory_is_marked_in_every_form(document):
    page = html(document)
    unit = words.unit(document)
    assert "column:ranker_v3, exploratory" in page
    assert "Exploratory until 3 December 2019" in page
    assert "Exploratory until 3 December 2019" in markdown(document)
    assert "Dashed is exploratory" in pictures.legend(document["candidates"], unit)
    for svg in pictures.against_logging(document, document["candidates"], unit):
        assert svg.count("stroke-dasharray") == 1
        assert "ranker_v3: +1.78 to +2.23, exploratory" in svg
    assert words.ranked(document["candidates"])[-1]["candidate"] == "ranker_v3"


def test_a_night_of_exploratory_candidates_alone_has_no_answer(make, acts):
    fixed = {"x": dt.date(2019, 12, 2), "y": dt.date(2019, 12, 9)}
    night = make(acts("x", improvement=0.3), acts("y"), fixed_at=fixed)
    document = build(night.facts())
    assert document["answer"]["state"] == "exploratory"
    assert document["answer"]["candidate"] is None
    page = html(document)
    assert '<p class="badge">Exploratory</p>' in page
    assert "exploratory, constant mean" in page
    assert looks.holds(document) == "exploratory"


def test_the_start_of_new_looks_splits_no_number(make, acts):
    """A horizon declared anew starts the numbers of all candidates again."""
    facts = make(acts("x")).facts()
    first = dt.date(2019, 11, 28)
    moved = facts.estimates.with_columns(
        window_start=facts.estimates["window_start"].clip(first)
    )
    document = build(dataclasses.replace(facts, estimates=moved))
    assert document["logging_policy"]["start"] == "2019-11-28"
    assert "since the start, 28 to 30 November 2019" in words.basis(document)
