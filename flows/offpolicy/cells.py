"""The counted cells of one candidate, or of two compared ones, in one segment."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from flows.offpolicy.evidence import (
    LARGEST,
    REWARD_DEFAULT,
    REWARD_MISSING,
    SUMS,
    SUPPORT_MISSING,
)
from flows.offpolicy.grid import UNIT, Grid

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Positions = NDArray[np.intp]
NO_DAY = "1970-01-01"


@dataclass(frozen=True, slots=True)
class Cells:
    """Counted cells, one entry a row of evidence, shape (rows,).

    day: days since 1970; 0 where the log is undated.
    kind: whether reward or support is missing; a default reward is one like others.
    max_weight: no weight is larger, nor any difference of weights; by design.
    is_logging: the candidate is the logging policy, whose weight is exactly 1.
    knows_support: whether the log tells the mass without support (validity.md 2).
    """

    day: Integers
    block: Integers
    kind: Integers
    sample_probability: Floats
    weight_cell: Integers
    reward_cell: Integers
    sums: dict[str, Integers]
    largest_part: Integers
    grid: Grid
    max_weight: float
    is_pair: bool
    is_logging: bool
    knows_support: bool

    @classmethod
    def of(
        cls,
        evidence: pl.DataFrame,
        grid: Grid,
        *,
        largest_probability: float = 1.0,
        is_logging: bool = False,
        knows_support: bool = True,
        with_defaults: bool = True,
    ) -> Cells:
        """The rows of one candidate or pair and one segment; sorted by their keys.

        largest_probability: of the candidate (either one of a pair), by design.
        with_defaults: False where a default reward is as good as none.
        """
        if "day" not in evidence.columns:
            evidence = evidence.with_columns(day=pl.lit(NO_DAY).str.to_date())
        kind = evidence["kind"].to_numpy()
        if not with_defaults:
            kind = np.where(kind >= REWARD_DEFAULT, kind | REWARD_MISSING, kind)
        days = evidence["day"].to_physical().cast(pl.Int64)
        return cls(
            day=days.to_numpy(),
            block=evidence["block"].to_numpy(),
            kind=kind % REWARD_DEFAULT,
            sample_probability=evidence["sample_probability"].to_numpy(),
            weight_cell=evidence["weight_cell"].to_numpy(),
            reward_cell=evidence["reward_cell"].to_numpy(),
            sums={name: evidence[name].to_numpy() for name in SUMS},
            largest_part=evidence[LARGEST].to_numpy(),
            grid=grid,
            max_weight=1.0 if is_logging else grid.bound(largest_probability),
            is_pair=bool((evidence["other"] != "").any()),
            is_logging=is_logging,
            knows_support=knows_support,
        )

    def where(self, rows: Booleans | Positions) -> Cells:
        """Some of the rows."""
        return replace(
            self,
            day=self.day[rows],
            block=self.block[rows],
            kind=self.kind[rows],
            sample_probability=self.sample_probability[rows],
            weight_cell=self.weight_cell[rows],
            reward_cell=self.reward_cell[rows],
            sums={name: numbers[rows] for name, numbers in self.sums.items()},
            largest_part=self.largest_part[rows],
        )

    def added(self) -> Cells:
        """One row a cell, days and blocks added: the same bits for any parts of a log.

        `day` and `block` of the result are 0.
        """
        keys = (self.kind, self.sample_probability, self.weight_cell, self.reward_cell)
        order = np.lexsort(keys)
        is_first = np.arange(order.size) == 0
        for key in keys:
            is_first[1:] |= key[order[1:]] != key[order[:-1]]
        starts = np.flatnonzero(is_first)
        first = self.where(order[starts])
        if not starts.size:
            return first
        return replace(
            first,
            day=np.zeros_like(first.day),
            block=np.zeros_like(first.block),
            sums={
                name: np.add.reduceat(numbers[order], starts)
                for name, numbers in self.sums.items()
            },
            largest_part=np.maximum.reduceat(self.largest_part[order], starts),
        )

    @property
    def decisions(self) -> int:
        """How many decisions were counted."""
        return int(self.sums["decisions"].sum())

    def of_kind(self, kind: int) -> int:
        """How many decisions are exactly of `kind`."""
        return int(self.sums["decisions"][self.kind == kind].sum())

    @property
    def rewards(self) -> int:
        """How many decisions have a reward."""
        return self.of_kind(0) + self.of_kind(SUPPORT_MISSING)

    @property
    def sampling_weight(self) -> Floats:
        """Least sampling probability by design over that of each row, in (0, 1]."""
        least = self.grid.least_sample_probability
        weight: Floats = np.minimum(least / self.sample_probability, 1.0)
        return weight

    @property
    def unsupported_mean(self) -> float:
        """Mean candidate mass without support, over all decisions, in [0, 1].

        Where the log does not tell it, what the mean weight falls short of one.
        """
        if not self.knows_support:
            return max(0.0, 1.0 - self.mean_weight)
        unsupported = self.mean(self.sums["unsupported_part"] / UNIT)
        # A distribution may sum to a little more than 1.
        return min(1.0, unsupported)

    @property
    def mean_weight(self) -> float:
        """Mean weight of all decisions: 1 where logged probabilities are true."""
        return self.mean(self.weight_sums)

    @property
    def weight_ends(self) -> tuple[Floats, Floats]:
        """Where the weight cell of each row begins, and how wide it is."""
        low = self.grid.weight_at(self.weight_cell)
        return low, self.grid.weight_at(self.weight_cell + 1) - low

    @property
    def weight_sums(self) -> Floats:
        """The weights of each row, added up."""
        if self.is_logging:
            return self.sums["decisions"].astype(np.float64)
        low, step = self.weight_ends
        sums: Floats = low * self.sums["decisions"] + step * (
            self.sums["weight_part"] / UNIT
        )
        return sums

    def mean(self, total: Floats) -> float:
        """A mean over decisions from the sums of each row, by sampling weight."""
        v = self.sampling_weight
        return float((v * total).sum() / (v * self.sums["decisions"]).sum())
