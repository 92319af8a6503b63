"""The review page in a real browser: decisions, keys, what is kept and saved."""

from __future__ import annotations

import base64
import runpy
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from flows.reports import review

FILE = Path(__file__).parents[1] / "unit" / "reports" / "review_documents.py"
DOCUMENTS = runpy.run_path(str(FILE))["gallery"]()
TEXTS = [text for each in DOCUMENTS["usual"]["suggestions"] for text in each["texts"]]
DRIVER = runpy.run_path(str(Path(__file__).with_name("review_driver.py")))
Page, CONTRAST = DRIVER["Page"], DRIVER["CONTRAST"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("review")
    for kind, each in DOCUMENTS.items():
        page = folder / f"{kind}.html"
        page.write_text(review.html(each), encoding="utf-8", newline="")
    return folder


@pytest.fixture
def show(browser, pages):
    """Shows a page in which nothing is decided yet."""

    def open_page(kind="usual", width=1280, scheme="light"):
        phone = width < 500
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": phone},
        )
        browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )
        browser.get((pages / f"{kind}.html").as_uri())
        browser.execute_script("localStorage.clear()")
        browser.get((pages / f"{kind}.html").as_uri())
        browser.get_log("browser")

    yield open_page
    browser.get("about:blank")


@pytest.fixture
def page(browser, show):
    show()
    return Page(browser)


def test_a_tick_accepts_a_cross_rejects_and_a_second_one_takes_it_back(page):
    assert page.verdicts == "." * 15
    page.click("#s1 li:nth-child(1) .accept")
    page.click("#s1 li:nth-child(2) .reject")
    assert page.verdicts == "ax" + "." * 13
    assert page.counts == "1 accepted, 1 rejected, 13 undecided"
    assert page.read("#s1 li:nth-child(1) small") == "9 auto, 3 user accepted"
    assert page.read("#s1 li:nth-child(2) small") == "6 auto rejected"
    page.click("#s1 li:nth-child(1) .accept")
    page.click("#s1 li:nth-child(2) .accept")
    assert page.verdicts == ".a" + "." * 13


def test_a_suggestion_is_decided_as_a_whole_and_leaves_what_was_decided(page):
    page.click("#s1 li:nth-child(2) .reject")
    accept = page.one("#s1 .whole [value=accepted]")
    assert accept.text == "Accept rest"
    assert page.read("#s1 .whole span") == "4 undecided"
    accept.click()
    assert page.verdicts == "axaaa" + "." * 10
    assert accept.text == "Accept all"
    accept.click()
    assert page.verdicts == "aaaaa" + "." * 10
    accept.click()
    assert page.verdicts == "." * 15


def test_accepting_a_text_for_one_pair_rejects_it_for_the_other(page):
    page.click("#s2 li:nth-child(1) .accept")
    assert page.verdicts == "....." + "a.." + "..." + ".x." + "."
    assert "rejected for the other" in page.read("#said")
    page.click("#s4 li:nth-child(2) .accept")
    assert page.verdicts == "....." + "x.." + "..." + ".a." + "."
    page.click("#s4 li:nth-child(2) .accept")
    assert page.verdicts == "." * 15
    page.click("#s2 li:nth-child(1) a")
    assert page.focused == "I forgot my PIN!"


def test_all_that_is_shown_is_decided_but_for_texts_offered_to_two_pairs(page):
    page.choose("#pair", 7)
    page.click("#reject-shown")
    assert page.verdicts == "xxxxx" + "." * 9 + "x"
    page.choose("#pair", "")
    page.click("#accept-shown")
    assert page.verdicts == "xxxxx" + ".aa" + "aaa" + "a.a" + "x"
    assert page.read("#said") == (
        "7 texts accepted. 2 texts offered to two pairs left to you."
    )
    page.click("#undo")
    page.click("#undo")
    assert page.verdicts == "." * 15
    page.click("#undo")
    assert page.read("#said") == "Nothing to undo."


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("CUANTAS VISITAS", ["c5d2"]),
        ("pin", ["b07c", "d93e"]),
        ("midnight", ["b07c"]),
        ("lost pin", ["d93e"]),
        ("الزيارات", ["c5d2"]),
        ("😀", ["a41f"]),
        ("nobody asked this", []),
    ],
)
def test_search_knows_no_case_and_no_accents(page, asked, found):
    page.choose("#search", asked)
    assert page.shown == found
    assert page.read("#shown").startswith(f"{len(found)} of 5 suggestions shown")


def test_filters_by_pair_and_by_verdict(page):
    page.choose("#pair", 7)
    assert page.shown == ["a41f", "e1aa"]
    assert page.read("#shown") == "2 of 5 suggestions shown, 6 texts in them undecided"
    page.click("#s5 li .accept")
    assert page.read("#shown") == "2 of 5 suggestions shown, 5 texts in them undecided"
    page.choose("#verdict", "open")
    assert page.shown == ["a41f"]
    page.choose("#verdict", "accepted")
    assert page.shown == ["e1aa"]
    page.choose("#verdict", "rejected")
    assert page.shown == []


def test_what_is_decided_leaves_the_undecided_and_the_focus_goes_on(page):
    page.choose("#verdict", "open")
    page.press("j", "a")
    assert page.shown == ["b07c", "c5d2", "d93e", "e1aa"]
    assert page.focused == "b07c"
    page.press("u")
    assert page.shown[0] == page.focused == "a41f"
    page.press("x", "x", "x", "x", "x")
    assert page.shown == []
    assert page.focused == "undo"
    page.press("u")
    assert page.shown == ["e1aa"]


def test_letters_and_arrows_do_all_without_a_mouse(page):
    page.press("j")
    assert page.focused == "a41f"
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert page.focused == "my card still has not arrived"
    page.press("x", Keys.ARROW_UP, "a")
    assert page.verdicts == "ax" + "." * 13
    page.press("k")
    assert page.focused == "a41f"
    page.press("j", "j", "a")
    assert page.verdicts == "ax......aaa...."
    page.press("u", "u")
    assert page.verdicts == ".x" + "." * 13
    page.press("/")
    assert page.focused == "search"
    page.press("lost", Keys.ENTER)
    assert page.shown == [page.focused] == ["d93e"]
    page.press("/", Keys.ESCAPE)
    assert len(page.shown) == 5
    page.press("?")
    assert page.one("#help").is_displayed()
    page.press(Keys.ESCAPE)
    assert not page.one("#help").is_displayed()


def test_the_focus_is_seen_and_is_not_under_the_bar(page):
    for key in ["j", Keys.ARROW_DOWN, Keys.ARROW_DOWN, "j", Keys.ARROW_DOWN, "j", "j"]:
        page.press(key)
        seen = page.browser.execute_script(
            "const at = document.activeElement, box = at.getBoundingClientRect();"
            "const bar = document.querySelector('.bar').getBoundingClientRect();"
            "return [getComputedStyle(at).outlineStyle, box.top >= 0,"
            "Math.min(box.bottom, box.top + 60) <= bar.top]"
        )
        assert seen == ["solid", True, True]


def test_letters_can_be_switched_off_and_stay_so(page):
    page.click("#keys")
    page.click("#single")
    page.click("#close")
    page.reload()
    page.one("#s1 .reject").send_keys("a")
    assert page.verdicts == "." * 15
    page.press(Keys.ARROW_DOWN)
    assert page.focused == "my card still has not arrived"


def test_decisions_outlive_the_tab_under_their_own_state(page, tmp_path):
    page.click("#s1 li:nth-child(1) .accept")
    page.click("#s2 li:nth-child(1) .reject")
    page.reload()
    assert page.verdicts == "a....x........."
    assert page.counts == "1 accepted, 1 rejected, 13 undecided"
    newer = tmp_path / "newer.html"
    changed = DOCUMENTS["usual"] | {"state": "another"}
    newer.write_text(review.html(changed), encoding="utf-8")
    page.browser.get(newer.as_uri())
    assert page.verdicts == "." * 15


def test_a_browser_that_keeps_nothing_says_so_and_still_decides(page):
    page.browser.execute_script(
        "Storage.prototype.setItem = () => { throw new Error('full') }"
    )
    assert not page.one("#unkept").is_displayed()
    page.click("#s1 .accept")
    assert page.one("#unkept").is_displayed()
    assert page.verdicts == "a" + "." * 14


def test_the_saved_file_holds_what_was_decided_and_nothing_else(page, tmp_path):
    page.click("#save")
    assert page.read("#said") == "Nothing is decided yet."
    assert not page.warns
    page.click("#s3 li:nth-child(2) .reject")
    page.click("#s1 li:nth-child(5) .accept")
    assert page.warns
    found = page.saved(tmp_path / "decisions-bank-help.json")
    assert found == {
        "schema": "untaken.decisions/1",
        "state": "9f2c41d07ab3e655",
        "decisions": [
            {"id": "a41f", "question": "new card??? 😀", "verdict": "accepted"},
            {
                "id": "c5d2",
                "question": "كم عدد الزيارات المسموح بها في الشهر؟",
                "verdict": "rejected",
            },
        ],
    }
    assert page.read("#said").split(": ")[1] == (
        "untaken suggestions apply decisions-bank-help.json JOB"
    )
    assert not page.warns
    page.reload()
    assert not page.warns
    page.click("#s1 li:nth-child(5) .accept")
    assert page.warns


def test_two_tabs_agree(page):
    first = page.browser.current_window_handle
    address = page.browser.current_url
    page.browser.switch_to.new_window("tab")
    page.browser.get(address)
    page.click("#s1 .accept")
    page.browser.close()
    page.browser.switch_to.window(first)
    assert page.verdicts == "a" + "." * 14


def test_texts_are_saved_to_the_last_character_and_nothing_in_them_runs(
    browser, show, tmp_path
):
    show("hostile")
    page = Page(browser)
    page.click("#accept-shown")
    file = runpy.run_path(str(FILE))
    name = "decisions-script-script-alert-1-script-img-src-x-onerror-alert-1.json"
    found = page.saved(tmp_path / name)
    assert [(each["id"], each["question"]) for each in found["decisions"]] == [
        (each["id"], text["question"])
        for each in file["HOSTILE"]
        for text in each["texts"]
    ]
    page.click("#s2 .link")
    assert page.read("#s2 h3") == file["ENDLESS"].strip()
    assert page.all("img") == []
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("kind", ["usual", "empty", "hostile"])
def test_page_fits_its_window_and_logs_nothing(browser, show, kind, width):
    show(kind, width)
    browser.execute_script(
        "document.querySelectorAll('details').forEach(each => each.open = true);"
        "document.querySelectorAll('article .link').forEach(each => each.click());"
        "document.querySelector('#accept-shown')?.click();"
        "document.querySelector('#keys')?.click()"
    )
    widest = browser.execute_script("return document.documentElement.scrollWidth")
    assert widest <= width
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_is_readable_in_both_schemes(browser, show, scheme):
    show(scheme=scheme)
    page = Page(browser)
    page.click("#s2 li:nth-child(1) .accept")
    page.click("#s1 li:nth-child(2) .reject")
    browser.execute_script(
        "document.querySelectorAll('details').forEach(each => each.open = true)"
    )
    found = browser.execute_script(CONTRAST)
    assert found["seen"] > 100
    assert found["least"][0] >= 4.5, found


def test_right_to_left_texts_stand_right(page):
    ends = page.browser.execute_script(
        "const text = document.querySelectorAll('#s3 li p')[1], range = new Range();"
        "range.selectNodeContents(text);"
        "return [text, range].map(each => each.getBoundingClientRect().right)"
    )
    assert ends[0] == pytest.approx(ends[1], abs=1)


def test_controls_have_names_and_states_for_those_who_hear_the_page(page):
    page.click("#s1 li:nth-child(1) .accept")
    tree = page.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    named = {
        each["name"]["value"]: {
            found["name"]: found["value"].get("value") for found in each["properties"]
        }
        for each in tree
        if each.get("role", {}).get("value") in {"button", "article", "searchbox"}
    }
    assert named["Accept: where is my new card"]["pressed"] == "true"
    assert named["Reject: where is my new card"]["pressed"] == "false"
    assert {"Suggestion 1 of 5", "Search", "Save decisions", "Undo"} <= set(named)


def test_print_is_a_readable_list_with_verdicts_and_without_controls(page):
    page.click("#s1 li:nth-child(1) .accept")
    printed = page.browser.execute_cdp_cmd("Page.printToPDF", {})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    visible = [
        each for each in page.all("button, input, select") if each.is_displayed()
    ]
    told = [page.read("#s1 li:nth-child(1)"), page.read("#s5 li")]
    folded = page.browser.execute_script(
        "return document.querySelector('#gaps li').getBoundingClientRect().height"
    )
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert visible == []
    assert told == [
        "where is my new card\n9 auto, 3 user accepted",
        "card by courier\n5 auto",
    ]
    assert folded > 0


def test_without_its_script_the_page_is_still_read(browser, show):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        show()
        shown = [each.text for each in browser.find_elements("css selector", "li p")]
        bar = browser.find_element("css selector", ".bar").is_displayed()
    finally:
        browser.execute_cdp_cmd(
            "Emulation.setScriptExecutionDisabled", {"value": False}
        )
    assert shown[: len(TEXTS)] == [each["question"] for each in TEXTS]
    assert not bar


def test_ten_thousand_texts_stay_quick(browser, show):
    show("many")
    page = Page(browser)
    paint, ready = browser.execute_script(
        "const [navigation] = performance.getEntriesByType('navigation');"
        "const [paint] = performance.getEntriesByName('first-contentful-paint');"
        "return [paint.startTime, navigation.loadEventEnd]"
    )
    assert paint < 3_000  # some 100 and 600 ms on two shared cores
    assert ready < 10_000
    page.click("#accept-shown")
    assert page.counts == "10,000 accepted, 0 rejected, 0 undecided"
