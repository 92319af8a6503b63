"""`[suggestions]` of a job file: what users asked, and what is shown of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from flows.section import Patterns, Section

Cosine = Annotated[float, Field(ge=0, le=1)]


class EmbeddingSection(Section):
    """`[suggestions.embedding]`: sentence embeddings in place of words.

    Cosines differ from model to model, so every threshold is given
    (`flows.suggestions.clusters.Thresholds`).
    """

    function: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]
    margin: Cosine
    margin_with_bot: Cosine
    bot_bonus: Cosine
    rejected_weight: Cosine
    own_threshold: Cosine
    given_threshold: Cosine
    near_copy: Cosine


class SuggestionsSection(Section):
    """`[suggestions]`: a knowledge base, what users asked, and what is shown of it."""

    knowledge_base: str
    questions: Patterns = []
    feedback: Patterns = []
    score_unit: Literal[1, 100] = 100
    minimum: Annotated[int, Field(ge=1)] = 5
    minimum_users: Annotated[int, Field(ge=1)] = 1
    strict: bool = False
    offers: Annotated[int, Field(ge=1)] = 2
    retention_days: Annotated[int, Field(ge=1)] | None = None
    margin: Annotated[float, Field(ge=0, lt=1)] | None = None
    aims_at: Annotated[float, Field(gt=0, lt=1)] | None = None
    learns_anyway: bool = False
    embedding: EmbeddingSection | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> SuggestionsSection:
        if not self.questions and not self.feedback:
            raise ValueError("name the files of questions, of feedback, or both")
        if self.embedding is not None and (self.margin or self.aims_at) is not None:
            raise ValueError(
                "margin and aims_at are about the words' engine; an embedding has a "
                "margin of its own"
            )
        return self
