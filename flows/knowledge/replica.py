"""The replica of a knowledge base: a ZIP archive with its TSV file and settings.

The questions stand in `QnAs.tsv`; exports of the successor name that file after the
project, so it is the one TSV file beside `Settings.tsv` and `Synonyms.tsv`. A setting
is a line, name and value, or a column, name over value; `EnableActiveLearning` says
whether the service collects suggestions, `Language` which language the questions are
in. Synonyms and unstructured texts are carried along.

An archive whose TSV file does not change is written as it was found, byte for byte.
In one whose TSV file does, all files keep order, time and attributes, and the others
their content.
"""

from __future__ import annotations

import copy
import io
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from flows.knowledge.encodings import decoded
from flows.knowledge.pairs import Settings
from flows.knowledge.remarks import Findings
from flows.knowledge.tsv import BOOLEANS, lines_of

MARK = b"PK"
QNAS = "qnas.tsv"
SETTINGS = "settings.tsv"
SYNONYMS = "synonyms.tsv"
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError),
    *(NotImplementedError, RuntimeError),  # unknown compression; a password
)


@dataclass(frozen=True, slots=True)
class Replica:
    """An archive that was read.

    archive: its bytes. member, sheet: name and bytes of the TSV file in it.
    """

    archive: bytes
    member: str
    sheet: bytes
    settings: Settings

    def written(self, sheet: bytes) -> bytes:
        """The archive with `sheet` for its TSV file."""
        if sheet == self.sheet:
            return self.archive
        buffer = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(self.archive)) as found,
            zipfile.ZipFile(buffer, "w") as archive,
        ):
            archive.comment = found.comment
            for entry in found.infolist():
                is_sheet = entry.filename == self.member
                content = sheet if is_sheet else found.read(entry)
                archive.writestr(copy.copy(entry), content)
        return buffer.getvalue()


def read_replica(archive: bytes, findings: Findings) -> Replica:
    """Opens the bytes of a replica and reads its settings.

    Raises: KnowledgeBaseError when it is no replica; other problems are collected.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            entries = opened.infolist()
            files = {entry.filename: opened.read(entry) for entry in entries}
    except _UNREADABLE as error:
        findings.at().stop(
            f"the archive cannot be read: {error}", remedy="Export it again."
        )
    if len(files) < len(entries):
        findings.at().problem(
            "two files of the archive have one name", remedy="Export it again."
        )
    member = _member(list(files), findings)
    settings = Settings()
    for name, content in files.items():
        if _base(name) == SETTINGS:
            settings = _settings(content, findings.inside(name))
    return Replica(archive, member, files[member], settings)


def _base(name: str) -> str:
    return PurePosixPath(name).name.casefold()


def _member(names: Sequence[str], findings: Findings) -> str:
    """The name of the file that holds the questions."""
    tables = [
        name
        for name in names
        if _base(name).endswith(".tsv") and _base(name) not in (SETTINGS, SYNONYMS)
    ]
    found = [name for name in tables if _base(name) == QNAS] or tables
    if len(found) != 1:
        findings.at().stop(
            "this is not a replica, with one TSV file of questions, by its files",
            value=", ".join(names),
            remedy="Export the knowledge base as TSV, or its replica with TSV files.",
        )
    return found[0]


def _settings(content: bytes, findings: Findings) -> Settings:
    """What `Settings.tsv` says about learning and language."""
    text, _ = decoded(content, findings)
    rows = [line.cells for line in lines_of(text)]
    if rows and len(rows[0]) > 2:  # noqa: PLR2004 - more than a name and a value
        rows = list(zip(*rows[:2], strict=False))
    found = {row[0].strip().casefold(): row[1].strip() for row in rows if len(row) > 1}
    learning = found.get("enableactivelearning", "").casefold()
    if learning not in BOOLEANS:
        findings.at(column="EnableActiveLearning").problem(
            "neither True nor False", remedy="Write one of them.", value=learning
        )
    return Settings(
        is_learning_enabled=learning == "true" if learning else None,
        language=found.get("language") or None,
    )
