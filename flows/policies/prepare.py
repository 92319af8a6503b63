"""Checks a log together with its candidates and lays both out for scoring.

The order is fixed: the log is validated before a callable sees it, every candidate is
validated before anything is scored, and files written on the way live in a work folder
of their own.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import duckdb

from flows import columns as c
from flows import queries
from flows.decisions import CandidateColumn, Profile, check, measure
from flows.decisions.log import Standing
from flows.errors import UsageError
from flows.policies import layouts, propensities, tables
from flows.policies.answers import ask
from flows.policies.callables import caller
from flows.policies.layouts import Sources
from flows.policies.request import Columns, Prepared, Request, in_log, is_list
from flows.policies.scorable import Lists
from flows.policies.spec import Candidate, Kind

CALLABLE = (Kind.FUNCTION, Kind.ROW_FUNCTION)
# Where the actions are read that a column candidate names.
NAMED: dict[Standing, str] = {
    "entries": "staging/taken_actions",
    "name": "staging/named_actions",
}


def check_log(con: duckdb.DuckDBPyConnection, request: Request) -> Profile:
    """Validates the log and the candidates that stand in it.

    Raises: ViolationsError, PolicyError for candidates that the layout cannot have.
    """
    log = request.log
    propensities.require_actions(log, request.candidates)
    inside = [n for n in request.candidates if n.kind is Kind.COLUMN]
    return check(
        con,
        log,
        reward_range=request.reward_range,
        candidates=[
            CandidateColumn(n.name, *in_log(log, n), is_list=is_list(log, n))
            for n in inside
        ],
        window=request.window,
        listing=request.listing,
    )


def prepare(
    con: duckdb.DuckDBPyConnection, request: Request, profile: Profile | None = None
) -> Prepared:
    """Validates the log and its candidates, and lays them out for scoring.

    profile: what `check_log` said of this very request, when it was asked before.
    Raises: ViolationsError for rows of the log, PolicyError for a candidate.
    """
    log = request.log
    if profile is None:
        profile = check_log(con, request)
    else:
        propensities.require_actions(log, request.candidates)
        measure(con, log, window=request.window)
    if profile.decisions == 0:
        return Prepared(profile, Lists(frames=(), width=0), request.candidates, {})
    loaded = {
        candidate.name: tables.load(con, candidate, log, number=number)
        for number, candidate in enumerate(request.candidates)
        if candidate.kind is Kind.TABLE
    }
    for candidate in request.candidates:
        if candidate.name in loaded:
            tables.require_match(con, candidate, loaded[candidate.name])
    taken = _taken(con, request)
    callers = [caller(n) for n in request.candidates if n.kind in CALLABLE]
    columns: Columns = {}
    if callers:
        log, columns = ask(con, request, callers)
    sources = Sources(log, bool(callers), profile, loaded, columns)
    by_id = any(c.DECISION_ID in table.keys for table in loaded.values())
    form = log.layout.probabilities
    if form == "propensity":
        lay_out = propensities.laid_out if by_id else propensities.as_it_is
    elif form == "lists" and profile.actions is not None and not by_id:
        lay_out = layouts.as_it_is
    else:
        lay_out = layouts.laid_out
    prepared = lay_out(con, request, sources)
    known = set(profile.action_names)
    taken |= {name: set(table.action_names) for name, table in loaded.items()}
    taken |= {called.candidate.name: called.unknown for called in callers}
    prepared.unknown = {
        name: tuple(sorted(actions - known))
        for name, actions in taken.items()
        if actions - known
    }
    return prepared


def _taken(con: duckdb.DuckDBPyConnection, request: Request) -> dict[str, set[str]]:
    """The actions that candidates name in their SPEC or in the log itself."""
    taken: dict[str, set[str]] = {}
    for candidate in request.candidates:
        if candidate.kind is Kind.CONSTANT:
            taken[candidate.name] = {candidate.argument}
        elif candidate.kind is Kind.COLUMN:
            file = NAMED.get(request.log.stands(candidate.argument))
            if file is not None:
                column = queries.identifier(candidate.argument)
                rows = queries.run(con, file, candidate=column)
                taken[candidate.name] = {name for (name,) in rows}
    return taken


def nearest(action: str, names: Sequence[str]) -> str | None:
    """The listed action whose spelling is closest, case aside; None when none is."""
    folded = {name.strip().casefold(): name for name in names}
    close = difflib.get_close_matches(action.strip().casefold(), folded, n=1)
    return folded[close[0]] if close else None


def column_candidates(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The log columns that candidates stand in, for `open_log`."""
    names = [n.name for n in candidates]
    doubled = sorted({n for n in names if names.count(n) > 1})
    if doubled:
        raise UsageError(f"candidates given twice: {', '.join(doubled)}")
    return tuple(n.argument for n in candidates if n.kind is Kind.COLUMN)
