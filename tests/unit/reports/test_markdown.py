from __future__ import annotations

import pytest

from flows.reports import build, markdown
from flows.reports.markdown import escape


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("plain", "plain"),
        ("a|b", "a\\|b"),
        ("[x](y)", "\\[x\\](y)"),
        ("<script>", "\\<script\\>"),
        ("`rm`*_", "\\`rm\\`\\*\\_"),
        ("line\nbreak", "line break"),
        ("https://elsewhere", "https\\://elsewhere"),
        ("www.elsewhere", "www\\.elsewhere"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("back\\slash", "back\\\\slash"),
    ],
)
def test_names_are_inert(name, told):
    assert escape(name) == told


def test_answer_comes_first_and_says_its_badge_once(sample):
    blocks = markdown(build(sample.facts())).split("\n\n")
    assert blocks[0] == "# sample, 30 November 2019"
    assert blocks[1].startswith("**Not enough evidence.** The log cannot yet tell")


def test_every_row_of_a_table_has_as_many_cells_as_its_head(nights, make, acts):
    odd = make(acts("a|b\n|c"), segments=(("x|y", ("1|2",)),)).facts()
    for facts in (*nights.values(), odd):
        for block in markdown(build(facts)).split("\n\n"):
            rows = block.splitlines()
            if rows[0].startswith("|"):
                widths = {row.replace("\\|", "").count("|") for row in rows}
                assert len(widths) == 1


def test_findings_are_listed(nights):
    text = markdown(build(nights["wrong"]))
    for told in (
        "The intervals of ranker are withheld",
        "new\\_catalogue: of 10,003 decisions, 300 lack support",
        "14 rows broke the rule",
        "212 decisions break: The logging policy gave several actions a chance. Let it",
        "Jacket-22 (nearest: jacket-22) and scarf",
        "Changed after they were first read: 2019-11-26",
        "More nights like these cannot settle thompson",
    ):
        assert told in text


def test_many_candidates_stay_short(nights):
    text = markdown(build(nights["many"]))
    assert len(text) < 10_000
    assert "38 more candidates in the JSON report." in text
