"""The log of a decision service, imported anew whenever a file of it changed.

    imported/decisions/day=*/   the log
    imported/rejects.parquet    lines that became no decision, and why
    imported/key.json           a digest of all that it was imported from

All files are imported together, since a line that repeats another or an observation
shows only beside the rest (`flows.importers.dsjson`). Days whose content comes out the
same are not read again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from flows import importers
from flows.decisions import find
from flows.folder import Folder, digest_of, digest_of_file
from flows.importers import DSJSON_ENDINGS
from flows.warehouse.settings import Job

IMPORTED = "imported"
KEY = "key.json"
VERSION = 1


def log_files(
    folder: Folder, job: Job, advance: Callable[[], None] = lambda: None
) -> tuple[str, ...]:
    """The Parquet files of a job's log.

    advance: called after each file that is imported.
    Raises: LogError for patterns that match nothing, and for a log that cannot be
    imported; the one imported before then stays.
    """
    service = job.service
    if service is None:
        return find(job.log, base=job.base)
    patterns = [str(job.base / pattern) for pattern in job.log]
    files = importers.find(patterns, endings=DSJSON_ENDINGS)
    contents = [(file.name, digest_of_file(file)) for file in files]
    key = digest_of(VERSION, asdict(service), job.layout.context, contents)
    if folder.read_json(IMPORTED, KEY) != key:
        importers.dsjson(
            files,
            folder.path(IMPORTED, KEY).parent,
            learning_mode=service.learning_mode,
            reward_path=service.reward_path,
            context=job.layout.context,
            max_reject_share=service.max_reject_share,
            is_own=True,
            advance=advance,
        )
        folder.write_json(key, IMPORTED, KEY)
    return find([str(folder.path(IMPORTED, "decisions"))])
