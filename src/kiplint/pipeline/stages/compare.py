"""Comparing: each distinct pair of neighbouring contents once, commit by commit and release by release."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa

from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import Judged, judge
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.errors import UsageError
from kiplint.engine.run import take_apart
from kiplint.pipeline.lake.delta import PROBLEMS, Batches, Output, Row
from kiplint.pipeline.lake.schema import columns, table
from kiplint.pipeline.stage import Context, Engine, Problem, Work
from kiplint.pipeline.tables import STEPS, Changes, Pairs
from kiplint.pipeline.workers import Use, chunk_numbers, sets_in, settle, texts_by_chunk
from kiplint.render.report import url_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Pair = tuple[str, str]


class Chunk(NamedTuple):
    """Neighbouring pairs of contents, in order, and for each content the directories and trees of its sets."""

    pairs: list[Pair]
    folders: dict[str, list[tuple[str, str]]]


def run(work: Work, context: Context) -> None:
    """Compare the pairs that are new, or all when the rules or the engine have changed."""
    if anew := work.anew("compare"):
        for kind in (Changes, Pairs):
            work.add(kind.NAME, (), more=False)
    pairs = work.query(_NEW_PAIRS).to_pylist()
    problems: list[Problem] = []
    if pairs:
        made, problems = work.make(*_compared(work, context.engine, pairs), {Changes.NAME: Changes.COLUMNS})
        work.add(Changes.NAME, made[Changes.NAME])
    work.put(Pairs, ((pair["old_root"], pair["root"]) for pair in pairs), more=True)
    work.note("compare", problems, anew=anew)


_NEW_PAIRS = f"""
SELECT old_root, root, min({{'source': source, 'lineage': lineage, 'position': position}}) AS place
FROM ({STEPS}) ANTI JOIN pairs USING (old_root, root) WHERE root <> old_root GROUP BY ALL ORDER BY place
"""
_CONTENTS = """
SELECT root, list({'directory': directory, 'tree': tree} ORDER BY directory) AS sets, sum(size)::BIGINT AS size
FROM trees JOIN needed USING (root) JOIN (
  SELECT tree, sum(coalesce(size, 0)) AS size FROM files LEFT JOIN blobs USING (blob) GROUP BY tree
) USING (tree) GROUP BY root
"""


def _compared(
    work: Work, engine: Engine, pairs: Sequence[Mapping[str, Any]]
) -> tuple[DataFrame, Callable[[Batches], Iterator[Output]]]:
    """The texts that pairs need, by chunk, and the function that compares them."""
    roots = sorted({pair[side] for pair in pairs for side in ("old_root", "root")})
    known = work.query(_CONTENTS, needed=pa.table({"root": roots})).to_pylist()
    contents = {row["root"]: row for row in known}
    lines = ((pair["place"]["source"], pair["place"]["lineage"]) for pair in pairs)
    sizes = (contents[pair["root"]]["size"] if pair["root"] in contents else 0 for pair in pairs)
    chunks: dict[int, Chunk] = {}
    for number, row in zip(chunk_numbers(lines, sizes), pairs, strict=True):
        chunk = chunks.setdefault(number, Chunk([], {}))
        pair = row["old_root"], row["root"]
        chunk.pairs.append(pair)
        for root in pair:
            sets = contents[root]["sets"] if root in contents else []
            chunk.folders[root] = [(placed["directory"], placed["tree"]) for placed in sets]
    placed = {(number, tree) for number, chunk in chunks.items() for sets in chunk.folders.values() for _, tree in sets}
    trees = table(columns("chunk bigint, tree"), sorted(placed))
    files = work.query("SELECT *, false AS fresh FROM files WHERE tree IN (SELECT tree FROM chunks)", chunks=trees)
    return texts_by_chunk(work, files, trees, len(pairs)), compare_in_arrow(engine, chunks)


def compare_in_arrow(engine: Engine, chunks: Mapping[int, Chunk]) -> Callable[[Batches], Iterator[Output]]:
    """Batches of `workers.ROWS` to the changes of each pair of a chunk."""

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


def _row(pair: Pair, change: Judged, url: str = "") -> Row:
    span, old = change.span, change.old_span
    witnesses = [{"reader": witness.reader, **msgspec.to_builtins(witness)} for witness in change.proof]
    return (
        *(*pair, change.rule, change.severity, change.breaks, change.kind, change.message_name, change.message_type),
        *(change.versions, change.field, change.path, span.line, span.column),
        *(json.dumps(dict(side), default=str) for side in (change.old, change.new)),
        *(change.message, span.end_line, span.end_column, json.dumps(witnesses, default=str), change.is_unproven),
        *(url or None, change.old_path or None, old.line if old else None, old.column if old else None),
    )
