from __future__ import annotations

import pytest

from flows.offpolicy.methods import Design
from flows.reports import build, compared, html, markdown, tables


@pytest.fixture(scope="module")
def document(nights):
    return build(nights["looks"])


def test_candidates_and_the_logging_policy_are_placed_together(document):
    places = {
        rank["candidate"]: (rank["best_place"], rank["worst_place"], rank["worse_than"])
        for rank in document["ranking"]
    }
    assert places == {
        "thompson": (1, 3, []),
        "ranker_v2": (2, 5, ["thompson"]),
        "ranker_v4": (1, 5, []),
        "logging": (2, 5, ["thompson"]),
        "always_first": (5, 6, ["logging", "ranker_v2", "ranker_v4", "thompson"]),
        "ranker_v3": (1, 6, []),
    }


def test_candidates_are_told_with_places_where_one_is_certain(document, sample):
    table = tables.candidates(document)
    assert [note.rpartition("; ")[2] for _, note, _ in table.rows] == [
        f"place {places} of 6"
        for places in ("2 to 5", "1 to 3", "2 to 5", "1 to 5", "5 to 6", "1 to 6")
    ]
    assert "| Place, of 6 |" in markdown(document)
    undecided = build(sample.facts())
    notes = [note for _, note, _ in tables.candidates(undecided).rows]
    assert not any("place" in note for note in notes)
    assert "Place" not in markdown(undecided)


def test_who_is_certainly_worse_is_said(document, sample, make, acts):
    *told, last = compared.certainties(document)
    assert told == [
        "ranker_v2 is certainly worse than thompson.",
        "The logging policy is certainly worse than thompson.",
    ]
    assert last == (
        "always_first is certainly worse than ranker_v2, ranker_v4, thompson and the "
        "logging policy."
    )
    assert "always\\_first is certainly worse than" in markdown(document)
    assert compared.certainties(build(sample.facts())) == [
        "No candidate is certainly worse than another, or than the logging policy."
    ]
    assert compared.certainties(build(make(acts("x")).facts())) == []


def test_many_certainties_are_counted(nights):
    document = build(nights["many"])
    (told,) = compared.certainties(document)
    assert told.endswith(" of 51 are certainly worse than another.")


def test_intervals_that_share_no_error_rank_nobody(make, acts):
    rivals = acts("x", improvement=0.3), acts("y", improvement=-0.3)
    document = build(make(*rivals, design=Design("compat", 0.95)).facts())
    assert document["ranking"] is None
    assert compared.places(document) == {}
    assert compared.certainties(document)[0].startswith("No candidate is ranked")
    assert "too." not in document["answer"]["sentence"]


def test_declared_differences_stand_in_every_form(document):
    assert [(n["candidate"], n["other"]) for n in document["differences"]] == [
        ("thompson", "ranker_v2"),
        ("thompson", "ranker_v3"),
    ]
    first, second = document["differences"]
    assert first["difference"]["look"] == "every look"
    assert second["difference"]["look"] == "exploratory"
    assert list(first["windows"]) == ["night", "last_7", "last_28", "since_start"]
    assert first["nights"][-1]["difference"] == first["difference"]
    assert [each["segment"] for each in first["segments"]] == ["1", "2", "3"]
    page = html(document)
    assert "Differences of candidates, reward per 100 decisions" in page
    assert page.count("thompson over ranker_v2") > 3
    assert "## Candidate against candidate" in markdown(document)
    assert "| thompson over ranker\\_v2, n = 25,722 | +0." in markdown(document)


def test_pairs_do_not_mix_with_candidates(document):
    assert [each["candidate"] for each in document["candidates"]] == [
        "thompson",
        "ranker_v2",
        "always_first",
        "ranker_v3",
        "ranker_v4",
    ]
    assert "difference" not in document["candidates"][0]


def test_without_declared_pairs_nothing_is_said_of_any(sample):
    document = build(sample.facts())
    assert document["differences"] == []
    assert "Candidate against candidate" not in html(document) + markdown(document)


def test_a_pair_without_an_interval_is_no_picture(make, acts):
    withheld = acts("x", state="withheld"), acts("y", state="withheld")
    document = build(make(*withheld, pairs=(("x", "y"),)).facts())
    page = html(document)
    assert "Candidate against candidate" in page
    assert "pairs-wide" not in page
    assert "withheld" in [
        c.number for _, _, n in tables.differences(document).rows for c in n
    ]
