from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from html.parser import HTMLParser

import polars as pl
import pytest

from flows.reports import build, html, markdown, to_json
from flows.reports.course import course
from flows.reports.drawing import Bar
from flows.reports.figures import comparison
from flows.reports.inline import accessible
from flows.reports.scales import domain, ticks
from flows.reports.tables import thinned

KINDS = ["sample", "supported", "wrong", "gaps", "withheld", "no_rewards", "worse"]
EVIL = "<img src=x onerror=alert(1)>&\"'"
VOID = {"meta", "br", "img", "link", "hr", "input", "path", "line", "rect"}


class Outline(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.headings, self.ids = [], [], [], []
        self.unbalanced = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)


@pytest.fixture(scope="module")
def pages(nights):
    return {kind: html(build(nights[kind])) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_page_needs_nothing_from_outside(pages, kind):
    page = pages[kind]
    assert "://" not in page
    assert "@import" not in page
    assert "url(" not in page
    for tag, attributes in Outline(page).tags:
        assert tag not in {"script", "link", "iframe", "img", "object", "base"}
        assert not {"src", "srcset", "href", "xlink:href"} & set(attributes)


@pytest.mark.parametrize("kind", KINDS)
def test_page_is_well_formed_and_named(pages, kind):
    outline = Outline(pages[kind])
    names = [tag for tag, _ in outline.tags]
    assert outline.unbalanced == []
    assert outline.open == []
    assert ("html", {"lang": "en"}) in outline.tags
    assert [names.count(tag) for tag in ("header", "main", "footer", "h1")] == [1] * 4
    assert len(outline.ids) == len(set(outline.ids))
    steps = zip(outline.headings, outline.headings[1:], strict=False)
    assert all(after - before <= 1 for before, after in steps)
    assert names.count("table") == names.count("caption")
    assert all("scope" in attributes for tag, attributes in outline.tags if tag == "th")
    for tag, attributes in outline.tags:
        for reference in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(reference, outline.ids[0]) in outline.ids
        if tag == "svg":
            assert attributes["role"] == "img"


@pytest.mark.parametrize("kind", KINDS)
def test_sections_answer_in_order(pages, kind):
    found = re.findall(r'<h[12](?: id="(\w+)")?', pages[kind])
    assert found == ["", "sure", "since", "whom", "wrong", "assumed", "reading"]


def test_names_of_users_are_text(make, acts):
    candidate = acts(EVIL, EVIL, unknown=({"action": EVIL, "nearest": EVIL},))
    page = html(build(make(candidate, segments=((EVIL, (EVIL, "b")),)).facts(job=EVIL)))
    assert "<img" not in page
    assert Outline(page).unbalanced == []


def test_text_that_looks_like_markup_stays_in_pictures():
    bar = Bar(-1.0, 1.0, 0.0, 'a role="x" <b> 0.123456', "n")
    svg = accessible(comparison([bar], about=0, narrow=True), "n", "<t>", "d & d")
    assert 'a role="x" &lt;b&gt;' in svg
    assert '<title id="n-t">&lt;t&gt;</title>' in svg


def test_same_facts_give_the_same_bytes(nights, tmp_path):
    code = (
        "import runpy, sys\n"
        "from flows.reports import build, html, markdown, to_json\n"
        "facts = runpy.run_path(sys.argv[1])['gallery']()['wrong']\n"
        "document = build(facts)\n"
        "text = to_json(document) + markdown(document) + html(document)\n"
        "open(sys.argv[2], 'w', encoding='utf-8').write(text)\n"
    )
    gallery = __file__.replace("test_page.py", "gallery.py")
    other = tmp_path / "text"
    subprocess.run([sys.executable, "-c", code, gallery, other], check=True)
    document = build(nights["wrong"])
    again = to_json(document) + markdown(document) + html(document)
    assert other.read_text(encoding="utf-8") == again


def test_many_candidates_segments_and_nights_stay_below_one_megabyte(nights):
    page = html(build(nights["many"]))
    assert len(page.encode()) < 1_000_000
    assert page.count('id="course-') == 2 * 12
    assert Outline(page).unbalanced == []


def test_at_most_60_nights_are_shown_the_last_and_the_supported_among_them(nights):
    for candidate in build(nights["many"])["candidates"]:
        kept = [entry["night"] for entry in thinned(candidate)]
        assert len(kept) <= 60
        assert kept == sorted(set(kept))
        assert kept[-1] == "2019-11-30"
        assert candidate["supported_since"] in {None, *kept}


def test_a_picture_reaches_no_further_than_its_subject_needs():
    assert domain([(-1.0, 1.0), (-90.0, 2.0)], 0) == pytest.approx((-5.28, 2.28))
    assert domain([(0.0, 0.0)], 0)[1] > 0
    assert ticks(-1.9, 3.3, 4) == [-1.0, 0.0, 1.0, 2.0, 3.0]


def test_marks_say_by_form_and_colour_where_an_interval_lies():
    bars = [Bar(1, 2, 1.5, "a"), Bar(-1, 1, 0, "b"), Bar(-2, -1, -1.5, "c")]
    svg = comparison(bars, about=0, narrow=False)
    fills = re.findall(r'<path[^>]* fill="(#\w+)" stroke="(#\w+)"', svg)
    assert fills == [
        ("#0b62c4", "#0b62c4"),
        ("#1c2024", "#1c2024"),
        ("#fffffe", "#1c2024"),
    ]


def test_one_night_is_a_course_too():
    assert "30 Nov 2019" in course([("2019-11-30", Bar(-1, 1, 0, "2019-11-30"))], [])


def test_importing_the_room_loads_no_drawing_library():
    code = "import sys, flows.reports; print({'altair', 'jinja2'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "set()"


def test_doubly_robust_answers_are_a_folded_table_and_say_what_they_are(sample):
    facts = sample.facts()
    rows = facts.estimates.filter(
        (pl.col("night") == facts.night) & (pl.col("window") == "since_start"),
        (pl.col("segment_by") == "") & (pl.col("candidate") != "logging"),
    )
    document = build(dataclasses.replace(facts, doubly_robust=rows))
    page, text = html(document), markdown(document)
    assert "<details><summary>Doubly robust</summary>" in page
    assert "## Doubly robust, beside" in text
    for told in (page, text):
        assert "Nothing decides on it" in told
    assert "Doubly robust" not in html(build(facts))
