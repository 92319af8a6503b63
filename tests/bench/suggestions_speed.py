"""Groups of up to a million queries, beside normalising and deduplicating them.

    python tests/bench/suggestions_speed.py [--rounds 3] [--largest 1000000]

The queries are the labelled questions of BANKING77, asked as often as Zipf's law says
(exponent 1), a fifth with a greeting, a fifth in other case, a seventh with one typing
error; each names its pair, as a log with scores does. Two settings: spread over the 77
labels, and all on one pair. Two parts, each in a process of its own, in turn:

    pool      reads the queries, makes keys and groups them, in polars
    engine    the same, then the engine `lexical`

Processor seconds of the process without imports, all threads; the largest memory of the
process; the ratio is taken in each round. Writes results/suggestions_speed.json and
.md beside this file; about ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).parent
DATA = HERE.parent / "golden" / "data" / "questions" / "banking77.parquet"
NAME = "suggestions_speed"
GREETINGS = ("hi ", "hello, ", "hey there ", "good morning ")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHARES = {"greeting": 1 / 5, "case": 1 / 5, "error": 1 / 7}
MIB = 1024  # kibibytes
# What is wanted: ratio to the pool, memory, one pair against many.
RATIO, MEMORY, ONE_PAIR = 10, 700, 3
TITLE = "# Suggestions: processor time and memory of the engine lexical"
INTRODUCTION = """\
Made by `python tests/bench/suggestions_speed.py`, which tells what is counted.
`pool` normalises the queries and groups them by pair and key, in polars; `engine` does
that and groups the keys. Processor seconds, medians over rounds that take both in turn;
seconds by the clock and memory hang on what else the machine does."""
HEAD = (
    "| queries | pairs | keys | groups | of five | pool, s | engine, s | ratio | "
    "engine, s by the clock | MiB at most |"
)


def queries(count: int, *, one_pair: bool) -> pl.DataFrame:
    """Texts with their pair."""
    rng = np.random.default_rng(count)
    rows = pl.read_parquet(DATA).select(
        "text", qna_id=pl.col("intent").rank("dense").cast(pl.Int64)
    )
    weights = 1 / rng.permutation(np.arange(1, rows.height + 1))
    which = rng.choice(rows.height, size=count, p=weights / weights.sum())
    texts = rows["text"].to_list()
    chance = rng.random((count, 3))
    number = rng.integers(0, 1 << 30, (count, 3))
    made = []
    for place, row in enumerate(which):
        text = texts[row]
        if chance[place, 2] < SHARES["error"]:
            at = number[place, 2] % len(text)
            text = text[:at] + LETTERS[number[place, 1] % 26] + text[at + 1 :]
        if chance[place, 0] < SHARES["greeting"]:
            text = GREETINGS[number[place, 0] % len(GREETINGS)] + text
        if chance[place, 1] < SHARES["case"]:
            text = text.upper() if number[place, 0] % 2 else text.lower()
        made.append(text)
    pairs = pl.lit(1, pl.Int64) if one_pair else rows["qna_id"][which]
    return pl.DataFrame({"text": made}).with_columns(qna_id=pairs)


def pooled(file: str) -> pl.DataFrame:
    """Queries of a file as the pool that the engine takes."""
    from flows.suggestions.texts import key

    return (
        pl.scan_parquet(file)
        .with_columns(key=key(pl.col("text")))
        .group_by("qna_id", "key")
        .agg(auto_count=pl.len().cast(pl.Int64))
        .with_columns(
            kind=pl.lit("auto"),
            is_masked=False,
            user_count=pl.lit(0, pl.Int64),
            bot_qna_id=pl.lit(None, pl.Int64),
        )
        .collect()
    )


def grouped(pool: pl.DataFrame) -> pl.DataFrame:
    """The engine's groups; the knowledge base has a question for each label."""
    from flows.suggestions import lexical

    questions = (
        pl.read_parquet(DATA)
        .select(pl.col("text"), qna_id=pl.col("intent").rank("dense").cast(pl.Int64))
        .unique("qna_id", keep="first", maintain_order=True)
        .select("qna_id", question="text")
    )
    none = pl.DataFrame(schema={"qna_id": pl.Int64, "key": pl.String})
    return lexical.engine().cluster(pool, questions, none, none)


def child(part: str, file: str) -> dict[str, float]:
    """Runs one part in this process."""
    import scipy.sparse  # noqa: F401 - its import is not what is measured

    from flows.suggestions import lexical, texts  # noqa: F401 - likewise

    begin, wall = time.process_time(), time.perf_counter()
    pool = pooled(file)
    told = {"keys": pool.height, "groups": 0, "of_five": 0}
    if part == "engine":
        members = grouped(pool).join(pool, on=["qna_id", "key"])
        size = members.group_by("qna_id", "head_key").agg(pl.col("auto_count").sum())
        told |= {"groups": size.height}
        told |= {"of_five": size.filter(pl.col("auto_count") >= 5).height}
    return {
        "seconds": time.process_time() - begin,
        "wall_seconds": time.perf_counter() - wall,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB,
        **told,
    }


def measured(part: str, file: Path) -> dict[str, float]:
    """Runs one part in a process of its own."""
    command = [sys.executable, __file__, "--child", part, "--file", str(file)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def rounds(folder: Path, largest: int, count: int) -> list[dict]:
    """All measurements: each round takes both parts of a setting in turn."""
    made = []
    for size, one_pair in ((largest // 10, False), (largest, False), (largest, True)):
        file = folder / f"{size}_{one_pair}.parquet"
        queries(size, one_pair=one_pair).write_parquet(file)
        for number in range(count):
            for part in ("pool", "engine"):
                told = {"queries": size, "one_pair": one_pair, "round": number}
                made.append(told | {"part": part} | measured(part, file))
    return made


def table(made: pl.DataFrame) -> list[str]:
    """One row a setting: medians, and least to most for ratios."""
    lines = [
        HEAD,
        "|---" * HEAD.count(" | ") + "|---|",
    ]
    for (size, one_pair), rows in made.group_by(
        "queries", "one_pair", maintain_order=True
    ):
        pool, engine = (rows.filter(part=part) for part in ("pool", "engine"))
        ratio = (engine["seconds"] / pool["seconds"]).to_list()
        cells = [
            f"{size:,}",
            "one" if one_pair else "77",
            f"{engine['keys'][0]:,}",
            f"{engine['groups'][0]:,}",
            f"{engine['of_five'][0]:,}",
            f"{pool['seconds'].median():.2f}",
            f"{engine['seconds'].median():.2f}",
            f"{np.median(ratio):.1f} ({min(ratio):.1f}-{max(ratio):.1f})",
            f"{engine['wall_seconds'].median():.1f}",
            f"{engine['mib'].max():.0f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def verdicts(made: pl.DataFrame) -> list[str]:
    """What was wanted, and whether it was reached."""
    small, large, one = (
        rows.filter(part="engine")
        for _, rows in made.group_by("queries", "one_pair", maintain_order=True)
    )
    pool = made.filter(pl.col("queries") == large["queries"][0], part="pool")
    ratio = float(
        np.median(large["seconds"] / pool.filter(~pl.col("one_pair"))["seconds"])
    )
    size, tenth = large["queries"][0], small["queries"][0]
    growth = large["seconds"].median() / small["seconds"].median()
    most = size * math.log(size) / (tenth * math.log(tenth))
    against = float(np.median(one["seconds"] / large["seconds"]))
    memory = max(large["mib"].max(), one["mib"].max())
    told = [
        ("engine against pool, the most queries", ratio, RATIO),
        ("memory in MiB, the most queries", memory, MEMORY),
        ("the most queries against a tenth of them", growth, most),
        ("all on one pair against 77", against, ONE_PAIR),
    ]
    return [
        f"- {what}: {got:.4g}; wanted at most {least:.3g}: "
        f"{'reached' if got <= least else 'missed'}"
        for what, got, least in told
    ]


def main() -> None:
    """Measures and writes the files; or runs one part, when called for it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--child")
    parser.add_argument("--file")
    options = parser.parse_args()
    if options.child:
        sys.stdout.write(json.dumps(child(options.child, options.file)))
        return
    with tempfile.TemporaryDirectory() as folder:
        made = rounds(Path(folder), options.largest, options.rounds)
    frame = pl.DataFrame(made)
    parts = [[TITLE], [INTRODUCTION], table(frame), verdicts(frame)]
    page = "\n\n".join("\n".join(part) for part in parts) + "\n"
    options.out.joinpath(f"{NAME}.json").write_text(json.dumps(made, indent=1) + "\n")
    options.out.joinpath(f"{NAME}.md").write_text(page)


if __name__ == "__main__":
    main()
