"""Tools as processes of their own: which are there, their engines, their commands.

A runner (`run_*.py`) imports before it measures. A command is measured whole, start-up
included on both sides, from its start to its exit. This process stays small: the peak
memory of a child starts at its parent's.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
UNTAKEN = Path(sysconfig.get_path("scripts")) / "untaken"
# The version a runner was written for; another one is measured and named.
PEERS = {"oloproof": "0.1.0a20", "vw-estimators": "0.2.2"}
INTERVALS = {
    "oloproof": ("evaluators", "shared"),
    "vw-estimators": ("gaussian", "clopper-pearson", "cressieread", "cs"),
}
RUNNERS = {
    "untaken": "run_untaken.py",
    "oloproof": "run_oloproof.py",
    "vw-estimators": "run_vw.py",
}
VERSION = "import polars; from importlib import metadata as m; print(m.version({!r}))"
Record = dict[str, object]


@dataclasses.dataclass(frozen=True)
class Engine:
    """One interval of one tool, as its runner is asked for it."""

    tool: str
    asked: str
    python: str

    def lines(
        self, logs: Sequence[Path], *, warm_up: Path, floor: float
    ) -> list[Record]:
        """What the runner measured on each log; the whole bench ends if it fails."""
        script = str(HERE / RUNNERS[self.tool])
        arguments = [self.asked, str(floor), str(warm_up), *map(str, logs)]
        load = os.getloadavg()[0]
        printed = ask(self.python, script, *arguments)
        return [
            {"tool": self.tool, "asked": self.asked, "load": load, **json.loads(line)}
            for line in printed.splitlines()
        ]


def ask(python: str, *arguments: str) -> str:
    """The output of a Python process that must succeed."""
    made = subprocess.run(
        [python, *arguments], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        sys.exit(f"{Path(arguments[0]).name} {arguments[1]} failed:\n{made.stderr}")
    return made.stdout


def version_of(tool: str, python: str) -> str | None:
    """The version installed for that interpreter, or None (polars is needed too)."""
    if shutil.which(python) is None:
        return None
    made = subprocess.run(
        [python, "-c", VERSION.format(tool)],
        capture_output=True,
        text=True,
        check=False,
    )
    return made.stdout.strip() if made.returncode == 0 else None


def command(line: list[str], *, folder: Path, home: Path, limit: float) -> Record:
    """Seconds, peak memory and exit code of a command; killed when it passes `limit`.

    home: the home folder it sees, since oloproof keeps a key there.
    """
    load = os.getloadavg()[0]
    with tempfile.TemporaryFile() as said:
        start = os.times().elapsed
        process = subprocess.Popen(
            line,
            cwd=folder,
            env={**os.environ, "HOME": str(home)},
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        ended = threading.Timer(limit, process.kill)
        ended.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = os.times().elapsed - start
        is_stopped = not ended.is_alive()
        ended.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0 and not is_stopped:
            said.seek(0)
            sys.stderr.write(said.read().decode())
    return {
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_mib": usage.ru_maxrss / 1024,
        "exit_code": process.returncode,
        "is_stopped": is_stopped,
        "load": load,
    }
