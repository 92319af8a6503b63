"""What a job file asks of suggestions, as frozen settings."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path

from flows.folder import digest_of
from flows.places import results_of
from flows.suggestions.embed import Settings as Embedding
from flows.suggestions.schema import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionJob:
    """The section `[suggestions]` of a job file.

    base: the job file's folder, from which relative paths start.
    knowledge_base: its file. questions, feedback: patterns of the files of logged
        questions and of feedback records, relative to `base`.
    score_unit: what logged scores count to, 1 or 100.
    rules: what a suggestion needs to be shown.
    margin: least margin of a text the engine assigns; None: the engine's own.
    aims_at: the share of accepted texts that the margin is set for, from reviews; None:
        it stays as it is.
    learns_anyway: whether a file that switches learning off is overridden.
    embedding: the engine `embed` with its thresholds; None: the engine `lexical`.
    """

    name: str
    base: Path
    knowledge_base: Path
    questions: tuple[str, ...]
    feedback: tuple[str, ...]
    score_unit: int
    rules: Rules
    margin: float | None = None
    aims_at: float | None = None
    learns_anyway: bool = False
    embedding: Embedding | None = None

    @property
    def results(self) -> Path:
        """The folder the job writes to."""
        return results_of(self.base, self.name)

    @property
    def state(self) -> Path:
        """The folder of the state."""
        return self.results / "suggestions"

    def files(self, *patterns: str) -> list[Path]:
        """The files of some patterns, each once, sorted within a pattern."""
        found: dict[Path, None] = {}
        for pattern in patterns:
            names = glob.glob(pattern, root_dir=self.base, recursive=True)  # noqa: PTH207 - patterns may be absolute
            found.update((self.base / name, None) for name in sorted(names))
        return list(found)

    @property
    def digest(self) -> str:
        """Of the settings, for the record of a run."""
        return digest_of(str(self))
