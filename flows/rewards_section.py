"""`[rewards]` of a job file: rewards that come in a table of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from flows.rewards import Aggregation, Factor, Rewards
from flows.section import Patterns, Section


class FactorSection(Section):
    """A factor of a reward: a weight, and where events do not name it a condition."""

    weight: Annotated[float, Field(allow_inf_nan=False)] = 1.0
    condition: str | None = None
    group: str | None = None


class RewardsSection(Section):
    """`[rewards]`: rewards that come in a table of their own (`flows.rewards`)."""

    events: Annotated[Patterns, Field(min_length=1)]
    wait_seconds: float
    default: float | None = None
    aggregation: Aggregation = "earliest"
    factors: dict[str, FactorSection] = {}
    columns: dict[str, str] = {}
    activations: Patterns = []
    activation_columns: dict[str, str] = {}
    deferred: bool = False
    reward_activates: bool = False
    backward_seconds: float = 120.0
    load_delay_seconds: float = 0.0
    clip: bool = False
    negative_is_intended: bool = False
    naive_is_utc: bool = False

    def settings(self, reward_range: tuple[float, float], base: Path) -> Rewards:
        """What is declared, of rewards in a range and files relative to `base`.

        Raises: UsageError with everything that cannot be meant.
        """
        given = self.model_dump(exclude={"events", "activations", "factors"})
        return Rewards(
            events=tuple(self.events),
            activations=tuple(self.activations),
            factors=tuple(
                Factor(name, **factor.model_dump())
                for name, factor in self.factors.items()
            ),
            reward_range=reward_range,
            base=base,
            **given,
        )
