"""What an import did, whether it is accepted, and how its folder is written.

The share of rejected lines is taken over the lines that could have held a decision:
markers, blank lines and observations without a decision count on neither side.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.errors import LogError, UsageError, counted
from flows.folder import WORK, replacing
from flows.importers.files import MANIFEST

DECISIONS = "decisions"
REJECTS = "rejects.parquet"
REFUSED = "rejects-refused.parquet"
MAX_REJECT_SHARE = 0.05
# Lines that no decision could have stood in.
NO_DECISIONS = ("blank line", "marker", "dangling observation")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why lines became no decision: `outcome` is skipped or rejected."""

    outcome: str
    reason: str
    line_count: int


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of the lines.

    lines: all that were read. decisions: rows of the log, one a slot.
    reasons: of the lines that became none. days: as ISO dates, in order.
    notes: what a reader should know of the log as a whole.
    """

    out: Path
    lines: int
    decisions: int
    reasons: tuple[Reason, ...]
    days: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def skipped(self) -> int:
        """Lines that hold no decision that counts."""
        return self._sum("skipped")

    @property
    def rejected(self) -> int:
        """Lines that are wrong or of a kind that cannot be used."""
        return self._sum("rejected")

    @property
    def kept(self) -> int:
        """Lines that became decisions."""
        return self.lines - self.skipped - self.rejected

    @property
    def reject_share(self) -> float:
        """The rejected among the lines that could have held a decision, in [0, 1]."""
        without = sum(r.line_count for r in self.reasons if r.reason in NO_DECISIONS)
        return self.rejected / max(self.lines - without, 1)

    def count(self, reason: str) -> int:
        """How many lines were set aside for a reason."""
        return sum(r.line_count for r in self.reasons if r.reason == reason)

    def text(self) -> str:
        """What is printed: counts by reason, then the notes."""
        head = (
            f"{counted(self.decisions, 'decision')} from {counted(self.kept, 'line')}"
        )
        lines = [f"{head} of {self.lines:,}, in {self.out}"]
        lines += [
            f"  {r.outcome:<9}{r.line_count:>9,}  {r.reason}" for r in self.reasons
        ]
        return "\n".join([*lines, *self.notes])

    def require(self, *, max_reject_share: float) -> None:
        """Raises: LogError past the limit, or when no line became a decision."""
        listed = f"Every line and its reason: {self.out / REFUSED}"
        if self.reject_share > max_reject_share:
            raise LogError(
                f"{self.rejected:,} of {self.lines:,} lines were rejected, a share of "
                f"{self.reject_share:.4f}, above --max-reject-share "
                f"{max_reject_share:g}; nothing was imported.\n{self.text()}\n{listed}"
            )
        if self.kept == 0:
            raise LogError(
                f"no decisions: none of {counted(self.lines, 'line')} became one; "
                f"nothing was imported.\n{self.text()}\n{listed}"
            )

    def _sum(self, outcome: str) -> int:
        return sum(r.line_count for r in self.reasons if r.outcome == outcome)


@contextmanager
def writing(
    out: Path, files: Sequence[Path], *, is_own: bool = False
) -> Iterator[Path]:
    """A folder beside what stands in `out`; `publish` moves it there.

    Raises: UsageError when `out` holds something else than an import of these files:
    an import replaces what was there, and must not replace what it did not read. A
    folder of the caller's own, `is_own`, may hold whatever there was.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not is_own:
            _require_same(out, files)
        with tempfile.TemporaryDirectory(prefix=WORK, dir=out) as work:
            yield Path(work)
    except OSError as error:
        raise UsageError(f"cannot write to {out}: {error.strerror or error}") from None


def publish(
    work: Path,
    made: Imported,
    *,
    form: str,
    files: Sequence[Path],
    settings: Mapping[str, Any],
) -> None:
    """Renames what was written in `work` onto its places, the log first."""
    out = made.out
    place, replaced = out / DECISIONS, work / "replaced"
    if place.exists():
        place.replace(replaced)
    try:
        (work / DECISIONS).replace(place)
    except BaseException:
        if replaced.exists():
            replaced.replace(place)
        raise
    (work / REJECTS).replace(out / REJECTS)
    (out / REFUSED).unlink(missing_ok=True)
    manifest = {
        "form": form,
        "files": [_named(file) for file in files],
        "settings": settings,
        "lines": made.lines,
        "decisions": made.decisions,
        "reasons": {r.reason: r.line_count for r in made.reasons},
    }
    text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False)
    with replacing(out / MANIFEST) as beside:
        beside.write_text(text + "\n", encoding="utf-8")


def _require_same(out: Path, files: Sequence[Path]) -> None:
    try:
        known = json.loads((out / MANIFEST).read_text(encoding="utf-8"))["files"]
    except FileNotFoundError:
        if (out / DECISIONS).exists():
            raise UsageError(
                f"{out / DECISIONS} exists and no import wrote it; name another folder"
            ) from None
        return
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{out / MANIFEST} cannot be read; remove it first") from None
    missing = {*known} - {_named(file) for file in files}
    if missing:
        raise UsageError(
            f"{out} holds an import of {counted(len(missing), 'file')} not read now, "
            f"such as {min(missing)}, and would be replaced; name another folder"
        )


def _named(file: Path) -> str:
    """How a manifest names a file: its absolute path."""
    return os.path.abspath(file)  # noqa: PTH100 - no link is followed
