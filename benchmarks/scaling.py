"""The scaling run: the same directory once, ten and a hundred times, each copy a set of its own."""

import itertools
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.lab import Lab
from benchmarks.outcome import Outcome, Row, Scale, SkipError, milliseconds, ratio_row
from benchmarks.timing import Command, compare, least_cpu, median_peak, median_wall
from benchmarks.workspace import empty_scratch

FILES_PER_SECOND = 5_000
"""Of a core, above start-up."""

_CLEANING_ROUNDS = 4


def scaling(lab: Lab) -> Iterator[Outcome]:
    """Time above start-up, files a second and memory, for clean files and for all files as they are."""
    files = [schema.path for schema in lab.schemas]
    clean = clean_files(lab)
    series = [("clean files", clean)] if len(clean) == len(files) else [("clean files", clean), ("all files", files)]
    for title, paths in series:
        steps = [_step(lab, title, paths, copies) for copies in lab.plan.scaling]
        yield from steps
        yield from _verdicts(title, steps)


def clean_files(lab: Lab) -> list[Path]:
    """The files without any finding, and without their partners in an RPC; raises SkipError when none are left."""
    schemas = list(lab.schemas)
    for _ in range(_CLEANING_ROUNDS):
        directory = empty_scratch("scale", "clean")
        for schema in schemas:
            shutil.copy(schema.path, directory)
        names = {Path(finding["path"]).name for finding in lab.findings(directory)}
        if not names:
            return [schema.path for schema in schemas]
        keys = {schema.body.get("apiKey") for schema in schemas if schema.path.name in names} - {None}
        others = (schema for schema in schemas if schema.body.get("apiKey") not in keys)
        schemas = [schema for schema in others if schema.path.name not in names]
    raise SkipError("scaling: no part of the set is without findings")


def _step(lab: Lab, title: str, files: Sequence[Path], copies: int) -> Scale:
    root = _copies(files, copies)
    work, nothing = lab.kiplint("check", root.name, cwd=root.parent), _start_up(lab, files)
    comparison = compare(work, nothing, lab.plan.scaling[copies])
    shutil.rmtree(root)
    above = least_cpu(comparison.ours) - least_cpu(comparison.theirs)
    return Scale(title, copies * len(files), median_wall(comparison.ours), above, median_peak(comparison.ours))


def _copies(files: Sequence[Path], copies: int) -> Path:
    root = empty_scratch("scale", f"{copies}x")
    for number in range(copies):
        directory = root / f"set-{number:03}"
        directory.mkdir()
        for file in files:
            shutil.copyfile(file, directory / file.name)
    return root


def _start_up(lab: Lab, files: Sequence[Path]) -> Command:
    """The same command over a single file, one that needs no partner: all that a run costs before its files do."""
    alone = empty_scratch("scale", "alone")
    lonely = [file for file in files if not file.stem.endswith(("Request", "Response"))]
    shutil.copy((lonely or list(files))[0], alone)
    return lab.kiplint("check", alone.name, cwd=alone.parent)


def _verdicts(title: str, steps: Sequence[Scale]) -> Iterator[Row]:
    clean = title.startswith("clean")
    for less, more in itertools.pairwise(steps):
        measure = f"{title}: {more.files:,} / {less.files:,}"
        times = milliseconds(more.above), milliseconds(less.above)
        yield ratio_row(f"{measure}, time above start-up", *times, more.above / less.above, 10.0)
    first, last = steps[0], steps[-1]
    is_met = last.rate >= FILES_PER_SECOND if clean else None
    target = f">= {FILES_PER_SECOND:,}" if clean else "-"
    yield Row(f"{title}: files a second above start-up", f"{last.rate:,.0f}", "-", "-", target, is_met)
    memory = f"{title}: {last.files:,} / {first.files:,}, peak memory"
    yield ratio_row(memory, f"{last.peak:.0f} MiB", f"{first.peak:.0f} MiB", last.peak / first.peak, None)
