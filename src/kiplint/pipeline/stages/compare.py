"""Comparing: each distinct pair of neighbouring contents once, commit by commit and release by release."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import Judged, judge
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.errors import UsageError
from kiplint.engine.run import take_apart
from kiplint.pipeline.bundles import chunks, trees_of, with_texts
from kiplint.pipeline.columns import Columns, batch, ddl
from kiplint.pipeline.delta import rows_in
from kiplint.pipeline.engine import CHANGES, Engine
from kiplint.pipeline.late import f
from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.blobs import Blobs
from kiplint.pipeline.tables.changes import Changes, Pairs, pairs_of
from kiplint.pipeline.tables.files import Files
from kiplint.pipeline.tables.sets import LINE, Sets
from kiplint.pipeline.tables.trees import Trees
from kiplint.pipeline.texts import tree_sizes
from kiplint.pipeline.work import Work
from kiplint.pipeline.worker import settle
from kiplint.render.report import url_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "compare"
COMPARED: Columns = {**Changes.COLUMNS, "subject": "string", "problem": "string"}
NO_CHANGE = (None,) * len(Changes.COLUMNS)
Batches = Iterable[pa.RecordBatch]
Row = tuple[object, ...]


def run(work: Work, context: Context) -> None:
    """Compare the pairs that are new, or all when the rules or the engine have changed."""
    anew = work.anew(NAME, STAGE.ids(context)[NAME])
    pairs = pairs_of(work.frame(Sets).df)
    if not anew:
        pairs = pairs.join(work.frame(Pairs).df, ["old_root", "root"], "anti")
    once = pairs.groupBy("old_root", "root").agg(f.min(f.struct(*LINE, "position")).alias("first"))
    wanted = once.select("old_root", "root", "first.*")
    staged = work.stage("compared", _compared(work, context.engine, wanted))
    if anew:
        work.empty(Changes.NAME, Pairs.NAME)
    work.add(Changes.NAME, work.chosen(Changes, COMPARED, staged, "rule"))
    work.append(Pairs(wanted.select("old_root", "root").coalesce(work.few)))
    work.note(NAME, work.problems_in(staged, "subject"), anew=anew)


def _compared(work: Work, engine: Engine, pairs: DataFrame) -> DataFrame:
    blobs, files, trees = work.frame(Blobs).df, work.frame(Files).df, work.frame(Trees).df
    rows = rows_in(work.parts(Files.NAME))
    sizes = trees.join(tree_sizes(files, blobs, rows, work.tasks(rows)), "tree")
    sizes = sizes.groupBy("root").agg(f.sum("size").alias("size"))
    placed = chunks(pairs.join(sizes, "root", "left").fillna(0, ["size"]), LINE, "size")
    step = f.struct("position", "old_root", "root")
    steps = placed.groupBy("chunk").agg(f.array_sort(f.collect_list(step)).alias("steps"))
    both = f.explode(f.array("old_root", "root")).alias("root")
    rooted = placed.select("chunk", both).distinct().join(trees, "root")
    folders = rooted.groupBy("chunk").agg(f.collect_list(f.struct("root", "directory", "tree")).alias("folders"))
    texts = with_texts(rooted.select("chunk", "tree"), files, blobs)
    bundled = steps.join(folders, "chunk", "left").join(texts, "chunk", "left")
    return work.spread(bundled, rows_in(work.parts(Sets.NAME))).mapInArrow(compare_in_arrow(engine), ddl(COMPARED))


def compare_in_arrow(engine: Engine) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Batches of bundles (chunk, steps, folders, files, texts) to batches of what changed in each step."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        settle()
        for one in batches:
            for bundle in one.to_pylist():
                if rows := list(_changes(bundle, engine)):
                    yield batch(COMPARED, rows)

    return work


def _changes(bundle: Mapping[str, Any], engine: Engine) -> Iterator[Row]:
    sets = dict(trees_of({"files": bundle["files"] or (), "texts": bundle["texts"] or ()}))
    folders: dict[str, list[tuple[str, str]]] = {}
    for one in bundle["folders"] or ():
        folders.setdefault(one["root"], []).append((one["directory"], one["tree"]))
    held: dict[str, Tree] = {}
    urls = {rule.id: url_of(rule) for rule in engine.rules.whole.rules if rule.spec.each == "change"}
    for step in bundle["steps"]:
        pair = step["old_root"], step["root"]
        for root in held.keys() - pair:
            for one in held.pop(root).sets.values():
                take_apart(one)
        for root in pair:
            if root not in held:  # the step before has the same content on its other side
                held[root] = _tree(root, folders.get(root, ()), sets)
        old, new = held[pair[0]], held[pair[1]]
        try:
            judged = judge(compare_trees(old, new), engine.rules.whole, old.sources, new.sources)
        except (UsageError, RecursionError) as error:
            yield (*NO_CHANGE, f"{pair[0]} to {pair[1]}", str(error))
            continue
        yield from (_row(pair, one, urls.get(one.rule, "")) for one in judged)


def _tree(root: str, folders: Iterable[tuple[str, str]], sets: Mapping[str, list[tuple[str, str, bytes]]]) -> Tree:
    placed = sorted(folders, key=lambda pair: pair[0].split("/"))
    return make_tree(root, ((directory, _paths(directory, sets.get(tree, ()))) for directory, tree in placed))


def _paths(directory: str, files: Iterable[tuple[str, str, bytes]]) -> Iterator[tuple[str, bytes]]:
    before = f"{directory}/" if directory else ""
    return ((before + name, data) for name, _, data in files)


def _row(pair: tuple[str, str], one: Judged, url: str = "") -> Row:
    what = (one.rule, one.severity, one.breaks, one.kind, one.message_name, one.message_type, one.versions, one.field)
    proof = (json.dumps(dict(side), default=str) for side in (one.old, one.new))
    span, old = one.span, one.old_span
    witnesses = [{"reader": witness.reader, **msgspec.to_builtins(witness)} for witness in one.proof]
    where = (one.path, span.line, span.column, *proof, one.message, span.end_line, span.end_column)
    shown = (json.dumps(witnesses, default=str), one.is_unproven, url or None)
    before = (one.old_path or None, old.line if old else None, old.column if old else None)
    return (*pair, *what, *where, *shown, *before, None, None)


STAGE = Stage(NAME, (Sets.NAME,), (Changes.NAME,), run, lambda context: {NAME: context.engine.texts[CHANGES]})
