"""Bytes of a knowledge-base file to text and back, losing nothing.

UTF-8 with or without byte order mark, and UTF-16 with one, are read and written back as
they were. Anything else is refused with the offset of the first byte that does not fit:
a reader that guesses a code page turns an accent or a pound sign into another one.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from flows.knowledge.remarks import Findings

SAVE_AS_UTF8 = "Save the file as UTF-8 and read it again."


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file spells its text, and the byte order mark it begins with."""

    codec: str
    mark: bytes

    def encoded(self, text: str) -> bytes:
        """The bytes of `text`, mark included."""
        return self.mark + text.encode(self.codec)


MARKED = (
    Encoding("utf-8", codecs.BOM_UTF8),
    Encoding("utf-16-le", codecs.BOM_UTF16_LE),
    Encoding("utf-16-be", codecs.BOM_UTF16_BE),
)
UNMARKED = Encoding("utf-8", b"")


def decoded(content: bytes, findings: Findings) -> tuple[str, Encoding]:
    """The text without its mark, and how to write it again.

    Raises: KnowledgeBaseError naming the first byte that is not text, from 0.
    """
    encoding = next((e for e in MARKED if content.startswith(e.mark)), UNMARKED)
    begin = len(encoding.mark)
    try:
        text = content[begin:].decode(encoding.codec)
    except UnicodeDecodeError as error:
        offset = begin + error.start
        findings.at(content[:offset].count(b"\n") + 1).stop(
            f"byte 0x{content[offset]:02X} at offset {offset:,} is not "
            f"{encoding.codec.upper()}",
            value=content[max(begin, offset - 20) : offset + 10].decode("latin-1"),
            remedy=f"Is it code page 1252 or another one? {SAVE_AS_UTF8}",
        )
    if "\0" in text:
        at = text.index("\0")
        findings.at(text.count("\n", 0, at) + 1).stop(
            f"character {at:,} is NUL",
            remedy=f"Is it UTF-16 without a byte order mark? {SAVE_AS_UTF8}",
        )
    return text, encoding
