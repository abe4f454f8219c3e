"""The formats: a thousand findings and ten thousand, written in each of them."""

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.lab import Lab
from benchmarks.outcome import Outcome, milliseconds, ratio_row
from benchmarks.timing import Command, CommandError, compare, median_cpu, median_peak, output, repeat
from benchmarks.workspace import empty_scratch
from kiplint.render.formats import format_names

FEW, MANY = 1_000, 10_000
_A_FILE = 100


def formats(lab: Lab) -> Iterator[Outcome]:
    """CPU time above start-up and peak memory, ten times the findings beside the findings."""
    none, few, many = make_set("none", 0), make_set("few", FEW), make_set("many", MANY)
    start = lab.kiplint("check", none.name, "--isolated", cwd=none.parent)
    for directory, findings in ((few, FEW), (many, MANY)):
        count = len(json.loads(output(_check(lab, directory, "json")))["findings"])
        if count != findings:
            raise CommandError(f"formats: {count} findings, not {findings}")
    startup_cpu = median_cpu(repeat(start, lab.plan.scaling[10]))
    for name in format_names():
        comparison = compare(_check(lab, many, name), _check(lab, few, name), lab.plan.scaling[10])
        above = [median_cpu(runs) - startup_cpu for runs in (comparison.ours, comparison.theirs)]
        measure = f"{name}: {MANY:,} / {FEW:,} findings"
        few_cpu, many_cpu = milliseconds(above[1]), milliseconds(above[0])
        yield ratio_row(f"{measure}, CPU above start-up", many_cpu, few_cpu, above[0] / above[1], 10.0)
        peaks = [median_peak(runs) for runs in (comparison.ours, comparison.theirs)]
        figures = f"{peaks[0]:.0f} MiB", f"{peaks[1]:.0f} MiB"
        yield ratio_row(f"{measure}, peak memory", figures[0], figures[1], peaks[0] / peaks[1], 10.0)


def _check(lab: Lab, directory: Path, name: str) -> Command:
    return lab.kiplint("check", directory.name, "--isolated", "--output-format", name, cwd=directory.parent)


def make_set(name: str, findings: int) -> Path:
    """A set of messages whose every field lacks its text; one message has none where no findings are wanted."""
    directory = empty_scratch("formats", name)
    fields = _A_FILE if findings else 0
    for number in range(max(1, findings // _A_FILE)):
        body = {
            "type": "data", "name": f"Data{number}", "validVersions": "0", "flexibleVersions": "0+",
            "fields": [{"name": f"Field{at}", "type": "int32", "versions": "0+"} for at in range(fields)],
        }  # fmt: skip
        (directory / f"Data{number}.json").write_text(json.dumps(body, indent=2))
    return directory
