"""What every estimate assumes, and what of it was checked.

Four assumptions go along with each number (001, "what the answer assumes"): none of
them can be proven from a log, and some leave traces that can be looked for.
"""

from __future__ import annotations

from dataclasses import dataclass

from flows.offpolicy.estimate import Finding
from flows.offpolicy.methods import CONSTANT_MEAN, RUNNING_AVERAGE, Design

CHECKED = "checked"
CANNOT = "cannot be checked"
NO_CONTRADICTION = "no contradiction at error 0.001"
EMPTY = "an interval is empty, which true probabilities cannot make it"


# What intervals assume of the logging policy and of the mean reward.
KEPT = {
    CONSTANT_MEAN: "assumed: fixed logging and a constant mean reward",
    RUNNING_AVERAGE: "not assumed: the interval is about the average over the window, "
    "whatever the logging policy and the rewards did",
}


@dataclass(frozen=True, slots=True)
class Assumption:
    """One assumption, whether it was checked, and what the check found."""

    assumption: str
    status: str
    finding: str


def assumptions(
    finding: Finding,
    contradiction: str | None,
    design: Design,
    *,
    first: str | None,
    last: str | None,
) -> tuple[Assumption, ...]:
    """The four assumptions behind an estimate.

    contradiction: how the mean weight rules out the logged probabilities, if it does.
    first, last: when the decisions were made; None in a log without times.
    """
    diagnostics, expected = finding.diagnostics, "at most 1: support is not logged"
    if diagnostics.expected_mean_weight is not None:
        expected = f"{diagnostics.expected_mean_weight:.4g}"
    weights = f"mean weight {diagnostics.mean_weight:.4g}, expected {expected}"
    if contradiction is None and finding.is_withheld:
        contradiction = EMPTY
    dates = f"from {first} to {last}" if first and last else "in the order given"
    return (
        Assumption(
            "The probabilities were logged when the decision was made, and are those "
            "it was drawn with.",
            CANNOT if finding.is_logging else CHECKED,
            "the weights of the policy that ran are 1 whatever was logged"
            if finding.is_logging
            else f"{weights}; all decisions: {contradiction or NO_CONTRADICTION}",
        ),
        Assumption(
            "A decision's reward depends on its own context and action only.",
            CANNOT,
            "follows from how decisions are made, not from the log",
        ),
        Assumption(
            "The logging policy kept its probabilities over the window.",
            CANNOT,
            KEPT[design.assumes],
        ),
        Assumption(
            "The answer is about decisions like those logged.",
            CANNOT,
            f"decisions {dates}",
        ),
    )
