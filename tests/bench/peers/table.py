"""The table of a peer benchmark, from its raw records.

    python tests/bench/peers/table.py RESULTS.jsonl ... > peers.md

Seconds are medians over the rounds, with the least and the most; a ratio is that of
the two runs of one round, medians again. Memory is the largest of any round. Coverage
is the share of logs whose interval holds the truth; widths are means over the logs, as
printed by the tool and cut to what is possible (a value lies in [0, 1], an improvement
in [-1, 1]).
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

Record = dict[str, object]
POSSIBLE = {"value": (0.0, 1.0), "improvement": (-1.0, 1.0)}
# What its authors say of an interval; ours is what the report prints.
HOLDS = {
    "fixed": "at any size, one look",
    "mixture": "at any size, one look",
    "anytime": "at any size, every look",
    "compat": "at any size, one look",
    "betting": "at any size, one look",
    "gaussian": "as the log grows",
    "clopper-pearson": "not in general",
    "cressieread": "as the log grows",
    "cs": "at any size, every look",
}
NOTE = """\
Made by `python tests/bench/peers`, whose files say what is counted; the raw
measurements lie beside this table. Seconds are medians (least to most) of one interval
or pair of intervals, imports excluded. Untaken's hold reading the file and all checks;
the peers' do not hold reading, and vw-estimators checks nothing. `evaluators` is what
oloproof's own run calls, `shared` the least it could do: one reading of a decision for
both scores. `possible` is the width within the range a value or an improvement can
have. A coverage of .95 has a standard error of .011 on 400 logs and .022 on 100.
"""
# Share of the peer's time that ours may take: engine at this size, command at that.
TARGETS = {"engine": (1_000_000, 0.05), "command": (100_000, 0.02)}


def read(files: Iterable[Path]) -> list[Record]:
    """All records; a round of one file is not a round of another."""
    return [
        {**json.loads(line), "file": file.stem}
        for file in files
        for line in file.read_text().splitlines()
    ]


def markdown(records: Sequence[Record]) -> str:
    """Everything that is told, as one document."""
    return "\n".join(
        [
            "# untaken and its peers on the same files",
            "",
            *setting(records),
            "",
            *engines(records),
            "",
            *commands(records),
            "",
            *targets(records),
            "",
        ]
    )


def setting(records: Sequence[Record]) -> list[str]:
    """What was measured, on what."""
    found = of(records, "setting")
    if not found:
        return []
    versions: dict[str, str] = {}
    for record in found:
        versions |= record["versions"]
    last = found[-1]
    truth = ", ".join(f"{name} {n:.6f}" for name, n in last["truth"].items())
    absent = [peer for peer in ("oloproof", "vw-estimators") if peer not in versions]
    tools = ", ".join(f"{name} {n}" for name, n in versions.items())
    lines = [
        NOTE,
        f"- {tools}; Python {last['python']}, {last['cores']} cores",
        f"- law: 10 actions, floor {last['floor']}, true {truth}",
    ]
    return lines + [f"- absent: {', '.join(absent)}"] * bool(absent)


def engines(records: Sequence[Record]) -> list[str]:
    """One line an interval and estimand: time, memory, coverage, width."""
    timed, repeated = of(records, "engine"), of(records, "replication")
    sizes = sorted({r["decisions"] for r in timed})
    small = sorted({r["decisions"] for r in repeated})
    truth = next((r["truth"] for r in of(records, "setting")), {})
    head = ["tool", "interval", "of", "holds"]
    head += [f"s at {n:,}" for n in sizes]
    for n in sizes[-1:]:
        head += [f"processor s at {n:,}", f"MiB at {n:,}"]
    for n in small:
        head += [f"covers at {n:,}", f"width at {n:,}", f"possible at {n:,}"]
    lines = []
    for tool, asked, interval in rows(timed + repeated):
        mine = [r for r in timed if r["tool"] == tool and r["asked"] == asked]
        logs = [r for r in repeated if r["tool"] == tool and r["interval"] == interval]
        estimands = (mine or logs)[0]["found"]
        for number, estimand in enumerate(estimands):
            cells = [tool, told(interval, asked), estimand, HOLDS.get(interval, "")]
            # One run gives all estimands of a tool.
            costs = [seconds(by_size(mine, n)) for n in sizes]
            for n in sizes[-1:]:
                costs += [processor(by_size(mine, n)), memory(by_size(mine, n))]
            cells += costs if number == 0 else ["" for _ in costs]
            for n in small:
                cells += coverage(by_size(logs, n), estimand, truth[estimand])
            lines.append(cells)
    return aligned(head, lines)


def rows(records: Sequence[Record]) -> list[tuple[str, str, str]]:
    """Tool, what was asked and the interval's name, in order of appearance."""
    keys = [(r["tool"], r["asked"], r["interval"]) for r in records]
    return list(dict.fromkeys(keys))


def told(interval: str, asked: str) -> str:
    """The name of a line."""
    same = asked in {interval, "default"}
    return interval if same else f"{interval} ({asked})"


def coverage(records: Sequence[Record], estimand: str, truth: float) -> list[str]:
    """Share that holds the truth, mean width, mean width of what is possible."""
    ends = [r["found"][estimand] for r in records]
    given = [(low, high) for low, high in ends if low is not None and high is not None]
    if not given:
        return ["", "", ""]
    share = statistics.mean(low <= truth <= high for low, high in given)
    least, most = POSSIBLE[estimand]
    cut = [max(0.0, min(high, most) - max(low, least)) for low, high in given]
    none = f", {len(ends) - len(given)} without" if len(given) < len(ends) else ""
    return [
        f"{share:.3f} of {len(given)}{none}",
        f"{statistics.mean(high - low for low, high in given):.4f}",
        f"{statistics.mean(cut):.4f}",
    ]


def commands(records: Sequence[Record]) -> list[str]:
    """One line a command and size."""
    made = of(records, "command")
    head = ["command", "decisions", "s", "processor s", "MiB", "MiB left on disk"]
    lines = []
    for tool in dict.fromkeys(r["tool"] for r in made):
        for n in sorted({r["decisions"] for r in made if r["tool"] == tool}):
            mine = [r for r in by_size(made, n) if r["tool"] == tool]
            left = max(r["left_mib"] for r in mine)
            cost = processor(mine), memory(mine), f"{left:.0f}"
            lines.append([tool, f"{n:,}", seconds(mine), *cost])
    return aligned(head, lines)


def targets(records: Sequence[Record]) -> list[str]:
    """What was set out to be reached, and what was."""
    lines = []
    for kind, (size, share) in TARGETS.items():
        made = by_size(of(records, kind), size)
        for theirs in names(made, "oloproof"):
            for ours in names(made, "untaken"):
                ratios = paired(made, ours, theirs, total)
                work = paired(made, ours, theirs, lambda r: r["processor_seconds"])
                if ratios:
                    verdict = against(share, ratios, work)
                    what = f"{' '.join(ours)} against {' '.join(theirs)}"
                    lines.append(f"- {kind} at {size:,}, {what}: {verdict}")
    return lines


def against(share: float, ratios: list[float], work: list[float]) -> str:
    """The ratios of the rounds beside the share that was wanted."""
    middle = statistics.median(ratios)
    return (
        f"{middle:.2%} of the time ({min(ratios):.2%} to {max(ratios):.2%} in "
        f"{len(ratios)} rounds), {statistics.median(work):.2%} of the processor time; "
        f"at most {share:.0%} wanted: {'reached' if middle <= share else 'missed'}"
    )


def names(records: Sequence[Record], tool: str) -> list[tuple[str, ...]]:
    """What was asked of the tool."""
    return list(dict.fromkeys(name(r) for r in records if r["tool"] == tool))


def name(record: Record) -> tuple[str, ...]:
    """Tool, and what was asked of it if anything was."""
    return tuple(str(record[key]) for key in ("tool", "asked") if key in record)


def paired(
    records: Sequence[Record],
    ours: tuple[str, ...],
    theirs: tuple[str, ...],
    cost: Callable[[Record], float],
) -> list[float]:
    """Ratio of the two costs in each round that has both."""
    rounds: dict[tuple[object, ...], dict[tuple[str, ...], float]] = defaultdict(dict)
    for record in records:
        if record.get("exit_code", 0) == 0:
            rounds[record["file"], record["round"]][name(record)] = cost(record)
    return [
        times[ours] / times[theirs]
        for times in rounds.values()
        if ours in times and theirs in times
    ]


def of(records: Sequence[Record], kind: str) -> list[Record]:
    """The records of one kind."""
    return [r for r in records if r["kind"] == kind]


def by_size(records: Sequence[Record], decisions: int) -> list[Record]:
    """The records of one size."""
    return [r for r in records if r["decisions"] == decisions]


def total(record: Record) -> float:
    """Seconds of all steps."""
    steps = record["seconds"]
    return sum(steps.values()) if isinstance(steps, dict) else steps


def seconds(records: Sequence[Record]) -> str:
    """Median and range."""
    if not records:
        return ""
    times = sorted(map(total, records))
    if any(r.get("exit_code", 0) != 0 for r in records):
        return "; ".join(map(ending, records))
    middle = f"{statistics.median(times):.3g}"
    return middle if len(times) == 1 else f"{middle} ({times[0]:.3g}-{times[-1]:.3g})"


def ending(record: Record) -> str:
    """How a run ended: a signal from outside says nothing of the tool."""
    code, after = record.get("exit_code", 0), f"{total(record):.3g}"
    if record.get("is_stopped"):
        return f"over the limit of {after}"
    if code < 0:
        return f"ended from outside (signal {-code}) after {after}"
    return after if code == 0 else f"failed (exit {code}) after {after}"


def processor(records: Sequence[Record]) -> str:
    """Median of the time of all threads added."""
    if not records:
        return ""
    return f"{statistics.median(r['processor_seconds'] for r in records):.3g}"


def memory(records: Sequence[Record]) -> str:
    """Largest resident memory, and that before the first decision."""
    if not records:
        return ""
    most = max(r["peak_mib"] for r in records)
    if "start_mib" not in records[0]:
        return f"{most:.0f}"
    return f"{most:.0f} ({max(r['start_mib'] for r in records):.0f} at start)"


def aligned(head: list[str], lines: list[list[str]]) -> list[str]:
    """A Markdown table; nothing when it has no line."""
    if not lines:
        return []
    rule = ["---"] * len(head)
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *lines)]


def main() -> None:
    """Prints the table of the named files."""
    sys.stdout.write(markdown(read(map(Path, sys.argv[1:]))))


if __name__ == "__main__":
    main()
