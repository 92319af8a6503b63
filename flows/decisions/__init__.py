"""The decision log: finding its files, reading them in one layout, checking every row.

`open_log` reads all footers and refuses what cannot be read; `check` applies every
rule of `sql/checks/` in one pass and raises with all violations. Nothing here changes a
value: a log either carries the conclusion or is refused with its rows.
"""

from __future__ import annotations

from flows.decisions.checks import (
    CandidateColumn,
    Window,
    check,
    measure,
)
from flows.decisions.files import find
from flows.decisions.layout import FORMS, Form, Layout
from flows.decisions.log import Log
from flows.decisions.opening import open_log
from flows.decisions.profile import Profile, Warned, looks_like_a_cost

__all__ = [
    "FORMS",
    "CandidateColumn",
    "Form",
    "Layout",
    "Log",
    "Profile",
    "Warned",
    "Window",
    "check",
    "find",
    "looks_like_a_cost",
    "measure",
    "open_log",
]
