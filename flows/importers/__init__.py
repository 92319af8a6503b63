"""Logs of a retired decision service and of other tools, as canonical decision logs.

An importer reads files of another form and leaves, in a folder of its own:

    decisions/day=*/part-0.parquet   the log, a folder a UTC day
    rejects.parquet                  every line that became no decision, and why
    untaken.toml                     a start of a job file, when there was none
    import.json                      which files were read, and what came of them

A line is kept, skipped (it holds no decision that counts: a marker, an observation
without its decision, an event that was never shown, the same line again) or rejected;
the three add up to the lines that were read. Past a declared share of rejected lines
nothing is imported. Everything is written beside and renamed at the end.
"""

from __future__ import annotations

from flows.importers.dsjson import ENDINGS as DSJSON_ENDINGS
from flows.importers.dsjson import dsjson
from flows.importers.fb import ENDINGS as FB_ENDINGS
from flows.importers.fb import fb
from flows.importers.files import find
from flows.importers.jsonl import ENDINGS as JSONL_ENDINGS
from flows.importers.jsonl import jsonl
from flows.importers.messages import LearningMode
from flows.importers.outcome import Imported
from flows.importers.table import ENDINGS as TABLE_ENDINGS
from flows.importers.table import table

__all__ = [
    "DSJSON_ENDINGS",
    "FB_ENDINGS",
    "JSONL_ENDINGS",
    "TABLE_ENDINGS",
    "Imported",
    "LearningMode",
    "dsjson",
    "fb",
    "find",
    "jsonl",
    "table",
]
