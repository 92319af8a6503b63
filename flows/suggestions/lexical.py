"""The engine `lexical`: groups by weighted n-grams, without a model, in any language.

It finds restatements (repeats, typing errors, word order, shared rare words), not
paraphrases. `Settings` were chosen on one half of the intents of public labelled sets;
what they give on the other half stands in tests/bench/results/suggestions_quality.md,
beside the whole curve of margins. Vectors: `flows.suggestions.vectors`; groups:
`flows.suggestions.clusters`.
"""

from __future__ import annotations

from dataclasses import dataclass

from flows.suggestions.clusters import Thresholds
from flows.suggestions.engine import Engine
from flows.suggestions.vectors import lexical_vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Thresholds):
    """Thresholds on cosines of lexical vectors; the fields are told in `Thresholds`."""

    margin: float = 0.07
    margin_with_bot: float = 0.10
    bot_bonus: float = 0.20
    rejected_weight: float = 0.40
    own_threshold: float = 0.05
    given_threshold: float = 0.40
    near_copy: float = 0.90


DEFAULTS = Settings()


def engine(settings: Settings = DEFAULTS) -> Engine:
    """The engine with these settings."""
    return Engine(lexical_vectors, settings)
