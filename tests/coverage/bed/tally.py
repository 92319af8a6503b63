"""Replications counted: seeded one by one, in chunks that can be done in any order.

The generator of a replication comes from the setting's name and the replication's
number alone, so neither chunks nor workers nor an interruption change a result, and a
larger bed begins with the replications of a smaller one.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import zlib

import numpy as np

SEED = 20_261_130
CHUNK = 50
# Widths of peers are means over the first replications.
WITH_PEERS = 200
# How what is kept by peer is put together.
BY_PEER = {"peers": operator.add, "widest": max}


@dataclasses.dataclass
class Tally:
    """Replications of one setting and estimand.

    below, above: in how many the truth lay below or above the interval; both in one
        replication counts once in `missed`.
    width: summed over all replications.
    compared: over how many replications `own` and each of `peers` are summed.
    widest: of each peer the largest ratio of a width to that of the peer.
    """

    replications: int = 0
    missed: int = 0
    below: int = 0
    above: int = 0
    width: float = 0.0
    compared: int = 0
    own: float = 0.0
    peers: dict[str, float] = dataclasses.field(default_factory=dict)
    widest: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def covered(self):
        return self.replications - self.missed

    def count(self, found):
        """Adds what was found in one replication."""
        self.replications += 1
        self.missed += not found.is_held
        self.below += found.is_below
        self.above += found.is_above
        self.width += found.width
        if not found.peers:
            return
        self.compared += 1
        self.own += found.width
        for name, width in found.peers.items():
            self.peers[name] = self.peers.get(name, 0.0) + width
            # Without a single reward the normal interval is a point.
            ratio = found.width / width if width else 0.0
            self.widest[name] = max(self.widest.get(name, 0.0), ratio)

    def add(self, other):
        """Adds another tally of the same setting and estimand."""
        for field in dataclasses.fields(self):
            mine, more = getattr(self, field.name), getattr(other, field.name)
            if field.name in BY_PEER:
                join = BY_PEER[field.name]
                mine.update({k: join(mine.get(k, 0.0), more[k]) for k in more})
            else:
                setattr(self, field.name, mine + more)

    def against(self, peer):
        """Mean width over the mean width of a peer; not a number without it."""
        width = self.peers.get(peer, math.nan)
        return self.own / width if width else math.nan


def replication(setting, number):
    """What is found in one replication, by estimand."""
    name = zlib.crc32(f"{setting.name}, {setting.method}".encode())
    random = np.random.default_rng([SEED, name, number])
    with_peers = setting.is_compared and number < WITH_PEERS
    return setting.run(random, with_peers=with_peers)


def tallied(setting, first, last):
    """Tallies by estimand of the replications from `first` up to before `last`."""
    tallies = {}
    for number in range(first, last):
        for estimand, found in replication(setting, number).items():
            tallies.setdefault(estimand, Tally()).count(found)
    return tallies


def together(chunks):
    """Tallies by estimand of several chunks, in the order given."""
    tallies = {}
    for chunk in chunks:
        for estimand, tally in chunk.items():
            tallies.setdefault(estimand, Tally()).add(tally)
    return tallies
