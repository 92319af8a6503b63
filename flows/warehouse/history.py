"""Which evidence each night rests on: of every day the newest that the night knows.

A day whose rewards became known over several nights has a version for each of them
(`flows.warehouse.judging`); other days have one.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect
from collections.abc import Mapping

from flows.warehouse.days import Day
from flows.warehouse.evidence import Keys


class History:
    """The versions of all days, with what names the evidence of each."""

    def __init__(self, keys: Mapping[Day, Keys]) -> None:
        """keys: of every version of every day up to the newest night."""
        self._versions = sorted(
            keys.items(), key=lambda one: (one[0].day, one[0].known_from)
        )
        self.days = [d for d, _ in self._versions if d.known_from == d.day]
        self.nights = [day.day for day in self.days]
        self._changes = sorted(
            {day.known_from for day in keys if day.known_from > day.day}
        )

    def at(self, night: dt.date) -> dict[dt.date, Keys]:
        """The days up to a night, oldest first."""
        return {
            day.day: keys
            for day, keys in self._versions
            if day.day <= night and day.known_from <= night
        }

    def new_at(self, night: dt.date) -> dict[dt.date, Keys]:
        """The days of which a night is the first to know this version."""
        return {
            day.day: keys for day, keys in self._versions if day.known_from == night
        }

    def epoch(self, night: dt.date) -> int:
        """Nights of one epoch rest on the same version of each day they share."""
        return bisect(self._changes, night)
