"""Linting: each distinct file once for what it tells by itself, each distinct set once for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.scopes import Scopes, check_alone, check_both, check_together
from kiplint.pipeline.bundles import chunks
from kiplint.pipeline.columns import Columns, batch, ddl
from kiplint.pipeline.delta import Parts, rows_in
from kiplint.pipeline.engine import ALONE as FILES
from kiplint.pipeline.engine import TOGETHER as SETS
from kiplint.pipeline.engine import Engine
from kiplint.pipeline.late import f
from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.blobs import Blobs
from kiplint.pipeline.tables.files import Files
from kiplint.pipeline.tables.findings import Findings
from kiplint.pipeline.tables.sets import LINE, Sets
from kiplint.pipeline.tables.trees import Trees
from kiplint.pipeline.texts import Use, first_uses, join_blobs, near, sets_in, texts_by_chunk, tree_sizes
from kiplint.pipeline.work import Work
from kiplint.pipeline.worker import settle

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ALONE, TOGETHER = "lint", "lint-sets"
FOUND: Columns = {**Findings.COLUMNS, "subject": "string", "problem": "string"}
NO_FINDING = (None,) * len(Findings.COLUMNS)
PAIR = ["name", "blob"]
A_BATCH = 1000
"""Rows that a worker gathers before it sends them on."""
Row = tuple[object, ...]
Batches = Iterable[pa.RecordBatch]


def run(work: Work, context: Context) -> None:
    """Lint what is new; everything that the rules or the engine tell otherwise now, when they have changed."""
    ids = STAGE.ids(context)
    alone, alone_anew = work.unseen(ALONE, ids[ALONE], Files.NAME)
    together, together_anew = work.unseen(TOGETHER, ids[TOGETHER], Files.NAME)
    seen = () if alone_anew else work.seen(ALONE, Files.NAME)
    if set(alone) <= set(together):
        linted = [_sets(work, context.engine, together, alone, seen)]
    else:
        linted = [_files(work, context.engine, alone, seen)]
        linted += [_sets(work, context.engine, together, (), ())] if together else []
    staged = tuple(part for one in linted for part in work.stage("found", one))
    problems = list(work.problems_in(staged, "subject"))
    parts = work.chosen(Findings, FOUND, staged, "rule")
    if alone_anew and together_anew:
        work.empty(Findings.NAME)
    elif alone_anew or together_anew:
        before = work.frame(Findings).df
        work.replace(Findings(before.where(f.col("tree").isNull() if together_anew else f.col("tree").isNotNull())))
    work.add(Findings.NAME, parts)
    work.note(ALONE, problems, anew=alone_anew and together_anew)


def _files(work: Work, engine: Engine, parts: Parts, seen: Parts) -> DataFrame:
    """What the files in some parts break by themselves, but for those in parts that are seen."""
    files = work.read(Files.COLUMNS, parts)
    wanted = files.select(*PAIR).distinct().join(_pairs(work, seen), PAIR, "anti")
    rows = rows_in(parts)
    texts = join_blobs(wanted, work.frame(Blobs).df, "data", rows, _tasks(work, rows)).select(*PAIR, "data")
    return work.spread(texts, rows).mapInArrow(files_in_arrow(engine), ddl(FOUND))


def _sets(work: Work, engine: Engine, parts: Parts, fresh: Parts, seen: Parts) -> DataFrame:
    """What the sets in some parts break, and the files in some of these by themselves, each where it comes first."""
    rows = rows_in(parts)
    tasks = _tasks(work, rows)
    blobs, files = work.frame(Blobs).df, work.read(Files.COLUMNS, parts)
    uses = first_uses(files, tasks) if fresh else files.withColumn("fresh", f.lit(False))
    if fresh and seen:
        known = _pairs(work, seen).withColumn("known", f.lit(True))
        uses = uses.join(known, PAIR, "left").withColumn("fresh", f.col("fresh") & f.col("known").isNull())
    chosen = near(_chosen(work, tree_sizes(files, blobs, rows, tasks)), rows_in(work.parts(Trees.NAME)))
    texts = texts_by_chunk(uses.join(chosen, "tree"), blobs, rows, tasks, work.shares(tasks))
    return texts.mapInArrow(sets_in_arrow(engine), ddl(FOUND))


def _chosen(work: Work, sizes: DataFrame) -> DataFrame:
    """The trees with these sizes in chunks of neighbours: chunk, tree."""
    places = work.frame(Trees).df.join(work.frame(Sets).df, "root")
    first = places.groupBy("tree").agg(f.min(f.struct(*LINE, "directory", "position")).alias("first"))
    # Trees of sources that are not asked for any more stay, as their files do: they may be asked for again.
    placed = sizes.join(first, "tree", "left").select("tree", "size", "first.*")
    return chunks(placed, (*LINE, "directory"), "size").select(f.xxhash64("chunk").alias("chunk"), "tree")


def _pairs(work: Work, parts: Parts) -> DataFrame:
    return work.read(Files.COLUMNS, parts).select(*PAIR).distinct()


def _tasks(work: Work, files: int) -> int:
    """How many tasks share the texts of so many files: enough for all cores, and each of a bounded size."""
    texts = min(files, rows_in(work.parts(Blobs.NAME)))
    return work.tasks(texts)


def files_in_arrow(engine: Engine) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Batches of (name, blob, data) to batches of what the files break by themselves."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        settle()
        uses = (
            Use(name, blob, data, True)
            for one in batches
            for name, blob, data in zip(*(column.to_pylist() for column in one.columns), strict=True)
        )
        yield from _batches(row for use in uses for row in _alone(use, engine.rules))

    return work


def sets_in_arrow(engine: Engine) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Batches of texts by chunk to batches of what the sets break, and their fresh files by themselves."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        settle()
        yield from _batches(row for tree, files in sets_in(batches) for row in _both(tree, files, engine.rules))

    return work


def _batches(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    held: list[Row] = []
    for row in rows:
        held.append(row)
        if len(held) == A_BATCH:
            yield batch(FOUND, held)
            held.clear()
    if held:
        yield batch(FOUND, held)


def _both(tree: str, files: Sequence[Use], rules: Scopes) -> list[Row]:
    blobs = {use.name: use.blob for use in files}
    fresh = {use.name for use in files if use.fresh}
    texts = [(use.name, use.data) for use in files]
    try:
        found = check_both(texts, fresh, rules)
    except (UsageError, RecursionError):
        rows = [row for use in files if use.fresh for row in _alone(use, rules)]
        return rows + _together(tree, files, rules)
    rows = [_row(None, one.path, blobs[one.path], one) for one in found.alone]
    return rows + [_row(tree, one.path, blobs[one.path], one) for one in found.together]


def _alone(use: Use, rules: Scopes) -> list[Row]:
    try:
        return [_row(None, use.name, use.blob, one) for one in check_alone(use.name, use.data, rules)]
    except (UsageError, RecursionError) as error:
        return [(*NO_FINDING, f"{use.name} ({use.blob})", str(error))]


def _together(tree: str, files: Sequence[Use], rules: Scopes) -> list[Row]:
    blobs = {use.name: use.blob for use in files}
    try:
        found = check_together(((use.name, use.data) for use in files), rules)
        return [_row(tree, one.path, blobs[one.path], one) for one in found]
    except (UsageError, RecursionError) as error:
        return [(*NO_FINDING, f"set {tree}", str(error))]


def _row(tree: str | None, name: str, blob: str, found: Finding) -> Row:
    span = found.span
    place = found.identity.split("\0", 2)[2]
    where = (span.line, span.column, span.end_line, span.end_column, found.pointer)
    what = (found.rule, found.severity, found.summary)
    told = (found.message_name, found.source, found.fingerprint, place)
    return (tree, name, blob, *what, *where, *told, None, None)


def _rules(context: Context) -> dict[str, str]:
    texts = context.engine.texts
    return {ALONE: texts[FILES], TOGETHER: texts[SETS]}


STAGE = Stage(ALONE, (Files.NAME,), (Findings.NAME,), run, _rules)
