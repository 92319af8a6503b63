"""Drawn decisions, counted on the grid of the product, without a log in between.

Rewards are drawn for the decisions of each row (a block, or a night's sub-block); cells
and positions inside them are those of `flows.offpolicy.grid`, so what an interval sees
is what it sees of a log on disk.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import polars as pl
from bed.laws import ACTIONS, BETA

from flows.offpolicy.cells import Cells
from flows.offpolicy.evidence import LARGEST, SUPPORT_MISSING
from flows.offpolicy.grid import Grid, product


@dataclasses.dataclass(frozen=True)
class Drawn:
    """Decisions, an entry for those that are alike: shape (entries,).

    row: where they belong. context, action: where they were made and what was taken.
    reward: 0 where it is missing. kept: with what probability they are in the log.
    """

    row: np.ndarray
    context: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    is_missing: np.ndarray
    kept: np.ndarray
    count: np.ndarray

    def where(self, which):
        """Some of the entries."""
        return Drawn(*(array[which] for array in vars(self).values()))


@functools.lru_cache(maxsize=32)
def grid_of(law):
    """The grid of a log of `law`."""
    least = 1.0 if law.kept is None else float(law.kept.min())
    return Grid(law.floor, 0.0, 1.0, least_sample_probability=least)


def draw(law, random, sizes):
    """Decisions of `law`; sizes: shape (rows,), how many are made in each row."""
    contexts = len(law.pays)
    if law.is_continuous:
        chance = law.logging.ravel() / contexts
        counts = random.multinomial(sizes, chance)
        row, pair = np.nonzero(counts)
        times = counts[row, pair]
        row, pair = np.repeat(row, times), np.repeat(pair, times)
        pays = law.pays.ravel()[pair]
        reward = random.beta(BETA * pays, BETA * (1.0 - pays))
        context, action = np.divmod(pair, ACTIONS)
        ones = np.ones(row.size, dtype=np.int64)
        no = np.zeros(row.size, dtype=bool)
        return Drawn(row, context, action, reward, no, np.ones(row.size), ones)
    context, action, paid, missing, chance = kinds(law)
    # The last kind are decisions that were dropped from the log.
    counts = random.multinomial(sizes, np.append(chance, max(0.0, 1.0 - chance.sum())))
    row, kind = np.nonzero(counts[:, :-1])
    paid, is_missing = paid[kind], missing[kind] == 1
    kept = np.ones(2) if law.kept is None else law.kept
    return Drawn(
        row,
        context[kind],
        action[kind],
        np.where(is_missing, 0.0, paid),
        is_missing,
        kept[paid],
        counts[row, kind],
    )


@functools.lru_cache(maxsize=32)
def kinds(law):
    """Context, action, reward, whether it is lost, and the probability to be logged."""
    context, action, paid, missing = (
        axis.ravel() for axis in np.indices((*law.pays.shape, 2, 2))
    )
    pays = law.pays[context, action]
    chance = law.logging[context, action] / len(law.pays)
    chance = chance * np.where(paid == 1, pays, 1.0 - pays)
    lost = 0.0 if law.lost is None else law.lost[context, action, paid]
    chance = chance * np.where(missing == 1, lost, 1.0 - lost)
    if law.kept is not None:
        chance = chance * law.kept[paid]
    return context, action, paid, missing, chance


def cells(law, drawn, candidates, *, day, block, logging=None):
    """The evidence of a candidate, or of a pair.

    candidates: one policy or two, shape (contexts, actions). day, block: of each entry.
    logging: of each entry the probabilities of all actions, shape (entries, actions);
        left out, those of the law.
    """
    grid = grid_of(law)
    where = drawn.context, drawn.action
    listed = law.logging[drawn.context] if logging is None else logging
    taken = listed[np.arange(drawn.row.size), drawn.action]
    is_listed = listed >= grid.tolerated_floor
    weights = [
        np.where(taken >= grid.tolerated_floor, policy[where] / taken, 0.0)
        for policy in candidates
    ]
    unsupported = [
        np.where(is_listed, 0.0, policy[drawn.context]).sum(axis=1)
        for policy in candidates
    ]
    return _counted(
        grid,
        drawn,
        weights[0] - weights[1] if len(weights) == 2 else weights[0],
        unsupported,
        day=day,
        block=block,
    )


def _counted(grid, drawn, weight, unsupported, *, day, block):
    frame = pl.DataFrame({"weight": weight, "reward": drawn.reward, "n": drawn.count})
    w, z, n = pl.col("weight"), pl.col("reward"), pl.col("n")
    a, b = pl.col("a"), pl.col("b")
    frame = frame.with_columns(
        grid.weight_cell(w).alias("weight_cell"),
        grid.reward_cell(z).alias("reward_cell"),
    ).with_columns(
        grid.weight_part(w, pl.col("weight_cell")).alias("a"),
        grid.reward_part(z, pl.col("reward_cell")).alias("b"),
    )
    frame = frame.select(
        "weight_cell",
        "reward_cell",
        a.alias(LARGEST),
        n.alias("decisions"),
        (a * n).alias("weight_part"),
        (b * n).alias("reward_part"),
        (product(a, b) * n).alias("product_part"),
        (product(a, a) * n).alias("weight_square_part"),
    )
    sums = {
        name: frame[name].to_numpy()
        for name in frame.columns
        if name not in ("weight_cell", "reward_cell", LARGEST)
    }
    own, *other = unsupported
    unit = 2**20
    sums["unsupported_part"] = np.rint(own * unit).astype(np.int64) * drawn.count
    other = other[0] if other else np.zeros(own.size)
    sums["other_unsupported_part"] = (
        np.rint(other * unit).astype(np.int64) * drawn.count
    )
    return Cells(
        day=day,
        block=block,
        kind=drawn.is_missing + SUPPORT_MISSING * (own + other > 0),
        sample_probability=drawn.kept,
        weight_cell=frame["weight_cell"].to_numpy(),
        reward_cell=frame["reward_cell"].to_numpy(),
        sums=sums,
        largest_part=frame[LARGEST].to_numpy(),
        grid=grid,
        max_weight=grid.largest_weight,
        is_pair=len(unsupported) == 2,
        is_logging=False,
        knows_support=True,
    )
