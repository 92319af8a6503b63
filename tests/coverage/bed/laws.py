"""Laws that logs are drawn from: contexts, ten actions, rewards, and what goes missing.

Logging probabilities are a floor plus the rest by a Dirichlet law; a candidate takes
one action of each context with .9 more than the others. A law is finite but for
rewards between 0 and 1, so every truth is a sum.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

ACTIONS = 10
GREEDY = 0.9
# The two parameters of the Beta law of a reward add up to this: deviation near .2.
BETA = 5.0
SEED = 20_261_204


@dataclasses.dataclass(frozen=True, eq=False)
class Law:
    """Probabilities of everything that happens to a decision; equal only to itself.

    logging, pays: shape (contexts, actions), of being taken and the mean reward;
        contexts are equally likely.
    candidates: shape (candidates, contexts, actions).
    is_continuous: rewards have a Beta law, else they are 0 or 1.
    lost: shape (contexts, actions, 2), that a reward of 0 or 1 never arrives.
    kept: shape (2,), that a decision rewarded with 0 or 1 is kept in the log.
    """

    floor: float
    logging: np.ndarray
    candidates: np.ndarray
    pays: np.ndarray
    is_continuous: bool = False
    lost: np.ndarray | None = None
    kept: np.ndarray | None = None

    @property
    def is_complete(self):
        """Whether every decision is logged with its reward and full support."""
        is_lossless = self.lost is None and self.kept is None
        return is_lossless and bool((self.logging >= self.floor).all())

    @property
    def values(self):
        """Mean reward of each candidate."""
        return (self.candidates * self.pays).sum(axis=(1, 2)) / len(self.pays)

    @property
    def logged(self):
        """Mean reward of the logging policy."""
        return float((self.logging * self.pays).sum() / len(self.pays))

    @property
    def second_moment(self):
        """Mean squared weight of each candidate."""
        squares = (self.candidates**2 / self.logging).sum(axis=(1, 2))
        return squares / len(self.pays)

    def truth(self, estimand, one=0, other=1):
        """The true answer about candidate `one`, or about it against `other`."""
        against = {"value": 0.0, "improvement": self.logged}
        if estimand == "difference":
            against["difference"] = float(self.values[other])
        return float(self.values[one]) - against[estimand]


def greedy(liked):
    """Policies that take one action of each context with .9 more than the others."""
    return (1.0 - GREEDY) / ACTIONS + GREEDY * np.eye(ACTIONS)[liked]


def dirichlet(random, floor, contexts):
    """A logging policy with a floor; at one tenth it is uniform."""
    rest = max(0.0, 1.0 - ACTIONS * floor)
    return floor + rest * random.dirichlet(np.ones(ACTIONS), contexts)


@functools.cache
def usual(*, floor=0.05, mean=0.5, contexts=8, candidates=2, is_continuous=False):
    """Complete data. The first candidate takes the best action, others take any."""
    random = np.random.default_rng([SEED, round(floor * 1e3), contexts])
    logging = dirichlet(random, floor, contexts)
    deviation = random.uniform(-0.4, 0.4, logging.shape)
    pays = np.clip(mean + min(mean, 1.0 - mean) * deviation, 0.0, 1.0)
    liked = random.integers(0, ACTIONS, (candidates, contexts))
    liked[0] = pays.argmax(axis=1)
    return Law(floor, logging, greedy(liked), pays, is_continuous)


@functools.cache
def near():
    """The candidate takes the best action a little more often than the log does."""
    law = usual(contexts=4)
    best = np.eye(ACTIONS)[law.pays.argmax(axis=1)]
    return dataclasses.replace(
        law, candidates=np.stack([0.9 * law.logging + 0.1 * best, law.logging])
    )


@functools.cache
def hidden():
    """What the candidate takes less often loses rewards of 1, what it takes more often
    rewards of 0: the decisions that keep their reward flatter it.
    """
    law = usual(contexts=4)
    is_more = law.candidates[0] > law.logging
    lost = np.where(is_more[..., None], [0.6, 0.0], [0.0, 0.6])
    return dataclasses.replace(law, lost=lost)


@functools.cache
def gaps():
    """In half of the contexts the first candidate likes an action below the floor,
    which pays nothing.
    """
    law = usual(contexts=4, mean=0.9)
    logging, pays, candidates = (
        array.copy() for array in (law.logging, law.pays, law.candidates)
    )
    half = slice(0, len(logging) // 2)
    logging[half, 0] = 0.01
    logging[half, 1:] = 0.99 / (ACTIONS - 1)
    pays[half, 0] = 0.0
    candidates[0, half] = greedy(np.zeros(len(logging) // 2, dtype=int))
    return dataclasses.replace(law, logging=logging, candidates=candidates, pays=pays)


@functools.cache
def sampled():
    """Of decisions rewarded with 0 one in five is kept in the log."""
    return dataclasses.replace(usual(contexts=4), kept=np.array([0.2, 1.0]))


@functools.cache
def hidden_gaps():
    """Lost rewards and mass without support at once."""
    return dataclasses.replace(gaps(), lost=hidden().lost)
