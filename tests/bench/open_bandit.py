"""The three campaigns of the shop, night by night: a picture and two tables.

    python tests/bench/open_bandit.py

Runs the six jobs of data/open_bandit in a folder of its own and writes there
`closing_in.svg` (the value of Thompson sampling from the random log, its interval
closing in) and `README.md` (the numbers, and what the log that learned cannot tell).
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import polars as pl

from flows import steps
from flows.asked import Asked
from flows.job import load

DATA = Path(__file__).parents[2] / "data" / "open_bandit"
CAMPAIGNS = {"men": 34, "women": 46, "all": 80}
PER = 1000  # decisions that clicks are told for
WIDTH, HEIGHT = 210, 200
WRITTEN = (
    "Written by `python tests/bench/open_bandit.py`; origin and licence of the logs: "
    f"`NOTICE.md`. Clicks per {PER:,} decisions, 95 %."
)
RANDOM = (
    "Every look holds; the horizon of seven nights was declared beforehand. The "
    "largest weight of the candidate is known from its table."
)
LEARNED = (
    "Only the probability of the shown item is logged, and the policy changed every "
    "day. What the mean weight falls short of one may have earned anything, so the "
    "interval is wide however long the log. The random log of the same week shows what "
    "a uniform choice did earn."
)
HEAD = (
    "| campaign | uniform, from the log that learned | not known | the policy that "
    "learned | uniform, as it ran |"
)


def estimates(name: str, folder: Path) -> pl.DataFrame:
    """All estimates since the start of a job, oldest night first."""
    job = load(folder / f"{name}.toml")
    with steps.alone(job):
        plan = steps.plan(job, Asked())
        steps.check(plan)
        steps.judge(plan)
        for day in steps.uncounted(plan):
            steps.count(plan, day)
        made = steps.estimate(plan)
        steps.publish(plan, days_read=len(plan.days), nights_estimated=made)
    rows = pl.read_parquet(job.results / "tables" / "estimates.parquet")
    return rows.filter(window="since_start").sort("night")


def picture(values: dict[str, pl.DataFrame]) -> str:
    """SVG: the interval of each campaign on each night."""
    import altair as alt
    import vl_convert

    panels = []
    for campaign, rows in values.items():
        shown = rows.select(
            night=pl.col("night").dt.strftime("%d"),
            lower=pl.col("lower") * PER,
            upper=pl.col("upper") * PER,
            estimate=pl.col("estimate") * PER,
        )
        base = alt.Chart(alt.Data(values=shown.to_dicts())).encode(
            alt.X("night:O").title("November 2019").axis(labelAngle=0)
        )
        panels.append(
            alt.layer(
                base.mark_bar(size=14, color="#9ecae1").encode(
                    alt.Y("lower:Q")
                    .title(f"clicks per {PER:,} decisions" * (not panels))
                    .scale(domain=[0, 90]),
                    alt.Y2("upper:Q"),
                ),
                base.mark_point(filled=True, color="#08306b", size=45).encode(
                    alt.Y("estimate:Q")
                ),
            ).properties(
                width=WIDTH,
                height=HEIGHT,
                title=f"{campaign}: {CAMPAIGNS[campaign]} items",
            )
        )
    chart = alt.hconcat(*panels).configure(font="DejaVu Sans")
    return vl_convert.vegalite_to_svg(chart.to_json())


def ends(row: dict[str, float]) -> str:
    """An estimate with its interval, in clicks per 1,000 decisions."""
    low, middle, high = (row[n] * PER for n in ("lower", "estimate", "upper"))
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


def page(random: dict[str, pl.DataFrame], learned: dict[str, pl.DataFrame]) -> str:
    """The folder's README."""
    lines = [
        "# open_bandit: three campaigns of a fashion shop",
        "",
        WRITTEN,
        "",
        "## From the random log: what would Thompson sampling have earned?",
        "",
        "![The value of Thompson sampling, night by night](closing_in.svg)",
        "",
        RANDOM,
        "",
        "| night | " + " | ".join(random) + " |",
        "|---|" + "---|" * len(random),
    ]
    values = {
        name: rows.filter(candidate="thompson", other="", estimand="value")
        for name, rows in random.items()
    }
    for number in range(7):
        cells = [rows.row(number, named=True) for rows in values.values()]
        night = cells[0]["night"].isoformat()
        lines.append(f"| {night} | " + " | ".join(ends(row) for row in cells) + " |")
    lines += [
        "",
        "## From the log that learned: what would a uniform choice have earned?",
        "",
        LEARNED,
        "",
        HEAD,
        "|---|---|---|---|---|",
    ]
    for name, rows in learned.items():
        (value,) = rows.filter(candidate="uniform", estimand="value").tail(1).to_dicts()
        (own,) = rows.filter(candidate="logging").tail(1).to_dicts()
        (ran,) = random[name].filter(candidate="logging").tail(1).to_dicts()
        lines.append(
            f"| {name} | {value['lower'] * PER:.1f} to {value['upper'] * PER:.0f} | "
            f"{value['unsupported_probability']:.0%} | {ends(own)} | {ends(ran)} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Runs the jobs and writes picture and page."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work, "jobs")
        shutil.copytree(DATA, folder, ignore=shutil.ignore_patterns("results"))
        random = {name: estimates(f"{name}_random", folder) for name in CAMPAIGNS}
        learned = {name: estimates(f"{name}_bts", folder) for name in CAMPAIGNS}
    values = {
        name: rows.filter(candidate="thompson", other="", estimand="value")
        for name, rows in random.items()
    }
    (DATA / "closing_in.svg").write_text(picture(values))
    (DATA / "README.md").write_text(page(random, learned))


if __name__ == "__main__":
    main()
