"""The results as people read them: aligned tables on the terminal, the same in `RESULTS.md`."""

import datetime
import importlib.metadata
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks import peers
from benchmarks.lab import Lab
from benchmarks.outcome import Cost, Outcome, Row, Scale, milliseconds
from benchmarks.timing import Command, output

_ROWS = ("measure", "kiplint", "peer", "ratio", "target", "met")
_COSTS = ("command", "wall", "CPU", "cores", "peak memory")
_SCALES = ("series", "files", "wall", "above start-up", "files/s", "peak memory")

_ABOUT = """\
Whole processes, run in alternating pairs (A B A B) after two warm-ups each. A ratio compares the least CPU time, user
and system, of both; the last table adds medians of the clock and of memory. Smaller ratios are better for kiplint.
Timing never fails a build. Peers get the same amount of structure: for buf, a .proto file for each message, a
Protobuf message for each struct, a field for each field, comments included, clean under buf's default categories;
buf's native binary is run directly, and works on several cores."""

_REPRODUCE = """\
    make bench                                   # python -m benchmarks, beside an installed kiplint
    python -m benchmarks --quick                 # fewer runs; this page stays as it is
    python -m benchmarks --only check            # one measure; this page stays as it is

`KIPLINT_CORPUS` names the corpus directory (default `../shared/corpus`); without it the bundled sets are measured.
Peers are installed once, into `kiplint-benchmarks` in the user's cache; a peer that cannot be installed is skipped."""


@dataclass
class Results:
    """Everything that was measured, in order."""

    outcomes: list[Outcome] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def tables(self) -> list[tuple[str, Sequence[str], list[Sequence[str]]]]:
        """Title, head and cells of each table that has rows."""
        rows = [_row(outcome) for outcome in self.outcomes if isinstance(outcome, Row)]
        scales = [_scale(outcome) for outcome in self.outcomes if isinstance(outcome, Scale)]
        costs = [_cost(outcome) for outcome in self.outcomes if isinstance(outcome, Cost)]
        tables = [("Ratios", _ROWS, rows), ("Scaling", _SCALES, scales), ("Time and memory", _COSTS, costs)]
        return [table for table in tables if table[2]]


def as_text(results: Results) -> str:
    """The tables for a terminal, notes below."""
    parts = ["\n".join(aligned([head, *cells])) for _, head, cells in results.tables()]
    if results.notes:
        parts.append("\n".join(results.notes))
    return "\n\n".join(parts)


def as_markdown(results: Results, lab: Lab) -> str:
    """The page `RESULTS.md`."""
    parts = ["# Benchmarks", "Written by `python -m benchmarks`; do not edit.", _ABOUT, _facts(lab)]
    for title, head, cells in results.tables():
        rule = ["---", *("---:" for _ in head[1:])]
        lines = aligned([head, rule, *cells], between=" | ")
        parts.append(f"## {title}")
        parts.append("\n".join(f"| {line} |" for line in lines))
    if results.notes:
        parts += ["## Not measured", "\n".join(f"- {note}" for note in results.notes)]
    parts += ["## How to reproduce", _REPRODUCE]
    return "\n\n".join(parts) + "\n"


def _facts(lab: Lab) -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    version = output(Command(lab.kiplint("--version").arguments)).split()[-1]
    facts = {
        "Date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "Machine": f"{cores} cores, {platform.machine()}, {platform.system()} {platform.release()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "kiplint": version,
        "Peers": f"buf {peers.BUF}, typer {importlib.metadata.version('typer')}",
        "Files": f"{lab.corpus.title}, {lab.size.files} files with {lab.size.messages} messages and structs, "
        f"{lab.size.fields:,} fields",
        "Pairs": f"{lab.plan.pairs}; scaling: "
        + ", ".join(f"{rounds} at {copies}x" for copies, rounds in lab.plan.scaling.items()),
    }
    return "\n".join(f"- {name}: {fact}" for name, fact in facts.items())


def _row(row: Row) -> Sequence[str]:
    verdict = {None: "-", True: "yes", False: "no"}[row.is_met]
    return row.measure, row.ours, row.peer, row.ratio, row.target, verdict


def _cost(cost: Cost) -> Sequence[str]:
    times = milliseconds(cost.wall), milliseconds(cost.cpu), f"{cost.cpu / cost.wall:.1f}"
    return cost.command, *times, f"{cost.peak:.0f} MiB"


def _scale(scale: Scale) -> Sequence[str]:
    times = milliseconds(scale.wall), milliseconds(scale.above)
    return scale.series, f"{scale.files:,}", *times, f"{scale.rate:,.0f}", f"{scale.peak:.0f} MiB"


def aligned(lines: Sequence[Sequence[str]], between: str = "   ") -> Iterable[str]:
    """The cells in columns: the first to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for first, *rest in lines:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        yield between.join(cells)
