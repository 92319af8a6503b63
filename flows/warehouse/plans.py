"""What is declared of a job's estimates, and remembered from night to night.

candidates.json   the candidates in the order in which they appeared
pairs.json        the compared pairs likewise
looks.json        of `anytime`: which horizon was declared, from which night on
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from flows.folder import Folder, digest_of
from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.plan import Looks, Plan, Subject
from flows.policies import largest_probability
from flows.warehouse import evidence
from flows.warehouse.settings import BASELINE, Job

APPEARED = "candidates.json"
PAIRS = "pairs.json"
LOOKS = "looks.json"


def settings_of(job: Job) -> str:
    """A digest of the settings by which estimates are made."""
    return digest_of(
        [(candidate.name, candidate.spec) for candidate in job.candidates],
        [job.reward_range, job.propensity_floor, job.least_sample_probability],
        asdict(replace(job.design, horizon_nights=None)),
        asdict(job.layout),
        [job.cuts, job.pairs, sorted(job.fixed_at.items()), job.timezone],
        job.doubly_robust,
        None if job.rewards is None else job.rewards.meaning,
    )


def declare(folder: Folder, job: Job, made: Sequence[dt.date]) -> Plan:
    """How the job's estimates are made; remembers what appears or is declared anew.

    A candidate that is changed under its name appears anew: each version is an
    attempt of its own, and uses a share of its own. A horizon that is declared anew
    starts new looks on the night after the newest one.

    made: the nights that were estimated.
    """
    versions = {
        (n.name, NO_OTHER): [n.name, evidence.version_of(n)] for n in job.candidates
    }
    pairs = {
        (one, other): [*versions[one, NO_OTHER], *versions[other, NO_OTHER]]
        for one, other in job.pairs
    }
    places = {**_places(folder, APPEARED, versions), **_places(folder, PAIRS, pairs)}
    largest = {
        n.name: largest_probability(n, job.layout.actions) for n in job.candidates
    }
    return build(job, _looks(folder, job, made), places, largest)


def build(
    job: Job,
    looks: tuple[Looks, ...],
    places: Mapping[Subject, int],
    largest: Mapping[str, float],
) -> Plan:
    """How the job's estimates are made, with what was remembered."""
    return Plan(
        grid=evidence.grid_of(job),
        design=job.design,
        looks=looks,
        places=places,
        logging=evidence.logging_names(job),
        baseline=BASELINE,
        knows_support=job.layout.knows_support,
        fixed_at=job.fixed_at,
        largest=largest,
    )


def declared(folder: Folder, job: Job) -> tuple[Looks, ...]:
    """The looks that were declared, oldest first; methods without any have one."""
    kept = folder.read_json(LOOKS) if job.design.used == "anytime" else None
    return tuple(
        Looks(dt.date.fromisoformat(night), horizon)
        for night, horizon in kept or [[str(dt.date.min), None]]
    )


def _looks(folder: Folder, job: Job, made: Sequence[dt.date]) -> tuple[Looks, ...]:
    """The looks that were declared, today's among them."""
    known, horizon = declared(folder, job), job.design.horizon_nights
    if job.design.used != "anytime" or known[-1].horizon_nights == horizon:
        return known
    first = max(made) + dt.timedelta(days=1) if made else dt.date.min
    # Looks that no night was made by yet were never taken.
    looks = (*(one for one in known if one.first_night < first), Looks(first, horizon))
    folder.write_json(
        [[str(one.first_night), one.horizon_nights] for one in looks], LOOKS
    )
    return looks


def _places(
    folder: Folder, name: str, versions: Mapping[Subject, list[str]]
) -> dict[Subject, int]:
    """The place of each in the order of appearance, from 1; remembers new ones."""
    appeared = folder.read_json(name) or []
    new = [version for version in versions.values() if version not in appeared]
    if new:
        appeared = [*appeared, *new]
        folder.write_json(appeared, name)
    return {subject: appeared.index(own) + 1 for subject, own in versions.items()}
