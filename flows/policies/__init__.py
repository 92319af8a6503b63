"""Candidate policies: what they are written as, and how they are laid beside a log.

`parse` reads a SPEC; `prepare` validates the log together with all candidates and
returns them ready to be scored. The words of a SPEC are in `flows.policies.spec`.
"""

from flows.policies.prepare import (
    Prepared,
    Request,
    column_candidates,
    nearest,
    prepare,
)
from flows.policies.scorable import Scorable, Scored
from flows.policies.spec import Candidate, Kind, parse

__all__ = [
    "Candidate",
    "Kind",
    "Prepared",
    "Request",
    "Scorable",
    "Scored",
    "column_candidates",
    "nearest",
    "parse",
    "prepare",
]
