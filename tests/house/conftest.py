"""What the house tests share: the root of the project and the files that git keeps."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).parents[2]


@pytest.fixture(scope="session")
def project(root):
    """pyproject.toml, read."""
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture(scope="session")
def kept_files(root) -> list[Path]:
    """All files that are tracked, or would be: paths from the root."""
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        pytest.skip("needs git and a clone of the repository")
    listed = subprocess.run(
        [git, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    names = (Path(name) for name in listed.stdout.split("\0") if name)
    return sorted({name for name in names if (root / name).is_file()})
