"""The report page in a real browser: narrow, wide, dark, printed."""

from __future__ import annotations

import base64
import runpy
import shutil
from pathlib import Path

import pytest

from flows import steps
from flows.asked import Asked
from flows.job import load
from flows.reports import build, html
from flows.reports.drawing import Bar
from flows.reports.figures import comparison
from flows.reports.inline import accessible

GALLERY = Path(__file__).parents[1] / "unit" / "reports" / "gallery.py"
SAMPLE = Path(__file__).parents[2] / "data" / "sample"
# Nights of the sample logs: rewards that come apart, a log of the retired service.
RAN = ["women", "coffee"]
KINDS = [
    "sample",
    "supported",
    "wrong",
    "gaps",
    "withheld",
    "no_rewards",
    "worse",
    "looks",
    "moving",
    "many",
]
CONTRAST = """
const parse = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number).map(v => {
  v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4});
const light = c => {const [r, g, b] = parse(c); return .2126*r + .7152*g + .0722*b};
const style = getComputedStyle(document.body);
const text = getComputedStyle(document.querySelector('caption')).color;
const pair = [light(style.backgroundColor), light(text)].sort((a, b) => b - a);
return (pair[0] + .05) / (pair[1] + .05);
"""
# Of each end of a band: how far its colour stands out from the band and the paper.
EDGES = """
const parse = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number).map(v => {
  v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4});
const light = c => {const [r, g, b] = parse(c); return .2126*r + .7152*g + .0722*b};
const ratio = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
const paper = light(getComputedStyle(document.body).backgroundColor);
const marks = [...document.querySelectorAll('.courses path')].map(getComputedStyle);
const bands = marks.filter(m => m.fill !== 'none' && m.stroke === 'none');
const edges = marks.filter(m => m.fill === 'none' && m.stroke !== 'none');
return {bands: bands.length, edges: edges.length, least: Math.min(...edges.flatMap(
  edge => [paper, ...bands.map(band => light(band.fill))].map(
    under => ratio(light(edge.stroke), under))))};
"""


# In each picture of intervals: text outside of it, and text that a line runs through.
OVERLAPS = """
const cut = [], crossed = []; let texts = 0;
for (const svg of document.querySelectorAll('figure svg')) {
  const frame = svg.getBoundingClientRect();
  if (!frame.width) continue;
  const lines = [...svg.querySelectorAll('line, path')]
    .map(each => each.getBoundingClientRect()).filter(box => box.width < 3);
  for (const text of svg.querySelectorAll('text')) {
    const box = text.getBoundingClientRect(); texts += 1;
    if (box.left < frame.left - .5 || box.right > frame.right + .5)
      cut.push(text.textContent);
    if (lines.some(line => line.left < box.right && line.right > box.left
        && line.top < box.bottom - 1 && line.bottom > box.top + 1))
      crossed.push(text.textContent);
  }
}
return {texts, cut, crossed};
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    gallery = runpy.run_path(str(GALLERY))["gallery"]()
    for kind in KINDS:
        (folder / f"{kind}.html").write_text(html(build(gallery[kind])))
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The pages of nights that were run, by job."""
    folder = tmp_path_factory.mktemp("ran")
    return {name: run(folder, name) for name in RAN}


def run(folder, name):
    """One night of a sample job, without Prefect: its page."""
    shutil.copytree(SAMPLE / name, folder / name)
    job = load(Path(shutil.copy(SAMPLE / f"{name}.toml", folder)))
    plan = steps.plan(job, Asked())
    steps.check(plan)
    steps.judge(plan)
    for day in steps.uncounted(plan):
        steps.count(plan, day)
    steps.estimate(plan)
    return steps.report(plan)[1]["html"]


def show(browser, page, width, scheme="light"):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.get(page.as_uri())


@pytest.mark.parametrize("width", [320, 375, 1280])
@pytest.mark.parametrize("kind", KINDS)
def test_page_fits_its_window_and_logs_nothing(browser, pages, kind, width):
    show(browser, pages / f"{kind}.html", width)
    browser.execute_script(
        "document.querySelectorAll('details').forEach(each => each.open = true)"
    )
    widest = browser.execute_script("return document.documentElement.scrollWidth")
    assert widest <= width
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("name", RAN)
def test_a_night_of_a_sample_log_fits_every_window(browser, ran, name):
    for width in (320, 1280):
        show(browser, ran[name], width)
        browser.execute_script(
            "document.querySelectorAll('details').forEach(each => each.open = true)"
        )
        widest = browser.execute_script("return document.documentElement.scrollWidth")
        assert widest <= width
    assert browser.get_log("browser") == []


def test_rewards_that_come_apart_are_accounted_for_to_the_reader(browser, ran):
    show(browser, ran["women"], 1280)
    top = browser.find_element("css selector", "dl.facts").text
    assert "21 observed and 4,315 by default (0)" in top
    section = "section[aria-labelledby=rewards]"
    tables = browser.find_elements("css selector", f"{section} > table")
    counts = next(t.text for t in tables if "What became of the" in t.text)
    assert "With a reward\nit was received in time\n21" in counts
    late = next(t.text for t in tables if "rewards that the night knows" in t.text)
    assert "Late\nreceived when the wait was over" in late
    days = browser.find_element("css selector", f"{section} details")
    assert "30 November 2019" not in days.text
    days.find_element("css selector", "summary").click()
    assert "30 November 2019" in days.text


def test_the_rule_of_the_service_stands_beside_the_test(browser, ran):
    show(browser, ran["coffee"], 1280)
    title = "//h3[.='By the rule of the retired service']"
    said = browser.find_element("xpath", f"{title}/following-sibling::p[1]")
    assert said.text.startswith("By its rule the service would have kept")
    table = browser.find_element("xpath", f"{title}/following-sibling::table[1]")
    rows = [row.text.split("\n") for row in table.find_elements("tag name", "tr")]
    assert rows[0] == ["Candidate By the rule Average reward By the test"]
    told = [" ".join(row) for row in rows]
    assert any("the baseline keep 31 9 to 53 undecided" in row for row in told)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_quiet_text_is_readable_in_both_schemes(browser, pages, scheme):
    show(browser, pages / "sample.html", 1280, scheme)
    assert browser.execute_script(CONTRAST) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_ends_of_a_band_stand_out_in_both_schemes(browser, pages, scheme):
    show(browser, pages / "looks.html", 1280, scheme)
    found = browser.execute_script(EDGES)
    assert found["bands"] > 4
    assert found["edges"] > found["bands"]
    assert found["least"] >= 3


def test_answer_and_picture_stand_on_the_first_screen(browser, pages):
    show(browser, pages / "sample.html", 1280)
    bottom = browser.execute_script(
        "return document.querySelector('.wide svg').getBoundingClientRect().bottom"
    )
    assert bottom <= 800


def test_only_one_form_of_a_picture_is_seen(browser, pages):
    for width in (375, 1280):
        show(browser, pages / "sample.html", width)
        seen = browser.execute_script(
            "return [...document.querySelectorAll('#sure ~ figure svg')]"
            ".filter(each => each.getBoundingClientRect().width > 0).length"
        )
        assert seen == 1


def test_folded_tables_are_printed(browser, pages):
    show(browser, pages / "sample.html", 1280)
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    seen = browser.execute_script(
        "return document.querySelector('details table').checkVisibility("
        "{contentVisibilityAuto: true}) && "
        "document.querySelector('details table').getBoundingClientRect().height"
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert seen > 0


def test_keyboard_reaches_every_folded_table(browser, pages):
    show(browser, pages / "sample.html", 1280)
    focusable = browser.execute_script(
        "return [...document.querySelectorAll('summary')].every(each => "
        "{each.focus(); return document.activeElement === each})"
    )
    assert focusable


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("kind", ["gaps", "looks"])
def test_no_mark_of_a_picture_is_cut_and_no_line_runs_through_text(
    browser, pages, kind, width
):
    show(browser, pages / f"{kind}.html", width)
    found = browser.execute_script(OVERLAPS)
    assert found["texts"] > 10
    assert found["cut"] == []
    assert found["crossed"] == []


@pytest.mark.parametrize("mark", [0.02, 1.0, 20.0, 2000.0, 10_000.0])
def test_marks_near_the_edge_are_not_cut(browser, tmp_path, mark):
    reach = mark / 1.0799  # the margin beyond it ends just after the mark
    bars = [Bar(-reach, reach, 0.0, "a segment with a long name", "-1 to +1")]
    svg = accessible(comparison(bars, about=0, narrow=True), "n", "t", "d")
    page = tmp_path / "edges.html"
    style = "svg{width:100%;font-family:sans-serif}"
    page.write_text(
        f"<meta charset=utf-8><style>{style}</style><figure><div>{svg}</div></figure>"
    )
    show(browser, page, 390)
    assert browser.execute_script(OVERLAPS)["cut"] == []
