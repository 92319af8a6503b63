"""Evidence is a sum: any partition of the rows, in any order, gives the same bits."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from flows import queries
from flows.decisions import Layout, find, open_log
from flows.offpolicy import evidence
from flows.offpolicy.evidence import Pair, merge
from flows.offpolicy.grid import Grid
from flows.offpolicy.sampling import sampling
from flows.policies import Request, parse, prepare

GRID = Grid(0.1, 0.0, 1.0, least_sample_probability=0.25)
CANDIDATES = (parse("column:new", name="new"), parse("uniform", name="uniform"))
ROWS = 200


def a_log(seed):
    """Decisions between three actions; some lack a reward, some support; sampled."""
    rng = np.random.default_rng(seed)
    floor = np.where(rng.random(ROWS) < 0.8, 0.1, 0.01)[:, None]
    logging = rng.dirichlet(np.ones(3), ROWS) * (1 - 3 * floor) + floor
    logging[:, 2] = 1.0 - logging[:, :2].sum(axis=1)
    action = (logging.cumsum(axis=1) < rng.random(ROWS)[:, None]).sum(axis=1).clip(0, 2)
    reward = pl.Series(rng.random(ROWS)).set(pl.Series(rng.random(ROWS) < 0.1), None)
    return pl.DataFrame(
        {
            "decision_id": [f"d{number}" for number in range(ROWS)],
            "action": np.array(["a", "b", "c"])[action],
            "actions": [["a", "b", "c"]] * ROWS,
            "logging_probabilities": logging.tolist(),
            "reward": reward,
            "new": rng.dirichlet(np.ones(3), ROWS).tolist(),
            "place": np.array(["north", "south"])[rng.integers(0, 2, ROWS)],
            "sample_probability": np.array([0.25, 0.5, 1.0])[rng.integers(0, 3, ROWS)],
        }
    )


def counted(frames, blocks):
    """The evidence of a log of one file a frame: two candidates and their pair."""
    with tempfile.TemporaryDirectory() as folder:
        for number, frame in enumerate(frames):
            frame.write_parquet(Path(folder, f"{number:02d}.parquet"))
        layout = Layout(beside=("place",))
        log = open_log(
            find([folder]), layout, dated=None, with_ids=None, extra=("new",)
        )
        work = Path(folder, "work")
        work.mkdir()
        request = Request(log, CANDIDATES, (0.0, 1.0), work, keep=("place",))
        with queries.connection() as con:
            prepared = prepare(con, request)
            scored = prepared.scored(GRID.tolerated_floor)
            return evidence.count(
                prepared.scorable,
                [*scored, Pair(*scored)],
                grid=GRID,
                segments=[("place",)],
                blocks=blocks,
                sampling=sampling(log, prepared.profile, GRID),
            )


@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**32 - 1),
    parts=st.integers(1, 40),
    blocks=st.sampled_from(["one", "sub_blocks", "hash_blocks"]),
)
def test_any_partition_in_any_order_gives_the_same_bits(seed, parts, blocks):
    log, rng = a_log(seed), np.random.default_rng(seed)
    whole = counted([log], blocks)
    shuffled = log[rng.permutation(ROWS)]
    cuts = np.sort(rng.integers(0, ROWS, parts - 1))
    pieces = [
        shuffled[int(start) : int(end)]
        for start, end in zip([0, *cuts], [*cuts, ROWS], strict=True)
        if start < end
    ]
    assert counted(pieces, blocks).equals(whole)
    alone = [counted([piece], blocks) for piece in pieces[:6]]
    together = counted([pl.concat(pieces[:6])], blocks)
    assert merge(pl.concat(alone)).equals(together)
    assert merge(pl.concat(alone[::-1])).equals(together)
