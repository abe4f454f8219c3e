"""Comparing: each distinct pair of neighbouring contents once, commit by commit and release by release."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pyarrow as pa

from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import Judged, judge
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.errors import UsageError
from kiplint.engine.run import take_apart
from kiplint.pipeline.functions import pc
from kiplint.pipeline.lake.files import PROBLEMS, Batches, Output, Row
from kiplint.pipeline.lake.schema import table
from kiplint.pipeline.stage import CHANGES, Context, Engine, Problem, Stage, Work
from kiplint.pipeline.tables.contents import LINE, Blobs, Files, Sets, Trees
from kiplint.pipeline.tables.findings import Changes, Pairs
from kiplint.pipeline.workers import USES, Use, chunk_numbers, sets_in, settle, texts_by_chunk, tree_sizes, uses_of
from kiplint.render.report import url_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "compare"
Line = tuple[str, str]
Pair = tuple[str, str]


class Chunk(NamedTuple):
    """Neighbouring pairs of contents, in order, and for each content the directories and trees of its sets."""

    pairs: list[Pair]
    folders: dict[str, list[tuple[str, str]]]


def run(work: Work, context: Context) -> None:
    """Compare the pairs that are new, or all when the rules or the engine have changed."""
    anew = work.anew(NAME, STAGE.ids(context)[NAME])
    known = set() if anew else {tuple(row.values()) for row in work.gather(Pairs.COLUMNS, work.parts(Pairs.NAME))}
    pairs = [placed for placed in _neighbours(work) if placed[1] not in known]
    if anew:
        work.empty(Changes.NAME, Pairs.NAME)
    problems: list[Problem] = []
    if pairs:
        made, problems = work.make(*_compared(work, context.engine, pairs), {Changes.NAME: Changes.COLUMNS})
        work.add(Changes.NAME, made[Changes.NAME])
    work.put(Pairs, (pair for _, pair in pairs), more=True)
    work.note(NAME, problems, anew=anew)


def _neighbours(work: Work) -> list[tuple[Line, Pair]]:
    """The distinct pairs of different neighbours, each with the first line that has it, in order."""
    columns = [*LINE, "position", "root"]
    sets = work.lake.read(work.parts(Sets.NAME), Sets.COLUMNS, None, columns)
    rows = sets.sort_by([(name, "ascending") for name in columns[:3]]).to_pydict()
    lines = list(zip(rows["source"], rows["lineage"], strict=True))
    placed: dict[Pair, Line] = {}
    for (before, old), (line, root) in pairwise(zip(lines, rows["root"], strict=True)):
        if line == before and root != old:
            placed.setdefault((old, root), line)
    return [(line, pair) for pair, line in placed.items()]


def _compared(
    work: Work, engine: Engine, pairs: Sequence[tuple[Line, Pair]]
) -> tuple[DataFrame, Callable[[Batches], Iterator[Output]]]:
    """The texts that pairs need, by chunk, and the function that compares them."""
    roots = pa.array({root for _, pair in pairs for root in pair}, pa.string())
    trees = work.lake.read(work.parts(Trees.NAME), Trees.COLUMNS, pc.field("root").isin(roots))
    needed = pc.field("tree").isin(pc.unique(trees["tree"]))
    files = work.lake.read(work.parts(Files.NAME), Files.COLUMNS, needed)
    sizes = tree_sizes(files, work.lake.read(work.parts(Blobs.NAME), {"blob": "string", "size": "int"}))
    size_of = dict(zip(*sizes.to_pydict().values(), strict=True))
    folders: dict[str, list[tuple[str, str]]] = {}
    for root, directory, tree in zip(*trees.to_pydict().values(), strict=True):
        folders.setdefault(root, []).append((directory, tree))
    root_sizes = {root: sum(size_of.get(tree, 0) for _, tree in sets) for root, sets in folders.items()}
    numbers = chunk_numbers((line for line, _ in pairs), (root_sizes.get(pair[1], 0) for _, pair in pairs))
    chunks: dict[int, Chunk] = {}
    for number, (_, pair) in zip(numbers, pairs, strict=True):
        chunk = chunks.setdefault(number, Chunk([], {}))
        chunk.pairs.append(pair)
        chunk.folders.update((root, folders.get(root, [])) for root in pair)
    placed = {(number, tree) for number, chunk in chunks.items() for sets in chunk.folders.values() for _, tree in sets}
    fresh = pa.repeat(pa.scalar(False), files.num_rows)
    uses = uses_of(files.append_column("fresh", fresh), table({"chunk": "bigint", "tree": "string"}, sorted(placed)))
    tasks = work.tasks(len(pairs))
    texts = texts_by_chunk(work.of(USES, uses), work.frame(Blobs).df, uses.num_rows, tasks, work.shares(tasks))
    return texts, compare_in_arrow(engine, chunks)


def compare_in_arrow(engine: Engine, chunks: Mapping[int, Chunk]) -> Callable[[Batches], Iterator[Output]]:
    """Batches of `texts.ROWS` to the changes of each pair of a chunk."""

    def work(batches: Batches) -> Iterator[Output]:
        settle()
        for number, sets in sets_in(batches):
            yield from _changes(chunks[number], sets, engine)

    return work


def _changes(chunk: Chunk, sets: Mapping[str, Sequence[Use]], engine: Engine) -> Iterator[Output]:
    held: dict[str, Tree] = {}
    urls = {rule.id: url_of(rule) for rule in engine.rules.whole.rules if rule.spec.each == "change"}
    for pair in chunk.pairs:
        for root in held.keys() - pair:
            for schema_set in held.pop(root).sets.values():
                take_apart(schema_set)
        for root in pair:
            if root not in held:  # the pair before has the same content on its other side
                held[root] = _tree(root, chunk.folders[root], sets)
        old, new = held[pair[0]], held[pair[1]]
        try:
            judged = judge(compare_trees(old, new), engine.rules.whole, old.sources, new.sources)
        except (UsageError, RecursionError) as error:
            yield PROBLEMS, [(f"{pair[0]} to {pair[1]}", str(error))]
            continue
        yield Changes.NAME, [_row(pair, change, urls.get(change.rule, "")) for change in judged]


def _tree(root: str, folders: Iterable[tuple[str, str]], sets: Mapping[str, Sequence[Use]]) -> Tree:
    placed = sorted(folders, key=lambda pair: pair[0].split("/"))
    return make_tree(root, ((directory, _paths(directory, sets.get(tree, ()))) for directory, tree in placed))


def _paths(directory: str, files: Iterable[Use]) -> Iterator[tuple[str, bytes]]:
    above = f"{directory}/" if directory else ""
    return ((above + use.name, use.data) for use in files)


def _row(pair: tuple[str, str], change: Judged, url: str = "") -> Row:
    what = (
        change.rule,
        change.severity,
        change.breaks,
        change.kind,
        change.message_name,
        change.message_type,
        change.versions,
        change.field,
    )
    proof = (json.dumps(dict(side), default=str) for side in (change.old, change.new))
    span, old = change.span, change.old_span
    witnesses = [{"reader": witness.reader, **msgspec.to_builtins(witness)} for witness in change.proof]
    where = (change.path, span.line, span.column, *proof, change.message, span.end_line, span.end_column)
    shown = (json.dumps(witnesses, default=str), change.is_unproven, url or None)
    before = (change.old_path or None, old.line if old else None, old.column if old else None)
    return (*pair, *what, *where, *shown, *before)


STAGE = Stage(NAME, (Sets.NAME,), (Changes.NAME,), run, lambda context: {NAME: context.engine.texts[CHANGES]})
