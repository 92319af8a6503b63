"""requirements.lock: a hash for everything, an address for nothing, pins that agree."""

from __future__ import annotations

import re

import pytest

PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[\w.!+-]+)")


def pins(text):
    """Name, as an index normalises it, to version."""
    return {
        re.sub(r"[-_.]+", "-", pin["name"]).lower(): pin["version"]
        for pin in PIN.finditer(text)
    }


@pytest.fixture(scope="module")
def lock(root):
    return (root / "requirements.lock").read_text()


@pytest.fixture(scope="module")
def direct(project):
    """What is installed for work and tests; not the tools a benchmark compares with."""
    extras = project["project"]["optional-dependencies"].items()
    needed = [one for name, pinned in extras if name != "bench" for one in pinned]
    return [*project["project"]["dependencies"], *needed]


def test_lock_names_no_address(lock):
    assert "://" not in lock


def test_every_locked_package_has_a_hash(lock):
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert [e for e in entries if "--hash=sha256:" not in e] == []


def test_every_direct_dependency_is_pinned(direct):
    assert [one for one in direct if PIN.fullmatch(one) is None] == []


def test_lock_holds_every_direct_dependency_at_its_version(direct, lock):
    wanted = pins("\n".join(direct))
    locked = pins(re.sub(r"\s--hash=\S+", "", lock))
    assert {name: locked.get(name) for name in wanted} == wanted
