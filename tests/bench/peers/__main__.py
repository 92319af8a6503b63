"""untaken beside its peers on the same Parquet files: time, memory, width, coverage.

    python tests/bench/peers [--python INTERPRETER] [--method fixed compat ...]

oloproof and vw-estimators are the extra `bench`; `--python` names an interpreter that
has them (and polars, which reads the files) when this one has not. A peer that is
absent is named and left out. Three parts, each left out by its option without a number:

    engines       `--decisions`, `--rounds`: from a log to the interval, imports
                  excluded on every side, each interval in a process of its own, in
                  turn: A B C, A B C ... What is counted stands in `run_untaken.py`,
                  `run_oloproof.py` and `run_vw.py`.
    replications  `--replications 2000:400 20000:100`: intervals of all tools on the
                  same 400 logs of 2,000 decisions and 100 of 20,000, against the known
                  truth (`law.py`); untaken's by the public `evaluate`, as everywhere
    commands      `--commands`, `--command-rounds`: `untaken evaluate` and
                  `oloproof run` from start to exit, in turn

Writes every measurement as a JSON line (`--out`, by default results/peers.jsonl beside
this folder) and the table made of all such files there (`table.py`). The whole takes
about an hour on two quiet cores, most of it oloproof's command.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import children
import table
from children import Engine, Record

RESULTS = Path(__file__).parents[1] / "results" / "peers.jsonl"
TABLE = "peers.md"


class Bench:
    """Logs in a scratch folder, the tools that are there, the results file."""

    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        self.options = options
        self.scratch = scratch
        self.versions = self._versions()
        (self.warm_up,), self.truth = self.logs(1_000, 1)
        self.floor = self.truth.pop("floor")
        self.keep(
            "setting",
            [
                {
                    "versions": self.versions,
                    "truth": self.truth,
                    "floor": self.floor,
                    "python": platform.python_version(),
                    "cores": os.cpu_count(),
                }
            ],
        )

    def _versions(self) -> dict[str, str]:
        found = {}
        for tool in self.options.only:
            version = children.version_of(tool, self._python(tool))
            wanted = children.PEERS.get(tool, version)
            if version is None:
                say(f"{tool} {wanted} is not there: left out")
                continue
            if version != wanted:
                say(f"{tool} is {version}; its runner was written for {wanted}")
            found[tool] = version
        return found

    def _python(self, tool: str) -> str:
        """The interpreter that has the tool."""
        return sys.executable if tool == "untaken" else self.options.python

    @property
    def engines(self) -> list[Engine]:
        """Every interval of every tool that is there."""
        asked = {"untaken": tuple(self.options.method), **children.INTERVALS}
        return [
            Engine(tool, one, self._python(tool))
            for tool in self.versions
            for one in asked[tool]
        ]

    def logs(self, decisions: int, number: int) -> tuple[list[Path], dict[str, float]]:
        """So many logs of that size, and the truth."""
        folder = self.scratch / f"{decisions}-{number}"
        law = str(children.HERE / "law.py")
        said = children.ask(
            sys.executable, law, str(folder), str(decisions), str(number)
        )
        return sorted(folder.glob("*.parquet")), json.loads(said)

    def keep(self, kind: str, records: list[Record]) -> None:
        """Adds records to the results file at once: a long run may be cut short."""
        made = [{"kind": kind, **record} for record in records]
        with self.options.out.open("a") as file:
            file.writelines(json.dumps(record) + "\n" for record in made)

    def run_engines(self, decisions: int) -> None:
        """Every engine once a round, on one log."""
        log, _ = self.logs(decisions, 1)
        for turn in range(self.options.rounds):
            for engine in self.engines:
                made = engine.lines(log, warm_up=self.warm_up, floor=self.floor)
                self.keep("engine", [{"round": turn, **line} for line in made])
                say(f"engine {engine.tool} {engine.asked}, {decisions:,}", made)

    def run_replications(self, decisions: int, number: int) -> None:
        """Every interval on the same logs."""
        logs, _ = self.logs(decisions, number)
        for engine in self.engines:
            if engine.asked != "evaluators":  # the same interval as "shared", slower
                made = engine.lines(logs, warm_up=self.warm_up, floor=self.floor)
                self.keep("replication", made)
                say(f"{number} logs {engine.tool} {engine.asked}, {decisions:,}")

    def run_commands(self, decisions: int) -> None:
        """The commands once a round, on one log."""
        (log,), _ = self.logs(decisions, 1)
        for turn in range(self.options.command_rounds):
            for tool, line, folder in self._commands(log, f"{decisions}-{turn}"):
                home = self.scratch / "home"
                home.mkdir(exist_ok=True)
                given = mib_of(folder)
                made = children.command(
                    line, folder=folder, home=home, limit=self.options.limit
                )
                made |= {"tool": tool, "round": turn, "decisions": decisions}
                self.keep("command", [{**made, "left_mib": mib_of(folder) - given}])
                shutil.rmtree(folder)
                say(f"command {tool}, {decisions:,}: {made['seconds']:.1f} s")

    def _commands(self, log: Path, name: str) -> Iterator[tuple[str, list[str], Path]]:
        """Tool, command line and the folder to run it in."""
        if "untaken" in self.versions:
            folder = self.scratch / f"untaken-{name}"
            folder.mkdir()
            line = [str(children.UNTAKEN), "evaluate", str(log)]
            line += ["--candidate", "column:candidate", "--reward-range", "0", "1"]
            line += ["--floor", str(self.floor)]
            method = self.options.method[0]
            yield "untaken", line + ["--method", method] * (method != "default"), folder
        if "oloproof" in self.versions:
            folder = self.scratch / f"oloproof-{name}"
            project = str(children.HERE / "project.py")
            children.ask(
                sys.executable, project, str(log), str(folder), str(self.floor)
            )
            line = [self.options.python, "-m", "oloproof_cli", "run"]
            yield "oloproof", line, folder


def say(text: str, made: list[Record] = ()) -> None:
    """Tells what was done."""
    seconds = [sum(line["seconds"].values()) for line in made]
    sys.stderr.write(f"{text}{''.join(f': {n:.2f} s' for n in seconds)}\n")


def mib_of(folder: Path) -> float:
    """Size of everything in the folder."""
    return sum(n.stat().st_size for n in folder.rglob("*") if n.is_file()) / 2**20


def sizes(text: str) -> tuple[int, int]:
    """DECISIONS:LOGS."""
    decisions, _, logs = text.partition(":")
    return int(decisions), int(logs)


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="tests/bench/peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--python", default=sys.executable, help="the interpreter with the peers")
    tools = list(children.RUNNERS)
    add("--only", nargs="+", choices=tools, default=tools, help="these tools")
    add("--method", nargs="+", default=["default"], help="of untaken; the first runs")
    add("--decisions", type=int, nargs="*", default=[100_000, 1_000_000])
    add("--rounds", type=int, default=5)
    add("--replications", type=sizes, nargs="*", default=[(2_000, 400), (20_000, 100)])
    add("--commands", type=int, nargs="*", default=[10_000, 100_000])
    add("--command-rounds", type=int, default=3)
    add("--limit", type=float, default=3_600.0, help="seconds a command may take")
    add("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    # Commands run in folders of their own; a link is how an environment is known.
    options.python = str(
        Path(shutil.which(options.python) or options.python).absolute()
    )
    return options


def main() -> None:
    """Runs what was asked for."""
    options = parsed()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("")
    with tempfile.TemporaryDirectory(prefix="peers-") as scratch:
        bench = Bench(options, Path(scratch))
        for decisions in options.decisions:
            bench.run_engines(decisions)
        for decisions, number in options.replications:
            bench.run_replications(decisions, number)
        for decisions in options.commands:
            bench.run_commands(decisions)
    told = table.markdown(table.read(sorted(options.out.parent.glob("*.jsonl"))))
    (options.out.parent / TABLE).write_text(told)
    sys.stdout.write(told)


if __name__ == "__main__":
    main()
