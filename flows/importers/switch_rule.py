"""The rule by which the retired service exchanged its policy for a candidate.

    candidate value > online value  and  candidate lower > online lower

where `lower` is the lower end of a two-sided 95 % interval of each value by itself (the
service's was a normal one; its exact formula is not public). It tests no improvement:
the intervals may overlap as they like, and of two policies that are equally good it
exchanges about every second time it looks. What tests it is a paired interval of the
improvement that lies above 0.

Source: the service's documentation of automatic optimisation.
"""

from __future__ import annotations

import math


def would_switch(
    *,
    candidate_value: float,
    candidate_lower: float,
    online_value: float,
    online_lower: float,
) -> bool:
    """Whether the service would have exchanged the online policy for the candidate.

    All four in units of reward; values and lower ends of the same window. False where
    any is NaN, as for a candidate without support. Raises: ValueError for a lower end
    above its value.
    """
    for value, lower in (
        (candidate_value, candidate_lower),
        (online_value, online_lower),
    ):
        if lower > value:
            raise ValueError(f"lower end {lower!r} above the value {value!r}")
    if math.isnan(candidate_lower) or math.isnan(online_lower):
        return False
    return candidate_value > online_value and candidate_lower > online_lower
