"""Prefect's own local server, started by us and gone when its parent is gone.

Prefect would start one by itself: slower, and left behind with 220 MB when the parent
is killed, because only an `atexit` hook ends it (Prefect 3.9.1,
`prefect.server.api.server.SubprocessASGIServer`).

**Before the import.** Prefect reads the environment once, at its import, and keeps
what it read (`prefect.context.GLOBAL_SETTINGS_CONTEXT`). So `starting` is entered
first, and the import runs while the server comes up:

    with server.starting(home) as prefect_server:
        from flows.nightly import nightly  # imports Prefect
        prefect_server.wait()
        nightly(...)

In a process that has imported Prefect already, its settings are read again (levels of
logging are not). At the end the environment is restored; Prefect keeps the settings.
Inherited `PREFECT_*` are dropped: a shell set up for another server must not receive
the night. `settings` lists what stands in their place; for anything else a
`prefect.toml` in the current folder still counts. Loopback is exempt from proxies.

**Silence.** Prefect logs the traceback of every error that leaves a task or a flow,
expected ones too, at ERROR, and the troubles of its own threads through a logger with
a level of its own: both are set to CRITICAL. Nothing is logged to the API. The import
starts no thread; the first flow starts three daemon threads that last as long as the
process: two event loops and the queue of `EventsWorker`, which reports states of tasks
over a websocket. It is drained before the server ends, which it comments on through a
logger outside Prefect's; at the end of the interpreter it would find no server.

**The end.** The child's standard input is a pipe, and the parent holds the only other
end. When the parent closes it, or dies of whatever cause, the child reads end-of-file
and leaves at once: one path for every end. States of flows and artifacts are in the
database by then; states of tasks and other events may lack the last fraction of a
second. The child has a session of its own, so that Ctrl-C reaches the parent alone.

**The start.** The parent binds a free port of 127.0.0.1 and hands over the socket, so
nobody takes the port in between. `wait` asks `/api/health` and watches the child. A
first start creates the database: 8 s on two quiet cores, 67 s seen on busy ones. A
child that ends early is started once more; when its application did not come up, with
its database moved aside (`*.broken`), since a damaged one is beyond repair here. Two
private settings of Prefect, which is pinned, keep the child small:
`PREFECT__SERVER_EPHEMERAL` (no service for other processes), `PREFECT__SERVER_FINAL`.

**One run a home.** Two servers that create one database at once break it. A lock on
the home is held until the server is gone; a second command says that it waits.

The child runs this file by its path, with `-P`, and imports nothing of `flows`: what
the current folder holds, and how untaken is installed, make no difference to it.
"""

from __future__ import annotations

import fcntl
import http.client
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

DATABASE = "prefect.db"
DATABASE_URL = f"sqlite+aiosqlite:///{DATABASE}"  # from the home: nothing to quote
BLOCKS = "memo_store.toml"  # says which database already knows which blocks
LOG = "server.log"
LOCK = "server.lock"
HOST = "127.0.0.1"
APPLICATION = "prefect.server.api.server:create_app"
STARTUP_FAILED = 3  # uvicorn: the application did not come up
POLL_SECONDS = 0.05
DRAIN_SECONDS = 10.0
LEAVE_SECONDS = 5.0
TAIL_LINES = 15


@contextmanager
def running(home: Path, *, timeout_seconds: float = 120) -> Iterator[str]:
    """`starting` and `Server.wait` in one; yields the URL of the API."""
    with starting(home, timeout_seconds=timeout_seconds) as server:
        yield server.wait()


@contextmanager
def starting(home: Path, *, timeout_seconds: float = 120) -> Iterator[Server]:
    """A server that is coming up: import Prefect, then `wait`, then run flows.

    home: folder of the database, the log and the lock; made when it is not there.
    timeout_seconds: how long another run may hold the home, and again how long one
        start may take.

    Raises: UsageError when another run holds the home for longer than that.
    """
    home = home.absolute()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with held(home, timeout_seconds) as lock, socket.socket() as listener:
        listener.bind((HOST, 0))
        url = f"http://{HOST}:{listener.getsockname()[1]}/api"
        with environment(settings(home, url)):
            server = Server(home, url, listener, lock, timeout_seconds)
            try:
                yield server
            finally:
                drain_events()
                server.close()


@dataclass
class Server:
    """The child process and what it inherits; made by `starting`."""

    home: Path
    url: str
    listener: socket.socket
    lock: int
    timeout_seconds: float

    def __post_init__(self) -> None:
        (self.home / LOG).unlink(missing_ok=True)
        self.child = self._start()

    def wait(self) -> str:
        """Waits until the server answers and returns the URL of its API.

        Raises: UntakenError, with the end of the log, when it does not come up.
        """
        if not self._comes_up():
            if self.child.returncode == STARTUP_FAILED:
                move_aside(self.home)
            self.close()
            self.child = self._start()
            if not self._comes_up():
                code = self.child.returncode
                raise self._failure(f"ended twice, at last with code {code}")
        self.listener.close()
        return self.url

    def close(self) -> None:
        """Ends the child, and kills it when it does not leave."""
        assert self.child.stdin is not None  # noqa: S101 - a pipe was asked for
        self.child.stdin.close()
        try:
            self.child.wait(LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        fd = self.listener.fileno()
        private = {"PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}
        with (self.home / LOG).open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - this file, by this interpreter
                [sys.executable, "-P", __file__, str(fd)],
                env=os.environ | private,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[fd, self.lock],
                start_new_session=True,
            )

    def _comes_up(self) -> bool:
        """Whether the server answers; False when the child has ended instead."""
        deadline = time.monotonic() + self.timeout_seconds
        while time.monotonic() < deadline:
            if self.child.poll() is not None:
                return False
            if answers(self.listener.getsockname()[1]):
                return True
            time.sleep(POLL_SECONDS)
        raise self._failure(f"did not answer within {self.timeout_seconds:.0f} s")

    def _failure(self, what: str) -> Exception:
        from flows.errors import UntakenError

        log = self.home / LOG
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        tail = "\n".join(lines[-TAIL_LINES:]) or "(nothing; is the disk full?)"
        return UntakenError(f"Prefect's server {what}. The end of {log}:\n{tail}")


def settings(home: Path, url: str) -> dict[str, str]:
    """The environment in which Prefect runs, in the parent and in the child."""
    known = (os.environ.get("NO_PROXY"), os.environ.get("no_proxy"), HOST)
    exempt = ",".join(filter(None, known))
    return {
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": url,
        "PREFECT_API_DATABASE_CONNECTION_URL": DATABASE_URL,
        "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
        "PREFECT_SERVER_UI_ENABLED": "false",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        "PREFECT_INTERNAL_LOGGING_LEVEL": "CRITICAL",
        "DO_NOT_TRACK": "1",
        "NO_PROXY": exempt,
        "no_proxy": exempt,
    }


@contextmanager
def environment(names: dict[str, str]) -> Iterator[None]:
    """`os.environ` with `names` and no other setting of Prefect, for the block."""

    def ours() -> list[str]:
        return [n for n in os.environ if n in names or n.upper().startswith("PREFECT_")]

    inherited = {name: os.environ.pop(name) for name in ours()}
    os.environ.update(names)
    context = sys.modules.get("prefect.context")
    if context is not None:
        context.refresh_global_settings_context()
    try:
        yield
    finally:
        for name in ours():
            del os.environ[name]
        os.environ.update(inherited)


@contextmanager
def held(home: Path, timeout_seconds: float) -> Iterator[int]:
    """The lock on `home`, as a file descriptor for the child to inherit."""
    deadline = time.monotonic() + timeout_seconds
    with (home / LOCK).open("a+", encoding="utf-8") as lock:
        user = ""
        while not locked(lock.fileno()):
            if not user:
                lock.seek(0)
                user = f"another run (process {lock.read()}) is using {home}"
                sys.stderr.write(f"untaken: {user}; waiting for its end\n")
            if time.monotonic() > deadline:
                from flows.errors import UsageError

                raise UsageError(f"{user}, still after {timeout_seconds:.0f} s")
            time.sleep(POLL_SECONDS)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield lock.fileno()


def locked(fd: int) -> bool:
    """Whether the lock could be taken."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def move_aside(home: Path) -> None:
    """Leaves `home` without a database; the broken one stays beside it."""
    (home / BLOCKS).unlink(missing_ok=True)
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            (home / f"{DATABASE}{ending}").replace(home / f"{DATABASE}.broken{ending}")


def answers(port: int) -> bool:
    """Whether the server on `port` says that it is healthy."""
    with closing(http.client.HTTPConnection(HOST, port, timeout=5)) as connection:
        try:
            connection.request("GET", "/api/health")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False


def drain_events() -> None:
    """Sends what Prefect's worker still holds, where there is such a worker."""
    worker = sys.modules.get("prefect.events.worker")
    if worker is not None:
        logging.getLogger("EventsWorker").setLevel(logging.CRITICAL)
        worker.EventsWorker.drain_all(timeout=DRAIN_SECONDS)


def leave_with_parent() -> None:
    """Ends this process when standard input does."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(0)


def serve(fd: int) -> None:
    """The child: serves Prefect's API on the socket `fd`."""
    threading.Thread(target=leave_with_parent, daemon=True).start()
    os.chdir(os.environ["PREFECT_HOME"])  # no prefect.toml of the caller's folder
    import uvicorn

    config = uvicorn.Config(APPLICATION, factory=True, log_level="error", lifespan="on")
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=fd)])


if __name__ == "__main__":
    serve(int(sys.argv[1]))
