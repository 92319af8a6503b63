"""What every test shares: time zone, fixed examples, the rule on skips, a browser.

The zone is deliberately not UTC, so that code which leans on the machine's zone
fails here. With `UNTAKEN_REQUIRE_ALL=1` a skipped test is a failed test: `.ci/run`
installs every system package that a test may need and sets it.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium.webdriver.remote.webdriver import WebDriver

os.environ["TZ"] = "Asia/Kathmandu"
time.tzset()

# The same examples on every machine, and no deadline on a busy one.
settings.register_profile("house", derandomize=True, deadline=None)
settings.load_profile("house")

BROWSER_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",  # CI runs as root, which the sandbox refuses
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # a page under test has no outside
    "--window-size=1200,2000",
)


def pytest_xdist_auto_num_workers(config):
    """The whole suite is shared among the cores; what is named runs in one process."""
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return None if is_whole else 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):  # noqa: ARG001 - names fixed by pytest
    return without_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):  # noqa: ARG001 - name fixed by pytest
    return without_skip((yield))


def without_skip(report):
    """Turns a skip, or an expected failure, into a failure when all is required."""
    if report.skipped and os.environ.get("UNTAKEN_REQUIRE_ALL") == "1":
        reason = getattr(report, "wasxfail", None) or report.longrepr
        if isinstance(reason, tuple):
            reason = reason[-1]
        report.outcome = "failed"
        report.longrepr = f"UNTAKEN_REQUIRE_ALL=1 allows no skip: {reason}"
        vars(report).pop("wasxfail", None)
    return report


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit code and what it said."""

    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out)

    @property
    def candidates(self):
        return self.document["candidates"]

    def refusal(self):
        """The message of a command that refused: nothing else was printed."""
        assert (self.code, self.out) == (2, ""), (self.code, self.out, self.err)
        assert "Traceback" not in self.err
        return self.err


@pytest.fixture
def untaken(capsys):
    """Runs `untaken` with the arguments, in this process."""
    from flows.cli import run

    def command(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return command


@pytest.fixture
def write_log(tmp_path):
    """Writes rows (dicts, or a frame) to a Parquet file in the test's folder."""

    def write(rows, name="log.parquet", **options):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        frame = (
            rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(rows, **options)
        )
        frame.write_parquet(file)
        return file

    return write


@pytest.fixture(scope="session")
def browser() -> Iterator[WebDriver]:
    """A headless Chromium that reaches no host; Debian's driver, nothing downloaded."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs the system packages chromium and chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in BROWSER_ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    chrome = webdriver.Chrome(options=options, service=service)
    yield chrome
    chrome.quit()
