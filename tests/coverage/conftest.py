"""What every bed is judged by, and where the modules of the large one are found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from bed import judge


@pytest.fixture(scope="session")
def least_coverage():
    return judge.least
