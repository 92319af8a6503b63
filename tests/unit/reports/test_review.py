from __future__ import annotations

import base64
import hashlib
import json
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from flows.reports import page, review

VOID = {"meta", "input", "br"}
FILE = str(Path(__file__).with_name("review_documents.py"))
DOCUMENTS = runpy.run_path(FILE)
EVIL, ARABIC, ENDLESS = (DOCUMENTS[each] for each in ("EVIL", "ARABIC", "ENDLESS"))
PIN, LOST, USUAL = (DOCUMENTS[each] for each in ("PIN", "LOST", "USUAL"))
document, suggestion, text = (
    DOCUMENTS[each] for each in ("document", "suggestion", "text")
)
gallery = DOCUMENTS["gallery"]


class Outline(HTMLParser):
    """Collects what a page is made of, and its texts by tag."""

    def __init__(self, told):
        super().__init__()
        self.tags, self.open, self.unbalanced, self.texts = [], [], [], []
        self.feed(told)
        self.ids = [found["id"] for _, found in self.tags if "id" in found]

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data))

    def within(self, tag):
        return [text for open_tag, text in self.texts if open_tag == tag]


@pytest.fixture(scope="module")
def pages():
    return {kind: review.html(each) for kind, each in gallery().items()}


def embedded(told):
    """The JSON that the page carries for its script."""
    found = re.search(r'<script type="application/json" id="page">(.*?)</script>', told)
    return json.loads(found[1])


@pytest.mark.parametrize("kind", [*gallery()])
def test_page_is_well_formed_and_named(pages, kind):
    outline = Outline(pages[kind])
    names = [tag for tag, _ in outline.tags]
    assert outline.unbalanced == outline.open == []
    assert ("html", {"lang": "en"}) in outline.tags
    assert [names.count(tag) for tag in ("header", "main", "footer", "h1")] == [1] * 4
    assert len(outline.ids) == len(set(outline.ids))
    assert names.count("table") == names.count("caption")
    for _, attributes in outline.tags:
        assert attributes.get("aria-labelledby", "besides") in outline.ids
        assert attributes.get("href", "#besides")[1:] in outline.ids
        assert not [name for name in attributes if name.startswith("on")]
        assert not {"src", "srcset", "style", "action"} & set(attributes)


@pytest.mark.parametrize("kind", [*gallery()])
def test_policy_admits_this_style_and_this_script_and_no_network(pages, kind):
    told = pages[kind]
    policy = re.search(r'Security-Policy" content="([^"]+)"', told)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert set(rules) <= {
        "default-src",
        "base-uri",
        "form-action",
        "style-src",
        "script-src",
        "require-trusted-types-for",
    }
    for name, tag in (("style-src", "style"), ("script-src", 'script type="module"')):
        for body in re.findall(f"<{tag}>(.*?)</{tag.split()[0]}>", told, re.DOTALL):
            digest = hashlib.sha256(body.encode()).digest()
            assert rules[name] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert "unsafe" not in policy
    assert "://" not in told
    assert "url(" not in told


def test_it_wears_the_colours_and_the_type_of_the_report():
    def kept(file):
        text = Path(file.TEMPLATE).read_text(encoding="utf-8")
        return re.findall(
            r"^(?:.*:root|body\{|h1\{|h2\{|\.badge\{).*", text, re.MULTILINE
        )

    assert kept(review)[:6] == kept(page)[:6]


def test_header_says_which_base_as_of_when_and_how_much_waits(pages):
    told = pages["usual"]
    assert '<p class="job">bank help, as of 30 November 2019, 02:00 UTC</p>' in told
    assert '<p class="badge">5 suggestions wait, in 4 pairs</p>' in told
    assert "Users asked 15 questions in words that no pair holds." in told
    assert "<dd>1,840 queries; 5 similar ones make a first suggestion</dd>" in told
    assert "<dd>14 of 18 reviewed texts accepted (77.8 %)</dd>" in told


def test_one_suggestion_is_told_in_the_singular():
    told = review.html(document([suggestion("a", LOST, [text("card gone", 5)])]))
    assert "1 suggestion waits, in 1 pair<" in told
    assert "Users asked 1 question in" in told


def test_an_empty_document_says_why_and_has_nothing_to_press(pages):
    told = pages["empty"]
    assert '<p class="badge">Nothing to review</p>' in told
    why = "The largest group holds 4 of 5 similar queries. Already known: 9 queries."
    assert f'<p class="sentence">{why}</p>' in told
    assert "<li><p>All 9 are known already.</p><small>pair 12</small></li>" in told
    assert not {"button", "script", "dialog"} & {tag for tag, _ in Outline(told).tags}
    assert "No suggestion waits for a decision." in pages["nothing"]
    assert "bank help, before the first run<" in pages["nothing"]


def test_suggestions_and_texts_keep_the_order_of_the_document(pages):
    outline = Outline(pages["usual"])
    shown = [found["data-id"] for tag, found in outline.tags if tag == "article"]
    assert shown == [each["id"] for each in USUAL]
    first = pages["usual"].split("</article>")[0]
    asked = [each["question"] for each in USUAL[0]["texts"]]
    assert re.findall(r'<li><p dir="auto">(.*?)</p>', first) == asked


def test_marks_counts_and_offers_to_two_pairs_are_told(pages):
    parts = re.findall(r"<article.*?</article>", pages["usual"], re.DOTALL)
    marks = [re.findall(r"<b(?: class=\"new\")?>(.*?)</b>", part) for part in parts]
    assert marks == [
        ["New"],
        ["Grown", "Two pairs"],
        ["New", "Own assignment, margin 0.12"],
        ["New", "One user only", "Two pairs"],
        ["Shown before"],
    ]
    assert "Asked 27 times by 25 users: 22 auto, 5 user <code>a41f</code>" in parts[0]
    assert "<small>9 auto, 3 user</small>" in parts[0]
    assert "First shown 24 November 2019" in parts[1]
    assert "First shown" not in parts[0]
    other = "My card was lost or stolen"
    assert f'Also offered to <a href="#s4"><bdi>{other}</bdi></a>' in parts[1]
    assert '<a href="#s2">' in parts[3]


def test_an_offer_to_a_suggestion_that_is_not_shown_has_no_link():
    told = review.html(document([suggestion("a", PIN, [text("pin", 5, 0, ["gone"])])]))
    assert "Also offered to a pair that is not shown" in told


def test_pairs_to_choose_from_are_sorted_by_their_question(pages):
    found = re.findall(r'<option value="(-?\d+)">(.*?)</option>', pages["usual"])
    assert found == [
        ("31", "¿Cuántas visitas incluye mi cuenta? (1)"),
        ("12", "How do I change my PIN? (1)"),
        ("40", "My card was lost or stolen (1)"),
        ("7", "When will my new card arrive? (2)"),
    ]


def test_long_questions_and_answers_are_shown_short_and_stand_once_a_pair(pages):
    told = pages["usual"]
    assert "A new PIN is valid…</p>" in told
    question, answer = embedded(told)["whole"]["12"]
    assert question == PIN[1]
    assert "PIN services**.\n2. Enter" in answer
    assert "7" not in embedded(told)["whole"]
    question, answer = embedded(pages["hostile"])["whole"]["2"]
    assert question == ENDLESS
    assert re.search(r"… \([\d,]+ more characters\)$", answer)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("a\\n\\nb", "a\nb"),
        ("1. x\\n2. y", "1. x\n2. y"),
        ("open C:\\new", "open C:\\new"),
    ],
)
def test_line_breaks_that_a_file_writes_out_are_broken_for_reading(answer, shown):
    told = review.html(document([suggestion("a", (1, "q", answer), [text("t", 5)])]))
    assert f'<p class="answer" dir="auto">{shown}</p>' in told


def test_texts_of_users_are_data(pages):
    told = pages["hostile"]
    outline = Outline(told)
    tags = [tag for tag, _ in outline.tags]
    assert "img" not in tags
    assert tags.count("script") == 2
    assert "<script>" not in told
    assert "onclick" not in {name for _, found in outline.tags for name in found}
    assert EVIL in outline.within("p")
    assert embedded(told)["file"] == (
        "decisions-script-script-alert-1-script-img-src-x-onerror-alert-1.json"
    )
    assert "line&#13;\nend&#13;tab\tnull\ufffdend" in told
    assert r'data-exact="&#34;line\r\nend\rtab\tnull\u0000end&#34;"' in told
    assert "\0" not in told


def test_every_text_finds_its_own_direction(pages):
    assert f'<p dir="auto">{ARABIC}</p>' in pages["usual"]
    for tag, found in Outline(pages["usual"]).tags:
        assert tag != "h3" or found["dir"] == "auto"


def test_the_command_names_the_file_that_is_saved(pages):
    assert embedded(pages["usual"]) | {"whole": {}} == {
        "schema": "untaken.decisions/1",
        "state": "9f2c41d07ab3e655",
        "file": "decisions-bank-help.json",
        "whole": {},
    }
    command = "untaken suggestions apply decisions-bank-help.json JOB"
    assert f'<code id="command">{command}</code>' in pages["usual"]


def test_what_else_was_found_is_folded_below(pages):
    told = pages["usual"]
    assert re.findall(r'<details id="([\w-]+)"><summary>(.*?)</summary>', told) == [
        ("gaps", "Content gaps: 2"),
        ("masked", "Masked questions: 2"),
        ("held-back", "Held back: 1"),
        ("conflicts", "Questions in several pairs: 1"),
        ("orphans", "Orphans: 1"),
        ("why", "Why there is nothing more: 2"),
        ("reviews", "Reviews: 2 nights"),
        ("read", "Queries: 1,840"),
    ]
    assert "<small><bdi>apple watch payment</bdi>, 3 times</small>" in told
    assert '<p dir="auto">send the card to &lt;email&gt; please</p>' in told
    assert "pair 7, <bdi>When will my new card arrive?</bdi>" in told
    assert "<td>none decided</td>" in told


def test_lists_below_end_and_say_how_many_more_there_are():
    gaps = [{"head": f"gap {n}", "size": 5, "texts": []} for n in range(203)]
    told = review.html(document(gaps=gaps))
    assert "gap 199<" in told
    assert "gap 200<" not in told
    assert "3 more entries: <code>untaken suggestions list --json</code>" in told


def test_counts_that_have_no_words_keep_their_names():
    counts = document()["counts"] | {"too_long": 3}
    told = review.html(document(counts=counts))
    assert '<th scope="row">Too long</th><td>3</td>' in told


def test_the_same_document_gives_the_same_bytes(pages, tmp_path):
    code = (
        "import runpy, sys\n"
        "from flows.reports import review\n"
        "document = runpy.run_path(sys.argv[1])['gallery']()['usual']\n"
        "open(sys.argv[2], 'w', encoding='utf-8').write(review.html(document))\n"
    )
    other = tmp_path / "page.html"
    subprocess.run([sys.executable, "-c", code, FILE, other], check=True)
    assert other.read_text(encoding="utf-8") == pages["usual"]


def test_ten_thousand_texts_stay_below_three_megabytes(pages):
    assert len(pages["many"].encode()) < 3_000_000
    assert pages["many"].count("<li><p") == 10_000
