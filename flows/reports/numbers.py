"""How numbers are written: rounded to what their interval supports, never tightened.

An interval is shown with two significant digits of its width, its ends rounded outward,
so that a reader never sees a narrower interval than the one that holds. The end of an
improvement that is not 0 is never shown as 0: it takes as many digits as its sign
needs. Estimates take the
digits of their interval. Numbers of the document itself keep 12 significant digits,
which is more than any method claims and fewer than summation order can change.

Rewards in [0, 1] are shown per 100 decisions, all others per decision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

SIGNIFICANT_DIGITS = 12
WIDTH_DIGITS = 2
LONE_DIGITS = 3
MOST_DECIMALS = 12
MINUS = "\N{MINUS SIGN}"
UNIT_RANGE = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Unit:
    """What one shown number counts.

    scale: shown number over the reward per decision.
    phrase: "per 100 decisions" or "per decision".
    span: highest less lowest reward, per decision.
    """

    scale: int
    phrase: str
    span: float = 1.0


def unit_of(reward_range: tuple[float, float]) -> Unit:
    """The unit in which rewards of this range are shown."""
    if tuple(reward_range) == UNIT_RANGE:
        return Unit(100, "per 100 decisions")
    lowest, highest = reward_range
    return Unit(1, "per decision", highest - lowest)


def canonical(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The same JSON value with stable floats: 12 significant digits, no -0, no NaN."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}") + 0.0
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class Shown:
    """Two ends and an estimate, rounded for reading."""

    lower: Decimal
    upper: Decimal
    estimate: Decimal | None

    @property
    def is_point(self) -> bool:
        """Whether both ends are the same number."""
        return self.lower == self.upper


def shown(
    lower: float,
    upper: float,
    estimate: float | None,
    unit: Unit,
    *,
    sign: bool = True,
    places: int = 0,
) -> Shown:
    """An interval in its unit, ends outward, with two digits of its width.

    lower <= upper, both finite, in rewards per decision. sign: whether the sign of an
    end says something, so that it must not be rounded to 0. places: decimals to show
    at least.
    """
    low, high = exact(lower, unit), exact(upper, unit)
    places = max(places, decimals(low, high))
    round_end = outward if sign else rounded
    return Shown(
        lower=round_end(low, places, ROUND_FLOOR),
        upper=round_end(high, places, ROUND_CEILING),
        estimate=None
        if estimate is None
        else rounded(exact(estimate, unit), places, ROUND_HALF_EVEN),
    )


def exact(number: float, unit: Unit) -> Decimal:
    """The document's number in the unit, without binary residue."""
    return Decimal(repr(canonical(float(number)))) * unit.scale


def decimals(low: Decimal, high: Decimal) -> int:
    """How many decimals an interval supports."""
    width = high - low
    if width > 0:
        places = WIDTH_DIGITS - 1 - width.adjusted()
    elif low:
        places = LONE_DIGITS - 1 - low.adjusted()
    else:
        places = 0
    return min(max(places, 0), MOST_DECIMALS)


def outward(number: Decimal, places: int, direction: str) -> Decimal:
    """Rounds away from the interval; a number other than 0 keeps its sign."""
    result = rounded(number, places, direction)
    while number and not result and places < MOST_DECIMALS:
        places += 1
        result = rounded(number, places, direction)
    return result


def rounded(number: Decimal, places: int, direction: str) -> Decimal:
    """The number with this many decimals; 0 carries no sign."""
    result = number.quantize(Decimal(1).scaleb(-places), rounding=direction)
    return result or abs(result)


def plain(number: Decimal) -> str:
    """Digits with a real minus sign and thousands separators."""
    return f"{number:,f}".replace("-", MINUS)


def lone(number: float) -> str:
    """A number of the job file, as it stands there."""
    return f"{number:,.12g}".replace("-", MINUS)


def signed(number: Decimal) -> str:
    """As `plain`, with a plus sign in front of numbers above 0."""
    return f"+{plain(number)}" if number > 0 else plain(number)


def ends(pair: Shown, *, sign: bool) -> str:
    """Both ends in words: "0.12 to 0.48"; one number when they are the same."""
    write = signed if sign else plain
    if pair.is_point:
        return write(pair.lower)
    return f"{write(pair.lower)} to {write(pair.upper)}"


def difference(pair: Shown, noun: str) -> str:
    """An improvement in words, as it stands after "would earn".

    noun: what is counted, for instance "reward per 100 decisions".
    """
    low, high = pair.lower, pair.upper
    if low == high == 0:
        return f"exactly as much {noun}"
    if low >= 0:
        return f"{span(low, high)} more {noun}"
    if high <= 0:
        return f"{span(-high, -low)} less {noun}"
    return f"between {plain(-low)} less and {plain(high)} more {noun}"


def span(low: Decimal, high: Decimal) -> str:
    """Two ends without a sign, or the one number they share."""
    return plain(low) if low == high else f"{plain(low)} to {plain(high)}"


def percent(share: float, places: int = 1) -> str:
    """A share in [0, 1] as percent; what is neither none nor all never reads so."""
    number = exact(share, Unit(100, ""))
    least = Decimal(1).scaleb(-places)
    if 0 < number < least:
        return f"less than {plain(least)} %"
    if 100 - least < number < 100:  # noqa: PLR2004 - percent
        return f"more than {plain(100 - least)} %"
    text = plain(rounded(number, places, ROUND_HALF_EVEN))
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def significant(number: float, digits: int = LONE_DIGITS) -> str:
    """A number that has no interval, to a few significant digits."""
    value = Decimal(f"{number:.{digits}g}")
    if not value:
        return "0"
    places = min(max(digits - 1 - value.adjusted(), 0), MOST_DECIMALS)
    return plain(rounded(value, places, ROUND_HALF_EVEN))
