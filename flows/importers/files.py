"""Files to import.

The service's folders are `<time of configuration, 14 digits>/data/yyyy/mm/dd_*.json`; a
change of configuration opens a new one and replays up to two days into it. Observations
that found no decision stand in `skipped-data` and are not looked for.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from flows.errors import LogError

# What an import leaves in its own folder, which may lie among the logs.
MANIFEST = "import.json"
PACKED = (".gz", ".zst", ".bz2", ".zip")
CONFIGURED = re.compile(r"(?:^|/)(\d{14})/data/")


def find(patterns: Iterable[str], *, endings: Sequence[str]) -> tuple[Path, ...]:
    """The files that `patterns` name, in the order of their paths, each once.

    A pattern is a file, a folder (all files below it with one of `endings`) or a glob.
    Raises: LogError naming each pattern that matches nothing, and packed files.
    """
    found: set[Path] = set()
    empty = []
    for pattern in patterns:
        path = Path(pattern)
        if path.is_dir():
            matches = [f for f in path.rglob("*") if _is_log(f, endings)]
        elif path.is_file():
            matches = [path]
        else:
            named = glob.glob(pattern, recursive=True)  # noqa: PTH207 - absolute too
            matches = [Path(name) for name in named if Path(name).is_file()]
        if not matches:
            empty.append(pattern)
        found.update(matches)
    if empty:
        kinds = ", ".join(endings)
        raise LogError(
            f"nothing to import in {', '.join(empty)}. Name files, a folder that holds "
            f"some ({kinds}) or a quoted glob that matches some."
        )
    packed = sorted(str(file) for file in found if file.suffix in PACKED)
    if packed:
        raise LogError(f"unpack these files first: {', '.join(packed)}")
    return tuple(sorted(found))


def _is_log(file: Path, endings: Sequence[str]) -> bool:
    """Whether a file of a folder is one of its logs, packed or not."""
    unpacked = file.with_suffix("") if file.suffix in PACKED else file
    return (
        unpacked.suffix in endings
        and file.name != MANIFEST
        and "skipped-data" not in file.parts
        and file.is_file()
    )


def configured_at(path: Path) -> str:
    """The time in the name of a file's configuration folder; empty without one."""
    known = CONFIGURED.search(path.as_posix())
    return known[1] if known else ""
