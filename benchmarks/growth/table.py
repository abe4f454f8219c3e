"""A row for each run that was watched, with how it stands to the first or to its target."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.pipeline.watch import ALL, DRIVER, JVM, WORKERS, Watched

COLUMNS = ("run", "seconds", "CPU s", "ratio of CPU", "target", "driver MiB", "JVM MiB", "workers MiB", "together MiB")


class Row(NamedTuple):
    """One run: `beside` is the CPU time that it is held against, `most` the share of it that it may take."""

    what: str
    done: Watched
    beside: float = 0.0
    most: float = 0.0


def cpu(done: Watched) -> float:
    """The CPU seconds of all processes of a run."""
    return sum(done.moments[-1].cpu.values()) if done.moments else 0.0


def written(rows: list[Row]) -> str:
    """The rows in Markdown."""
    lines = [COLUMNS, tuple("---" if not at else "---:" for at in range(len(COLUMNS)))]
    for row in rows:
        ratio = f"{cpu(row.done) / row.beside:.2f}" if row.beside else "-"
        target = f"<= {row.most:g}" if row.most else "-"
        sizes = (f"{row.done.peaks.get(kind, 0):,.0f}" for kind in (DRIVER, JVM, WORKERS, ALL))
        lines.append((row.what, f"{row.done.wall:,.1f}", f"{cpu(row.done):,.1f}", ratio, target, *sizes))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
