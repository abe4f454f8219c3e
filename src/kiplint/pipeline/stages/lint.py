"""Linting: each distinct file once for what it tells by itself, each distinct set once for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.scopes import check_alone, check_together
from kiplint.pipeline.bundles import chunks, trees_of, with_texts
from kiplint.pipeline.columns import Columns, batch, ddl, text
from kiplint.pipeline.engine import Engine, settle
from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.blobs import Blobs
from kiplint.pipeline.tables.files import Files
from kiplint.pipeline.tables.findings import Findings
from kiplint.pipeline.tables.sets import LINE, Sets
from kiplint.pipeline.tables.trees import Trees
from kiplint.pipeline.work import Work

ALONE, TOGETHER = "lint", "lint-sets"
FOUND: Columns = {**Findings.COLUMNS, "subject": "string", "problem": "string"}
NO_FINDING = (None,) * len(Findings.COLUMNS)
Row = tuple[object, ...]
Batches = Iterable[pa.RecordBatch]


def run(work: Work, context: Context) -> None:
    """Lint what is new; everything that the rules or the engine tell otherwise now, when they have changed."""
    ids = context.engine.ids
    alone, alone_anew = work.unseen(ALONE, ids[ALONE], Files.NAME)
    together, together_anew = work.unseen(TOGETHER, ids[TOGETHER], Files.NAME)
    parts = [
        work.stage("found", _alone(work, context.engine, work.read(Files.NAME, Files.COLUMNS, alone), anew=alone_anew)),
        work.stage("found", _together(work, context.engine, work.read(Files.NAME, Files.COLUMNS, together))),
    ]
    found = work.read("found", FOUND, parts)
    findings = found.where("problem is null").select(*Findings.COLUMNS)
    if alone_anew or together_anew:
        before = work.frame(Findings).df
        kept = before.where(f.lit(not alone_anew) & f.col("tree").isNull())
        kept = kept.unionByName(before.where(f.lit(not together_anew) & f.col("tree").isNotNull()))
        work.replace(Findings(kept.unionByName(findings).coalesce(work.few)))
    else:
        work.append(Findings(findings.coalesce(work.few)))
    work.note(ALONE, work.problems_in(parts, "subject"), anew=alone_anew and together_anew)


def _alone(work: Work, engine: Engine, files: DataFrame, *, anew: bool) -> DataFrame:
    wanted = files.select("name", "blob").distinct()
    if not anew:
        seen = work.snapshot.stages[ALONE].inputs[Files.NAME]
        wanted = wanted.join(work.read(Files.NAME, Files.COLUMNS, seen), ["name", "blob"], "anti")
    texts = wanted.join(work.frame(Blobs).df.select("blob", "data"), "blob").select("name", "blob", "data")
    return work.spread(texts).mapInArrow(alone_in_arrow(engine), ddl(FOUND))


def _together(work: Work, engine: Engine, files: DataFrame) -> DataFrame:
    blobs = work.frame(Blobs).df
    sizes = files.join(blobs.select("blob", "size"), "blob").groupBy("tree").agg(f.sum("size").alias("size"))
    places = work.frame(Trees).df.join(work.frame(Sets).df, "root")
    first = places.groupBy("tree").agg(f.min(f.struct(*LINE, "directory", "position")).alias("first"))
    placed = sizes.join(first, "tree").select("tree", "size", "first.*")
    chosen = chunks(placed, (*LINE, "directory"), "size").select("chunk", "tree")
    return work.spread(with_texts(chosen, files, blobs)).mapInArrow(together_in_arrow(engine), ddl(FOUND))


def alone_in_arrow(engine: Engine) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Batches of (name, blob, data) to batches of what the files break by themselves."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        settle()
        rules = engine.rules
        for one in batches:
            rows: list[Row] = []
            for name, blob, data in zip(*(column.to_pylist() for column in one.columns), strict=True):
                try:
                    rows += [_row(None, name, blob, finding) for finding in check_alone(name, data, rules)]
                except (UsageError, RecursionError) as error:
                    rows.append((*NO_FINDING, f"{name} ({blob})", str(error)))
            if rows:
                yield batch(FOUND, rows)

    return work


def together_in_arrow(engine: Engine) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Batches of bundles (chunk, files, texts) to batches of what the sets break."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        settle()
        rules = engine.rules
        for one in batches:
            for bundle in one.to_pylist():
                rows: list[Row] = []
                for tree, files in trees_of(bundle):
                    blobs = {name: blob for name, blob, _ in files}
                    try:
                        found = check_together(((name, data) for name, _, data in files), rules)
                        rows += [_row(tree, each.path, blobs[each.path], each) for each in found]
                    except (UsageError, RecursionError) as error:
                        rows.append((*NO_FINDING, f"set {tree}", str(error)))
                if rows:
                    yield batch(FOUND, rows)

    return work


def _row(tree: str | None, name: str, blob: str, found: Finding) -> Row:
    span = found.span
    place = found.identity.split("\0", 2)[2]
    where = (span.line, span.column, span.end_line, span.end_column, found.pointer)
    what = (found.rule, found.severity, found.message)
    told = (found.message_name, found.source, found.fingerprint, place)
    values = (tree, name, blob, *what, *where, *told, None, None)
    return tuple(text(value) if isinstance(value, str) else value for value in values)


def _engines(context: Context) -> dict[str, str]:
    ids = context.engine.ids
    return {ALONE: ids[ALONE], TOGETHER: ids[TOGETHER]}


STAGE = Stage(ALONE, (Files.NAME,), (Findings.NAME,), _engines, run)
