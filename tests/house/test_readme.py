"""The README's commands stand there, run, and print what it says they print.

A block that opens with ```console holds commands (`$ ...`) and what each prints; a
line of `...` there, or three dots inside a line, stands for whatever varies.
"""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

COMMANDS = [
    "pip install . && untaken nightly data/sample/untaken.toml",
    "pip install '.[test]' && pytest",
]
FIRST_SCREEN_LINES = 60
INSTALLING = re.compile(r"^pip install \S+ && ")
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(scope="module")
def readme(root):
    return (root / "README.md").read_text()


def console(text):
    """Pairs of command and expected output, in order."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command.strip(), output


def test_first_screen_shows_both_commands(readme):
    screen = "\n".join(readme.splitlines()[:FIRST_SCREEN_LINES])
    shown = [command for command, _ in console(screen + "\n```\n")]
    assert [command for command in COMMANDS if command not in shown] == []


def test_every_untaken_command_prints_what_the_readme_says(readme, root, tmp_path):
    shutil.copytree(
        root / "data", tmp_path / "data", ignore=shutil.ignore_patterns("results")
    )
    checker = doctest.OutputChecker()
    wrong = []
    for written, expected in console(readme):
        command = shlex.split(INSTALLING.sub("", written))
        if command[0] != "untaken":
            continue
        done = subprocess.run(
            [Path(sysconfig.get_path("scripts")) / "untaken", *command[1:]],
            cwd=tmp_path,
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
        )
        same = checker.check_output(expected, done.stdout, LENIENT)
        if done.returncode != 0 or not same:
            wrong.append(f"$ {written}\n{done.stdout}{done.stderr}")
    assert wrong == []
