"""Linting: each distinct file once for what it tells by itself, each distinct set once for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.scopes import Scopes, check_alone, check_both, check_together
from kiplint.fixes.fixers import make_fixes
from kiplint.pipeline.lake.delta import PROBLEMS, Batches, Output, Parts, Row, rows_in
from kiplint.pipeline.lake.schema import columns
from kiplint.pipeline.stage import Context, Engine, Work
from kiplint.pipeline.tables import Blobs, Files, Findings
from kiplint.pipeline.workers import Use, chunk_numbers, join_blobs, sets_in, settle, texts_by_chunk
from kiplint.render.findings.json import encoded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ALONE, TOGETHER = "lint", "lint-sets"
_UNCHECKED = """
SELECT DISTINCT name, blob FROM new_files ANTI JOIN done_files USING (name, blob) ORDER BY name, blob
"""
_PLACED = """
SELECT f.tree, name, f.blob, $fresh AND d.blob IS NULL
  AND row_number() OVER (PARTITION BY name, f.blob ORDER BY f.tree) = 1 AS fresh
FROM new_files f LEFT JOIN (SELECT DISTINCT name, blob FROM done_files) d USING (name, blob)
"""
_PLACES = """
WITH first AS (
  SELECT root, min({'source': source, 'lineage': lineage, 'position': position}) AS place FROM sets GROUP BY root
), sizes AS (
  SELECT tree, sum(coalesce(size, 0)) AS size FROM new_files LEFT JOIN blobs USING (blob) GROUP BY tree
), places AS (
  SELECT tree, min(place) AS place, min(directory) AS directory FROM trees LEFT JOIN first USING (root) GROUP BY tree
)
SELECT tree, size::BIGINT AS size, concat_ws(chr(0), place.source, place.lineage, directory) AS line
FROM sizes LEFT JOIN places USING (tree) ORDER BY line, place, tree
"""
"""The trees of sources that are not read any more stay, as their files do: the sources may come back."""


def run(work: Work, context: Context) -> None:
    """Lint new files and sets; after a change of rules or engine, also everything that it may affect."""
    alone, alone_anew = work.unprocessed(ALONE, Files)
    together, together_anew = work.unprocessed(TOGETHER, Files)
    done = () if alone_anew else work.processed(ALONE, Files)
    linted = []
    if set(alone) <= set(together):
        linted.append(_sets(work, context.engine, together, done, checks_alone=bool(alone)))
    else:
        linted.append(_files(work, context.engine, alone, done))
        if together:
            linted.append(_sets(work, context.engine, together, (), checks_alone=False))
    made = [work.make(*frame, {Findings.NAME: Findings.COLUMNS}) for frame in linted]
    if alone_anew and together_anew:
        work.add(Findings.NAME, (), more=False)
    elif alone_anew or together_anew:
        work.put(Findings, work.query(f"SELECT * FROM findings WHERE (tree IS NULL) = {together_anew}"))
    for parts, _ in made:
        work.add(Findings.NAME, parts[Findings.NAME])
    work.note(ALONE, (problem for _, problems in made for problem in problems), anew=alone_anew and together_anew)


Job = tuple["DataFrame", Callable[[Batches], Iterator[Output]]]


def _files(work: Work, engine: Engine, parts: Parts, done: Parts) -> Job:
    """Check the files in some parts by themselves, but for those in parts that are `done`."""
    rows = work.query(_UNCHECKED, new_files=parts, done_files=done)
    frame = work.local(columns("name, blob"), rows)
    texts = join_blobs(work, frame, rows.num_rows, _tasks(work, rows.num_rows)).select("name", "blob", "data")
    return work.spread(texts, rows.num_rows), files_in_arrow(engine)


def _sets(work: Work, engine: Engine, parts: Parts, done: Parts, *, checks_alone: bool) -> Job:
    """Check the sets in some parts; with `checks_alone` also their files, each where it comes first."""
    placed = work.query(_PLACED.replace("$fresh", str(checks_alone)), new_files=parts, done_files=done)
    trees = work.query(_PLACES, new_files=parts)
    numbers = chunk_numbers(trees["line"].to_pylist(), trees["size"].to_pylist())
    chunks = pa.table([pa.array(numbers, pa.int64()), trees["tree"]], ["chunk", "tree"])
    items = min(placed.num_rows, rows_in(work.parts(Blobs)))
    return texts_by_chunk(work, placed, chunks, items), sets_in_arrow(engine)


def _tasks(work: Work, files: int) -> int:
    """How many tasks share the texts of so many files: enough for all cores, and each of a bounded size."""
    return work.tasks(min(files, rows_in(work.parts(Blobs))))


def files_in_arrow(engine: Engine) -> Callable[[Batches], Iterator[Output]]:
    """Batches of (name, blob, data) to findings that the files have by themselves."""

    def work(batches: Batches) -> Iterator[Output]:
        settle()
        for rows in batches:
            for name, blob, data in zip(*(column.to_pylist() for column in rows.columns), strict=True):
                yield from _alone(Use(name, blob, data, True), engine.rules)

    return work


def sets_in_arrow(engine: Engine) -> Callable[[Batches], Iterator[Output]]:
    """Batches of `workers.ROWS` to findings in sets, and in their fresh files by themselves."""

    def work(batches: Batches) -> Iterator[Output]:
        settle()
        for _, trees in sets_in(batches):
            for tree, files in trees.items():
                yield from _both(tree, files, engine.rules)

    return work


def _both(tree: str, files: Sequence[Use], rules: Scopes) -> Iterator[Output]:
    blobs = {use.name: use.blob for use in files}
    fresh = {use.name for use in files if use.fresh}
    texts = [(use.name, use.data) for use in files]
    try:
        checked = check_both(texts, fresh, rules, make_fixes)
    except (UsageError, RecursionError):
        for use in files:
            if use.fresh:
                yield from _alone(use, rules)
        try:
            findings = check_together(texts, rules, make_fixes)
            yield Findings.NAME, [_row(tree, blobs[finding.path], finding) for finding in findings]
        except (UsageError, RecursionError) as error:
            yield PROBLEMS, [(f"set {tree}", str(error))]
        return
    rows = [_row(None, blobs[finding.path], finding) for finding in checked.alone]
    yield Findings.NAME, rows + [_row(tree, blobs[finding.path], finding) for finding in checked.together]


def _alone(use: Use, rules: Scopes) -> Iterator[Output]:
    try:
        findings = check_alone(use.name, use.data, rules, make_fixes)
        yield Findings.NAME, [_row(None, use.blob, finding) for finding in findings]
    except (UsageError, RecursionError) as error:
        yield PROBLEMS, [(f"{use.name} ({use.blob})", str(error))]


def _row(tree: str | None, blob: str, finding: Finding) -> Row:
    fix = encoded(finding.fix) if finding.fix else ""
    own = {"tree": tree, "name": finding.path, "blob": blob, "rule_source": finding.source, "fix": fix}
    return tuple(own[name] if name in own else getattr(finding, name) for name in Findings.COLUMNS)
