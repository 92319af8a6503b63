"""Candidate policies: what they are written as, and how they are laid beside a log.

`parse` reads a SPEC; `prepare` validates the log together with all candidates and
returns them ready to be scored. The words of a SPEC are in `flows.policies.spec`.
"""

from __future__ import annotations

from flows.policies.content import sources
from flows.policies.largest import largest_probability
from flows.policies.prepare import check_log, column_candidates, nearest, prepare
from flows.policies.request import Prepared, Request
from flows.policies.scorable import Scorable, Scored
from flows.policies.spec import Candidate, Kind, parse

__all__ = [
    "Candidate",
    "Kind",
    "Prepared",
    "Request",
    "Scorable",
    "Scored",
    "check_log",
    "column_candidates",
    "largest_probability",
    "nearest",
    "parse",
    "prepare",
    "sources",
]
