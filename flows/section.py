"""What sections of a job file share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Section(BaseModel):
    """A section: frozen, and without keys nobody asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _listed(patterns: Any) -> Any:  # noqa: ANN401 - what stands in the file
    return [patterns] if isinstance(patterns, str) else patterns


Patterns = Annotated[list[str], BeforeValidator(_listed)]
