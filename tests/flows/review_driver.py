"""What a person does with the review page, and what the page says."""

from __future__ import annotations

import json
import time

# Of all text that is seen: the least contrast, and the text that has it.
CONTRAST = """
const channels = c => c.match(/[\\d.]+/g).map(Number);
const light = c => { const [r, g, b] = channels(c).slice(0, 3).map(v => {
  v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4});
  return .2126 * r + .7152 * g + .0722 * b};
const under = e => { for (; e; e = e.parentElement) {
  const c = getComputedStyle(e).backgroundColor;
  if (channels(c)[3] !== 0) return c; }
  return getComputedStyle(document.body).backgroundColor};
let least = [99, ''], seen = 0;
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  if (!own && !e.matches('[aria-pressed]') || !e.checkVisibility()) continue;
  const pair = [light(getComputedStyle(e).color), light(under(e))];
  pair.sort((a, b) => b - a);
  const ratio = (pair[0] + .05) / (pair[1] + .05);
  seen += 1;
  if (ratio < least[0]) least = [ratio, e.outerHTML.slice(0, 99)];
}
return {least, seen};
"""


class Page:
    """What a person can do with the page, and what it says."""

    def __init__(self, browser):
        self.browser = browser

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def one(self, selector):
        return self.browser.find_element("css selector", selector)

    def click(self, selector):
        """Clicks in the middle of the window, where no bar lies over it."""
        element = self.one(selector)
        self.browser.execute_script(
            "arguments[0].scrollIntoView({block: 'center'})", element
        )
        element.click()

    def press(self, *keys):
        for key in keys:
            self.browser.switch_to.active_element.send_keys(key)

    def choose(self, selector, value):
        """Gives a field its value, and tells the page as a browser does."""
        self.browser.execute_script(
            "arguments[0].value = arguments[1];"
            "arguments[0].dispatchEvent(new Event('input'))",
            self.one(selector),
            str(value),
        )

    def read(self, selector):
        return self.one(selector).text

    @property
    def counts(self):
        return self.read("#counts")

    @property
    def shown(self):
        return [
            each.get_attribute("data-id")
            for each in self.all("article")
            if each.is_displayed()
        ]

    @property
    def verdicts(self):
        """The verdict of every text, in order: a, x or a dot."""
        names = {"accepted": "a", "rejected": "x", "": "."}
        rows = self.all("article li")
        told = [names[row.get_attribute("data-verdict")] for row in rows]
        pressed = self.browser.execute_script(
            "return [...document.querySelectorAll('article li')].map(row => [...row"
            ".querySelectorAll('[aria-pressed=true]')].map(each => each.value)"
            ".join() || '')"
        )
        assert told == [names[each] for each in pressed]
        return "".join(told)

    @property
    def focused(self):
        """The text or the suggestion that has the focus."""
        return self.browser.execute_script(
            "const at = document.activeElement;"
            "return at.matches('li') ? at.querySelector('p').textContent : "
            "at.dataset.id ?? at.id"
        )

    def reload(self):
        self.browser.get(self.browser.current_url)

    @property
    def warns(self):
        """Whether leaving the page would be asked about."""
        return self.browser.execute_script(
            "const leaving = new Event('beforeunload', {cancelable: true});"
            "return !window.dispatchEvent(leaving)"
        )

    def saved(self, file):
        """What pressing Save leaves in the file."""
        self.browser.execute_cdp_cmd(
            "Browser.setDownloadBehavior",
            {"behavior": "allow", "downloadPath": str(file.parent)},
        )
        self.click("#save")
        end = time.monotonic() + 20
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        return json.loads(file.read_text(encoding="utf-8"))
