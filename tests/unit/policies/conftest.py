"""A log between actions that depend on place, and a candidate that is a rule of it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from flows import queries
from flows.decisions import Layout, open_log
from flows.policies import Request, column_candidates, parse, prepare

PLACES = ("north", "south", "east")
RULE = {
    "north": {"a": 0.7, "b": 0.2, "c": 0.1},
    "south": {"a": 0.1, "b": 0.9, "c": 0.0},
    "east": {"a": 1.0, "b": 0.0, "c": 0.0},
}
# Where the action sets differ, east lists c before a and has no b.
LISTED = {
    "closed": {place: ["a", "b", "c"] for place in PLACES},
    "open": {"north": ["a", "b", "c"], "south": ["c", "b", "a"], "east": ["c", "a"]},
}


@pytest.fixture
def decisions():
    """Makes a log: `closed` action sets, or `open` ones that differ by place."""

    def make(kind, count=60):
        rng = np.random.default_rng(7)
        rows = []
        for number in range(count):
            place = PLACES[number % len(PLACES)]
            actions = LISTED[kind][place]
            shares = rng.dirichlet(np.ones(len(actions))) * 0.7
            logging = shares + 0.3 / len(actions)
            logging[-1] = 1.0 - logging[:-1].sum()
            rows.append(
                {
                    "decision_id": f"d{number:03}",
                    "place": place,
                    "floor_number": number % 2,
                    "action": str(rng.choice(actions, p=logging)),
                    "actions": actions,
                    "logging_probabilities": logging.tolist(),
                    "reward": None if number % 11 == 5 else float(rng.random() < 0.4),
                    "new": [RULE[place][action] for action in actions],
                }
            )
        return pl.DataFrame(rows)

    return make


@pytest.fixture
def rule():
    return RULE


@pytest.fixture
def laid(tmp_path):
    """Lays a log out with candidates; returns it, and what scoring then reads."""

    def lay(file, *specs, floor=0.05, window=None, keep=(), **layout):
        candidates = tuple(parse(str(spec)) for spec in specs)
        log = open_log(
            [str(file)],
            Layout(**layout),
            dated=None,
            with_ids=None,
            extra=column_candidates(candidates),
        )
        work = tmp_path / f"work-{len(list(tmp_path.glob('work-*')))}"
        work.mkdir()
        request = Request(log, candidates, (0.0, 1.0), work, keep, window)
        with queries.connection() as con:
            prepared = prepare(con, request)
            wanted = [
                *dict.fromkeys(("decision_id", "sample_probability", *keep)),
                prepared.scorable.logged().alias("logged"),
            ]
            for scored in prepared.scored(floor):
                wanted.append(scored.probability.alias(scored.name))
                wanted.append(scored.unsupported.alias(f"{scored.name} unsupported"))
            rows = pl.concat(
                frame.select(wanted).collect(engine="streaming")
                for frame in prepared.scorable.frames
            )
        return prepared, rows.sort("decision_id")

    return lay


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a Python module into the folder that commands then run in."""
    monkeypatch.chdir(tmp_path)
    written = []

    def write(text):
        name = f"candidate_{tmp_path.name}_{len(written)}"
        (tmp_path / f"{name}.py").write_text(text)
        written.append(name)
        return name

    return write
