"""The state of one knowledge base: a folder that survives runs, and how it is written.

    state.json                      which files hold now, and the facts beside them
    NAME-DIGEST.parquet             the tables of `flows.suggestions.schema`
    knowledge/DIGEST/FILE           the knowledge-base file as it was imported
    .user-key                       secret that user ids are hashed with, mode 600
    .lock                           held while a run writes

Files are named by a digest of their content, written beside their place and renamed;
`state.json` names those that hold and is renamed last. So a change shows whole or not
at all, a run that is killed leaves the state as it was, and can be started again. What
no longer holds is removed, deleted queries with it. Nothing here comes from the clock
or from the order in which rows arrived. The secret is made once and never leaves the
folder: no report or export holds it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from flows.errors import REFUSED, UntakenError, UsageError
from flows.folder import BESIDE, holding, put, replacing
from flows.suggestions.schema import TABLES, empty, typed

VERSION = 1
MANIFEST = "state.json"
KNOWLEDGE = "knowledge"
USER_KEY = ".user-key"
ROWS = 131_072  # of a row group: fixed, for the bytes follow from it
SECRET_BYTES, IDENTITY_DIGITS = 32, 12
ATTEMPTS = 5  # of a reader whose files a run replaced meanwhile


class StateError(UntakenError):
    """The state folder cannot be used as it is."""

    exit_code = REFUSED


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state at one instant: facts, and the tables that were asked for.

    identity: of the state (`State.identity`).
    """

    facts: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame]
    identity: str = ""

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.tables[name]

    @property
    def name(self) -> str:
        """The knowledge base's name."""
        return str(self.facts["name"])

    @property
    def as_of(self) -> datetime | None:
        """The instant of the last cycle."""
        text = self.facts.get("as_of")
        return None if text is None else datetime.fromisoformat(text)


class State:
    """A state folder; it is made when something is first kept."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def load(self, *names: str) -> Snapshot:
        """The tables `names` as they stand together at one instant.

        Raises: StateError when no knowledge base was imported yet, or files cannot be
        read.
        """
        for attempt in range(ATTEMPTS):
            manifest = self._manifest()
            if "name" not in manifest["facts"]:
                raise StateError(
                    f"{self.root} holds no knowledge base yet; import its file first"
                )
            try:
                tables = {name: self._table(manifest, name) for name in names}
            except FileNotFoundError:
                if attempt == ATTEMPTS - 1:
                    raise StateError(
                        f"{self.root} lacks files that its {MANIFEST} names; restore "
                        "the folder from a copy"
                    ) from None
            else:
                return Snapshot(manifest["facts"], tables, self.identity())
        raise AssertionError  # the last attempt returns or raises

    def facts(self) -> dict[str, Any]:
        """What is known beside the tables; empty before the first import."""
        return dict(self._manifest()["facts"])

    def scan(self, name: str) -> pl.LazyFrame:
        """A table to be read piece by piece, by whoever holds the folder."""
        file = self._manifest()["tables"].get(name)
        if file is None:
            return empty(name).lazy()
        with self._reading(self.root / file):
            scanned = pl.scan_parquet(self.root / file, glob=False)
            scanned.collect_schema()
        return scanned

    def knowledge_file(self) -> Path:
        """The knowledge-base file as it was imported.

        Raises: StateError when there is none yet.
        """
        return self.root / KNOWLEDGE / str(self.load().facts["knowledge"])

    def commit(
        self,
        tables: Mapping[str, pl.DataFrame],
        facts: Mapping[str, Any] | None = None,
        *,
        knowledge: tuple[str, bytes] | None = None,
    ) -> None:
        """Makes tables and facts hold, all at once; the others stay.

        knowledge: name and content of the knowledge-base file.
        Raises: StateError when the folder cannot be written to.
        """
        manifest = self._manifest()
        with self.writing():
            for name, frame in tables.items():
                manifest["tables"][name] = self._write_table(name, frame)
            manifest["facts"] |= facts or {}
            if knowledge is not None:
                manifest["facts"]["knowledge"] = self._write_knowledge(*knowledge)
            text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False)
            with replacing(self.root / MANIFEST) as beside:
                beside.write_text(text + "\n", encoding="utf-8")
            self._sweep(manifest)

    @contextmanager
    def alone(self, *, is_waiting: bool = False) -> Iterator[None]:
        """Holds the folder for this run.

        is_waiting: until another run has let it go. Raises: UsageError where it is not,
        and another run holds it; StateError when the folder cannot be written to.
        """
        with ExitStack() as held:
            with self.writing():
                held.enter_context(holding(self.root, is_waiting=is_waiting))
                self._sweep(self._manifest())
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A block that writes to the folder. Raises: StateError where it cannot."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            yield
        except OSError as error:
            raise StateError(
                f"cannot keep the suggestions in {self.root}: {error.strerror}. Name a "
                "folder that can be written to"
            ) from None

    def user_key(self) -> bytes:
        """The secret that user ids are hashed with; made on the first call.

        Raises: StateError when it is gone though hashes made with it are kept.
        """
        path = self.root / USER_KEY
        if not path.exists():
            users = self.scan("signals").select(pl.col("user").count()).collect()
            if users.item():
                raise StateError(
                    f"{path} is gone, and without it nobody's queries can be told "
                    "from another's; restore it from a copy of the folder"
                )
            with self.writing():
                self._make_user_key(path)
        with self._reading(path):
            secret = bytes.fromhex(path.read_text(encoding="ascii"))
            if len(secret) != SECRET_BYTES:
                raise ValueError(f"{len(secret)} bytes of {SECRET_BYTES}")
        return secret

    def identity(self) -> str:
        """What tells this state from any other, whatever becomes of it.

        A digest of its secret, which it does not give away. Empty before the first run.
        """
        if not (self.root / USER_KEY).exists():
            return ""
        named = b"state:" + self.user_key()
        return hashlib.sha256(named).hexdigest()[:IDENTITY_DIGITS]

    def _make_user_key(self, path: Path) -> None:
        """Of two runs that make one at once, the first to link it wins."""
        beside = path.with_name(f"{USER_KEY}-{secrets.token_hex(8)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(beside, flags, 0o600), "w", encoding="ascii") as opened:
            opened.write(secrets.token_hex(SECRET_BYTES))
            opened.flush()
            os.fsync(opened.fileno())
        try:
            os.link(beside, path)
        except FileExistsError:
            return
        finally:
            beside.unlink()

    def _manifest(self) -> dict[str, Any]:
        path = self.root / MANIFEST
        if not path.exists():
            return {"version": VERSION, "facts": {}, "tables": {}}
        with self._reading(path):
            manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if manifest.get("version") != VERSION:
            raise StateError(
                f"{path} is of version {manifest.get('version')!r}, and this program "
                f"reads version {VERSION}; use the program that wrote it"
            )
        return manifest

    def _table(self, manifest: dict[str, Any], name: str) -> pl.DataFrame:
        file = manifest["tables"].get(name)
        if file is None:
            return empty(name)
        # Read into memory: the file may be replaced while its rows are in use.
        with self._reading(self.root / file):
            return pl.read_parquet((self.root / file).read_bytes())

    @contextmanager
    def _reading(self, path: Path) -> Iterator[None]:
        """A block that reads a file. Raises: StateError, or what a file lacks."""
        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            told = error.strerror if isinstance(error, OSError) else error
            raise StateError(
                f"{path} cannot be read ({told}); restore the folder from a copy"
            ) from None

    def _write_table(self, name: str, frame: pl.DataFrame) -> str:
        beside = self.root / f".{name}{BESIDE}"
        typed(frame, name).rechunk().write_parquet(
            beside, compression="zstd", compression_level=1, row_group_size=ROWS
        )
        file = f"{name}-{_digest(beside)}.parquet"
        put(beside, self.root / file)
        return file

    def _write_knowledge(self, name: str, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()[:16]
        path = self.root / KNOWLEDGE / digest / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside:
            beside.write_bytes(content)
        return f"{digest}/{name}"

    def _sweep(self, manifest: dict[str, Any]) -> None:
        """Removes what no longer holds, and what a killed run left."""
        held = set(manifest["tables"].values())
        for name in TABLES:
            for file in self.root.glob(f"{name}-*.parquet"):
                if file.name not in held:
                    file.unlink(missing_ok=True)
        for name in (*TABLES, MANIFEST):
            (self.root / f".{name}{BESIDE}").unlink(missing_ok=True)
        digest = manifest["facts"].get("knowledge", "").split("/")[0]
        for folder in (self.root / KNOWLEDGE).glob("*"):
            if folder.name != digest:
                shutil.rmtree(folder, ignore_errors=True)


def instant(at: datetime) -> datetime:
    """`at` in UTC. Raises: UsageError when it names no zone."""
    if at.tzinfo is None:
        raise UsageError(f"the time {at.isoformat()} names no zone; give one in UTC")
    return at.astimezone(UTC)


def _digest(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()[:16]
