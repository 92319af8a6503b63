"""From logged questions to the page, from its saved file to the exported base."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

from flows import suggesting
from flows.job import asking

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
Page = runpy.run_path(str(Path(__file__).with_name("review_driver.py")))["Page"]
JOB = """
[job]
name = "bank"
[suggestions]
knowledge_base = "kb.tsv"
questions = "questions/day=*/*.parquet"
feedback = "feedback/*.json"
"""


def test_what_the_page_saves_is_applied_and_exported(browser, tmp_path, untaken):
    for name in ("questions", "feedback"):
        shutil.copytree(SAMPLE / name, tmp_path / name)
    shutil.copy(SAMPLE / "kb.tsv", tmp_path)
    job = tmp_path / "job.toml"
    job.write_text(JOB)
    made = suggesting.suggest(asking(job))
    browser.get(made.page.resolve().as_uri())
    page = Page(browser)
    page.click("article:nth-of-type(1) li:nth-child(1) .accept")
    page.click("article:nth-of-type(1) li:nth-child(2) .reject")
    saved = tmp_path / "decisions-bank.json"
    decided = page.saved(saved)["decisions"]
    assert [one["verdict"] for one in decided] == ["accepted", "rejected"]
    ran = untaken("suggestions", "apply", saved, job)
    assert (ran.code, ran.out) == (
        0,
        "1 accepted, 1 rejected, 0 decided so before\n",
    )
    out = tmp_path / "out.tsv"
    assert untaken("kb", "export", job, "--out", out).code == 0
    asked = [row.split("\t")[0] for row in out.read_text().splitlines()]
    assert decided[0]["question"] in asked
    assert decided[1]["question"] not in asked
    browser.get("about:blank")
