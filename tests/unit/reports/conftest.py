"""What tests of reports share: made-up nights, and one of each kind of page."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

GALLERY = runpy.run_path(str(Path(__file__).with_name("gallery.py")))


@pytest.fixture(scope="session")
def make():
    """make(acts(...), count=7, ...).facts(...)."""
    return lambda *candidates, **log: GALLERY["Nights"](tuple(candidates), **log)


@pytest.fixture(scope="session")
def acts():
    """Makes a candidate."""
    return GALLERY["Acts"]


@pytest.fixture(scope="session")
def sample():
    """Seven nights of few clicks: the log decides nothing."""
    return GALLERY["SAMPLE"]


@pytest.fixture(scope="session")
def nights():
    """Facts by kind of night, the same that the browser is shown."""
    return GALLERY["gallery"]()
