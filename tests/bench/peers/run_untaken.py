"""untaken: the public `evaluate`, one candidate that stands in the log as a column.

INTERVAL is a method, or `default` for the one `evaluate` chooses. The one step holds
everything a user waits for: reading the file, all checks, counting, both intervals.
"""

from __future__ import annotations

import clock

from flows.offpolicy import evaluate


def run(interval: str, log: str, floor: float, timed: clock.Clock) -> clock.Run:
    """Value and improvement by one method."""
    chosen = {} if interval == "default" else {"method": interval}
    with timed.step("evaluate"):
        made = evaluate(
            log,
            candidates=["column:candidate"],
            reward_range=clock.REWARD_RANGE,
            floor=floor,
            confidence=clock.CONFIDENCE,
            **chosen,
        )
    candidate = made.candidates[0]
    found = {
        "value": (candidate.value.lower, candidate.value.upper),
        "improvement": (candidate.improvement.lower, candidate.improvement.upper),
    }
    return clock.Run(made.profile.decisions, candidate.value.method, found)


if __name__ == "__main__":
    clock.drive(run)
