"""Templates of pages: one way to read them, in which a missing value is an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2


def template(
    file: Path, filters: Mapping[str, Callable[[str], Any]]
) -> jinja2.Template:
    """The template of a file; whatever is put into it is escaped."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= filters
    return environment.from_string(file.read_text(encoding="utf-8"))
