"""Worlds that move, in the mode that is declared for them: night by night.

    adaptive  the logging policy of a night leans to what paid on earlier nights
    reacting  it is reconsidered within the night, by an adversary: wherever the
              estimate so far lies above the truth, the heavier weights are logged
    drifting  mean rewards move over the nights, by context, and drop on weekends

The truth of a night is the running average over all decisions so far, so an interval
of every night is held against a truth of its own (validity.md 5c and 11).
"""

from __future__ import annotations

import dataclasses

import numpy as np
from bed import laws
from bed.drawing import Drawn, cells, draw
from bed.looks import OF_ONE, judged, of_counts, policies
from bed.peers import CONFIDENCE

from flows.offpolicy.methods import Design, Window

MODES = {"adaptive": "adaptive", "reacting": "reacting", "drifting": "fixed"}
PARTS_OF_A_NIGHT = 4
CONTEXTS = 3
TEMPERATURE = 0.1


def base():
    """What the worlds start from."""
    return laws.usual(contexts=CONTEXTS)


def watched(world, nights, a_night, *, estimands=OF_ONE, looks=None):
    """A run that looks at every night, or at some, of a world."""
    design = Design(
        "anytime", CONFIDENCE, MODES[world], is_drifting=world == "drifting"
    )

    def run(random, *, with_peers=False):  # noqa: ARG001 - as all runs
        drawn, logging, truths = history(world, random, nights, a_night)
        found = {}
        for estimand in estimands:
            counted = cells(
                base(),
                drawn,
                policies(base(), estimand),
                day=drawn.row,
                block=np.zeros_like(drawn.row),
                logging=logging,
            )
            seen = None
            for look in looks or range(1, nights + 1):
                window = Window(0, look, is_from_start=True)
                so_far = counted.where(drawn.row < look)
                made = of_counts(so_far, estimand, design, window)
                one = judged(made, truths[estimand][look - 1])
                seen = one if seen is None else seen.also(one)
            found[estimand] = seen
        return found

    return run


def history(world, random, nights, a_night):
    """Decisions with night in the place of row, their logging probabilities, and the
    running averages by estimand, shape (nights,).
    """
    parts = PARTS_OF_A_NIGHT if world == "reacting" else 1
    start, state = base(), State()
    heavy = laws.dirichlet(np.random.default_rng(laws.SEED), start.floor, CONTEXTS)
    drawn, logging, truths = [], [], []
    for night in range(nights):
        for _ in range(parts):
            law = start
            if world == "drifting":
                law = dataclasses.replace(law, pays=moved(law.pays, night))
            elif world == "adaptive":
                law = dataclasses.replace(law, logging=state.learned(law.floor))
            elif state.surplus > 0:
                law = dataclasses.replace(law, logging=heavy)
            new = draw(law, random, [a_night // parts])
            state.see(law, new, start)
            drawn.append(dataclasses.replace(new, row=np.full_like(new.row, night)))
            logging.append(law.logging[new.context])
        truths.append([law.truth(estimand) for estimand in state.names])
    running = np.cumsum(truths, axis=0) / np.arange(1, nights + 1)[:, None]
    together = Drawn(
        *(np.concatenate(arrays) for arrays in zip(*map(fields, drawn), strict=True))
    )
    by_name = dict(zip(state.names, running.T, strict=True))
    return together, np.concatenate(logging), by_name


def fields(drawn):
    """The arrays of drawn decisions, in order."""
    return vars(drawn).values()


def moved(pays, night):
    """Mean rewards of a night."""
    slow = 1.0 + 0.5 * np.sin(night / 8.0) * np.array([1.0, -1.0, 0.5])
    weekday = 0.5 if night % 7 > 4 else 1.0
    return np.clip(pays * (slow * weekday)[:, None], 0.0, 1.0)


class State:
    """What a logging policy has seen."""

    names = ("value", "improvement", "difference")

    def __init__(self):
        self.taken = np.ones((CONTEXTS, laws.ACTIONS))
        self.paid = np.full((CONTEXTS, laws.ACTIONS), 0.5)
        self.surplus = 0.0

    def see(self, law, new, start):
        """Adds decisions; `surplus`: by how much the estimate exceeds the truth."""
        where = new.context, new.action
        np.add.at(self.taken, where, new.count)
        np.add.at(self.paid, where, new.count * new.reward)
        weight = start.candidates[0][where] / law.logging[where]
        self.surplus += float(new.count @ (weight * new.reward - start.values[0]))

    def learned(self, floor):
        """A logging policy that leans to what paid."""
        lean = np.exp(self.paid / self.taken / TEMPERATURE)
        share = lean / lean.sum(axis=1, keepdims=True)
        return floor + (1.0 - laws.ACTIONS * floor) * share
