"""What was measured as tables, for the terminal and for `PIPELINE.md`."""

import datetime
import itertools
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyspark

from benchmarks.pipeline.runs import CORES, Stage, Step
from benchmarks.pipeline.stages import FIGURES
from benchmarks.pipeline.watch import ALL, DRIVER, JVM, TASKS, WORKERS
from benchmarks.results import aligned

LEAST = {100_000: 0.5, 1_000_000: 0.7}
"""What the stage is to reach of the engine, by definitions."""
MOST_GROWTH = 10.0
"""How much longer ten times as many definitions may take."""

Table = tuple[str, Sequence[str], list[Sequence[str]]]

ABOUT = """\
`kiplint pipeline run --stages lint` on local[2], over generated lakes in which next to no definition occurs twice:
every file of the corpus again and again, each time with other names of messages, structs and fields and other API keys,
in sets as they are in the corpus. `per core` is half of what the two cores do in a second of the stage, which is
without the start of the session. The engine is `check_set` over the same sets in one process on one core, while the
other has nothing to do: in turns with the stage, before it, after it, and every five seconds in a pause in which all
processes of the run are stopped, so that whatever else makes this machine slower makes both slower. Pauses are not
counted. Figures by CPU time count all processes, the JVM's compiler and collector included. Memory is resident, the sum
over all processes at the worst moment; pages that workers share are counted in each."""

REPRODUCE = """\
    make bench-pipeline                                      # writes this page
    python -m benchmarks.pipeline --sizes 1000,10000         # other sizes; this page stays as it is

`KIPLINT_CORPUS` names the corpus directory (default `../shared/corpus`); without it the bundled sets are varied."""


@dataclass
class Results:
    """Everything that was measured: the steps by size, the time of a definition in a worker, and a real ingest."""

    corpus: str
    files: int
    steps: list[Step] = field(default_factory=list)
    worker: Mapping[str, float] = field(default_factory=dict)
    ingest: Stage | None = None

    def tables(self) -> Iterator[Table]:
        """Title, head and cells of each table."""
        yield "Throughput of the lint stage", _RATES, [_rates(step) for step in self.steps]
        yield "The same for each second of CPU time", _CPU_RATES, [_cpu_rates(step) for step in self.steps]
        if len(self.steps) > 1:
            yield "Growth", _GROWTHS, [_growth(less, more) for less, more in itertools.pairwise(self.steps)]
        yield "Peak memory, MiB", _PEAKS, [_peaks(step.lint) for step in self.steps]
        yield self._where_it_goes()
        yield f"Spark's stages at {self.steps[-1].lint.definitions:,}", _SPARK, _spark(self.steps[-1].lint)
        if self.ingest:
            yield "Ingesting one commit of a git repository", _INGESTS, [_ingest_row(self.ingest)]

    def _where_it_goes(self) -> Table:
        last = self.steps[-1].lint
        each = {name: seconds / last.definitions for name, seconds in (last.cpu | last.threads).items()}
        engine = self.steps[-1].engine
        seconds = 1 / engine.cpu_rate + self.worker["read"] + self.worker["write"]
        rows = {
            "engine, as in check": 1 / engine.cpu_rate,
            "worker: rows to values and sets": self.worker["read"],
            "worker: findings to rows": self.worker["write"],
            "worker: start, pipes, Arrow's format, and the engine, slower on a full machine": each[WORKERS] - seconds,
            "JVM: reading, joining, shuffling, sorting, writing": each[TASKS],
            **{f"JVM: {name}": each[name] for name in sorted(last.threads) if name != TASKS},
            "driver": each[DRIVER],
        }
        whole = sum(rows.values())
        cells = [(what, f"{item * 1e6:.1f}", f"{item / whole:.0%}") for what, item in rows.items()]
        title = f"Where the time of a definition goes at {last.definitions:,}"
        return title, ("what", "us of CPU", "share"), [*cells, ("together", f"{whole * 1e6:.1f}", "100%")]


_RATES = ("definitions", "lint stage", "per core", "engine", "ratio", "target", "met")
_CPU_RATES = ("definitions", "lint stage", "engine", "ratio", "target", "met")
_GROWTHS = ("from", "to", "definitions", "time", "target", "met", "CPU time")
_PEAKS = ("definitions", "JVM", "Python workers", "driver", "together")
_SPARK = ("work", "tasks", *FIGURES)
_INGESTS = ("definitions", "ingest", "per core", "peak memory, MiB")


def as_text(results: Results) -> str:
    """The tables for a terminal."""
    return "\n\n".join("\n".join((title, *aligned([head, *cells]))) for title, head, cells in results.tables())


def as_markdown(results: Results) -> str:
    """The page `PIPELINE.md`."""
    parts = ["# The pipeline", "Written by `make bench-pipeline`; do not edit.", ABOUT, _facts(results)]
    for title, head, cells in results.tables():
        lines = aligned([head, ["---", *("---:" for _ in head[1:])], *cells], between=" | ")
        parts += [f"## {title}", "\n".join(f"| {line} |" for line in lines)]
    return "\n\n".join([*parts, "## How to reproduce", REPRODUCE]) + "\n"


def _facts(results: Results) -> str:
    engine = results.steps[-1].engine
    last = results.steps[-1].lint
    facts = {
        "Date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "Machine": f"{platform.machine()}, {platform.system()} {platform.release()}, {CORES} cores used",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "Spark": pyspark.__version__,
        "Files": f"{results.corpus}, {results.files} files",
        "Engine": f"{len(engine.turns)} turns at the largest size, each over some {engine.turns[-1][0]:,} definitions",
        "Session": f"start and stop {last.start:.1f} s, not counted",
    }
    return "\n".join(f"- {name}: {fact}" for name, fact in facts.items())


def _rates(step: Step) -> Sequence[str]:
    lint = step.lint
    clock = f"{lint.rate:,.0f}", f"{step.engine.rate:,.0f}", f"{step.ratio:.2f}"
    return f"{lint.definitions:,}", f"{lint.seconds:,.1f} s", *clock, *_verdict(lint, step.ratio)


def _cpu_rates(step: Step) -> Sequence[str]:
    rates = f"{step.lint.cpu_rate:,.0f}", f"{step.engine.cpu_rate:,.0f}", f"{step.cpu_ratio:.2f}"
    return f"{step.lint.definitions:,}", *rates, *_verdict(step.lint, step.cpu_ratio)


def _verdict(lint: Stage, ratio: float) -> Sequence[str]:
    """Small corpora have no target: they cost little more than what a stage takes to begin."""
    least = max((LEAST[size] for size in LEAST if size <= lint.definitions), default=None)
    return ("-", "-") if least is None else (f">= {least:g}", "yes" if ratio >= least else "no")


def _growth(less: Step, more: Step) -> Sequence[str]:
    count, time = more.lint.definitions / less.lint.definitions, more.lint.seconds / less.lint.seconds
    cpu = sum(more.lint.cpu.values()) / sum(less.lint.cpu.values())
    most = MOST_GROWTH * count / 10
    sizes = f"{less.lint.definitions:,}", f"{more.lint.definitions:,}", f"{count:.1f}"
    return *sizes, f"{time:.1f}", f"<= {most:.1f}", "yes" if time <= most else "no", f"{cpu:.1f}"


def _peaks(stage: Stage) -> Sequence[str]:
    return f"{stage.definitions:,}", *(f"{stage.peaks.get(kind, 0):,.0f}" for kind in (JVM, WORKERS, DRIVER, ALL))


def _spark(stage: Stage) -> list[Sequence[str]]:
    return [(row.what, f"{row.tasks}", *(f"{value:,.1f}" for value in row.figures)) for row in stage.stages]


def _ingest_row(stage: Stage) -> Sequence[str]:
    return f"{stage.definitions:,}", f"{stage.seconds:,.1f} s", f"{stage.rate:,.0f}", f"{stage.peaks[ALL]:,.0f}"
