"""The two off-policy criteria under the names that 001 gives them.

A criterion is declared once (reward range, floor, where a system puts its
probabilities) and applied to logs. Its interval is that of `evaluate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from flows.offpolicy.estimate import Estimate
from flows.offpolicy.evaluate import evaluate
from flows.offpolicy.methods import Method
from flows.policies import parse


@dataclass(frozen=True, slots=True)
class OffPolicyValue:
    """The candidate's mean reward on decisions like those logged.

    reward_range: lowest and highest reward, by design.
    propensity_floor: least logging probability of any action the candidate may take,
        by design, in (0, 1].
    probabilities_field: where `row:module:function` candidates put their probabilities.
    """

    reward_range: tuple[float, float]
    propensity_floor: float
    probabilities_field: str = "probabilities"

    estimand: ClassVar[str] = "value"

    def evaluate(
        self,
        log: str | Path | Sequence[str | Path],
        candidate: str,
        *,
        context: Sequence[str] = (),
        method: Method | None = None,
        confidence: float = 0.95,
    ) -> Estimate:
        """The estimate of one candidate, a SPEC. Raises what `evaluate` raises."""
        found = evaluate(
            log,
            candidates=[parse(candidate, probabilities_field=self.probabilities_field)],
            reward_range=self.reward_range,
            floor=self.propensity_floor,
            context=context,
            method=method,
            confidence=confidence,
        )
        return found.candidates[0].finding.of(self.estimand)


@dataclass(frozen=True, slots=True)
class OffPolicyImprovement(OffPolicyValue):
    """The candidate's mean reward minus the logging policy's own."""

    estimand: ClassVar[str] = "improvement"
