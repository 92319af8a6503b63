"""The report: one document a night, shown as a page, as Markdown and as JSON.

`build` turns the facts of a night into the document; `html`, `markdown` and `to_json`
write it. All four are pure: the same facts give the same bytes.
"""

from __future__ import annotations

from flows.reports.content import build, to_json
from flows.reports.markdown import markdown
from flows.reports.night import NightFacts
from flows.reports.page import html

__all__ = ["NightFacts", "build", "html", "markdown", "to_json"]
