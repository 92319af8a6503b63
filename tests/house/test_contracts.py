"""Contracts between rooms, and what an ad-hoc command must not load."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

SCRIPTS = Path(sysconfig.get_path("scripts"))


def test_rooms_import_only_rooms_below_them(root):
    done = subprocess.run(
        [SCRIPTS / "lint-imports", "--no-cache"],
        cwd=root,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_line_loads_no_prefect():
    code = "import sys, flows.cli; print('prefect' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "False"


def test_a_skip_is_a_failure_where_all_is_required(root, tmp_path):
    (tmp_path / "conftest.py").write_text((root / "tests" / "conftest.py").read_text())
    (tmp_path / "test_skips.py").write_text(
        "import pytest\ndef test_of_a_missing_package(): pytest.skip('needs x')\n"
    )
    (tmp_path / "test_module.py").write_text("import pytest\npytest.importorskip('no')")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command.append("--continue-on-collection-errors")
    outcomes = [
        subprocess.run(
            command,
            cwd=tmp_path,
            env=os.environ | {"UNTAKEN_REQUIRE_ALL": flag},
            check=False,
            capture_output=True,
            text=True,
        )
        for flag in ("0", "1")
    ]
    assert "2 skipped" in outcomes[0].stdout
    assert outcomes[1].returncode != 0
    assert "needs x" in outcomes[1].stdout
    assert "skipped" not in outcomes[1].stdout.splitlines()[-1]


def test_the_browser_opens_a_page_without_any_host(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<title>report</title><p id='answer'>not enough evidence</p>")
    browser.get(page.as_uri())
    assert browser.title == "report"
