"""The formats: a thousand findings and ten thousand, written in each of them."""

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

from benchmarks.lab import Lab
from benchmarks.outcome import Outcome, milliseconds, ratio_row
from benchmarks.timing import Command, CommandError, Comparison, compare, median_peak, output
from benchmarks.workspace import empty_scratch
from kiplint.report.formats import FORMATS

FEW, MANY = 1_000, 10_000
_A_FILE = 100


def formats(lab: Lab) -> Iterator[Outcome]:
    """Time above start-up and peak memory, ten times the findings beside the findings."""
    none, few, many = _set("none", 0), _set("few", FEW), _set("many", MANY)
    start = lab.kiplint("check", none.name, "--isolated", cwd=none.parent)
    for directory, findings in ((few, FEW), (many, MANY)):
        found = len(json.loads(output(_check(lab, directory, "json")))["findings"])
        if found != findings:
            raise CommandError(f"formats: {found} findings, not {findings}")
    for name in FORMATS:
        less, more = (compare(_check(lab, directory, name), start, lab.plan.scaling[10]) for directory in (few, many))
        above = [statistics.median(_above(one)) for one in (more, less)]
        measure = f"{name}: {MANY:,} / {FEW:,} findings"
        yield ratio_row(f"{measure}, time above start-up", *map(milliseconds, above), above[0] / above[1], 10.0)
        peaks = [median_peak(one.ours) for one in (more, less)]
        yield ratio_row(f"{measure}, peak memory", *(f"{peak:.0f} MiB" for peak in peaks), peaks[0] / peaks[1], 10.0)


def _above(comparison: Comparison) -> Iterator[float]:
    return (a.wall - b.wall for a, b in zip(comparison.ours, comparison.theirs, strict=True))


def _check(lab: Lab, directory: Path, name: str) -> Command:
    return lab.kiplint("check", directory.name, "--isolated", "--output-format", name, cwd=directory.parent)


def _set(name: str, findings: int) -> Path:
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
