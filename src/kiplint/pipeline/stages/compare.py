"""Comparing: each distinct pair of neighbouring contents once, commit by commit and release by release."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa

from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import ChangeFinding, judge
from kiplint.compat.released import Releases
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.errors import UsageError
from kiplint.engine.run import take_apart
from kiplint.pipeline.lake.delta import PROBLEMS, Batches, Output, Row
from kiplint.pipeline.lake.schema import columns, table
from kiplint.pipeline.stage import Context, Engine, Work
from kiplint.pipeline.tables import STEPS, Changes, Pairs
from kiplint.pipeline.workers import Use, chunk_numbers, sets_in, settle, texts_by_chunk

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Pair = tuple[str, str]


class Chunk(NamedTuple):
    """Neighbouring pairs of contents, in order, and for each content the directories and trees of its sets.

    With each pair the contents of the releases that decide what is released, None where the older content does; `forms`
    are the sets of these releases, with the messages only that a pair of the chunk changes.
    """

    pairs: list[tuple[Pair, Sequence[str] | None]]
    folders: dict[str, list[tuple[str, str]]]
    forms: dict[str, list[tuple[str, str]]]


def run(work: Work, context: Context) -> None:
    """Compare the pairs that are new, or all when the rules, the engine, or earlier releases have changed."""
    globs = context.engine.released
    names = {row["release"] for row in work.query("SELECT release FROM sets WHERE release <> ''").to_pylist()}
    chosen = sorted(name for name in names if any(fnmatchcase(name, glob) for glob in globs))
    pairs = work.query(_PAIRS, chosen=pa.table({"release": pa.array(chosen, pa.string())})).to_pylist()
    if anew := work.anew("compare") or any(pair["known"] not in (None, pair["key"]) for pair in pairs):
        for kind in (Changes, Pairs):
            work.add(kind.NAME, (), more=False)
    new = [pair for pair in pairs if anew or pair["known"] is None]
    problems = [("released", f"no release of the lake matches {' or '.join(globs)}")] if globs and not chosen else []
    if new:
        made, failed = work.make(*_compared(work, context.engine, new), {Changes.NAME: Changes.COLUMNS})
        problems += failed
        work.add(Changes.NAME, made[Changes.NAME])
    work.put(Pairs, ((pair["old_root"], pair["root"], pair["key"]) for pair in new), more=True)
    work.note("compare", problems, anew=anew)


_PAIRS = f"""
WITH known AS (
  SELECT DISTINCT source, root, commit, time FROM sets JOIN chosen USING (release)
  WHERE root IN (SELECT root FROM trees)
), steps AS (  -- a pair that was made several times is judged by the releases before any of these
  SELECT s.old_root, s.root, min({{'source': s.source, 'lineage': lineage, 'position': position}}) AS place,
    if(bool_or(s.source IN (SELECT source FROM known)),
      coalesce(list(DISTINCT k.root ORDER BY k.root) FILTER (k.root IS NOT NULL), []), NULL) AS released
  FROM ({STEPS}) s LEFT JOIN known k ON k.source = s.source AND k.time <= s.time AND k.commit <> s.commit
  WHERE s.root <> s.old_root GROUP BY ALL
)
SELECT s.*, p.released AS known, coalesce(sha256(array_to_string(s.released, ' ')), '') AS key
FROM steps s LEFT JOIN pairs p USING (old_root, root) ORDER BY place
"""
_CONTENTS = """
SELECT root, list({'directory': directory, 'tree': tree} ORDER BY directory) AS sets, sum(size)::BIGINT AS size
FROM trees JOIN needed USING (root) JOIN (
  SELECT tree, sum(coalesce(size, 0)) AS size FROM files LEFT JOIN blobs USING (blob) GROUP BY tree
) USING (tree) GROUP BY root
"""
_FORMS = """
WITH held AS (
  SELECT root, directory, tree, name, blob FROM trees JOIN files USING (tree)
), changed AS (
  SELECT DISTINCT chunk, message_name, api_key FROM steps s JOIN held o ON o.root = old_root
  ANTI JOIN held n ON n.root = s.root AND n.directory = o.directory AND n.blob = o.blob
  JOIN messages m ON m.blob = o.blob
)
SELECT DISTINCT r.chunk, r.root, directory, concat(r.chunk, ' ', tree) AS tree, name, blob
FROM releases r JOIN held USING (root) JOIN messages m USING (blob)
SEMI JOIN changed c ON c.chunk = r.chunk AND (c.message_name = m.message_name OR c.api_key = m.api_key)
ORDER BY ALL
"""
"""The definitions of releases that decide about the changes of a chunk; an RPC's two halves have one API key."""


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
        chunk = chunks.setdefault(number, Chunk([], {}, {}))
        pair = row["old_root"], row["root"]
        chunk.pairs.append((pair, row["released"]))
        for root in pair:
            sets = contents[root]["sets"] if root in contents else []
            chunk.folders[root] = [(placed["directory"], placed["tree"]) for placed in sets]
    placed = {(number, tree) for number, chunk in chunks.items() for sets in chunk.folders.values() for _, tree in sets}
    trees = table(columns("chunk bigint, tree"), sorted(placed))
    files = work.query("SELECT *, false AS fresh FROM files WHERE tree IN (SELECT tree FROM chunks)", chunks=trees)
    if any(released for chunk in chunks.values() for _, released in chunk.pairs):
        forms = _forms(work, chunks)
        trees = pa.concat_tables([trees, forms.select(["chunk", "tree"]).group_by(["chunk", "tree"]).aggregate([])])
        fresh = pa.repeat(pa.scalar(False), forms.num_rows)
        files = pa.concat_tables([files, forms.select(["tree", "name", "blob"]).append_column("fresh", fresh)])
    return texts_by_chunk(work, files, trees, len(pairs)), compare_in_arrow(engine, chunks)


def _forms(work: Work, chunks: Mapping[int, Chunk]) -> pa.Table:
    """The rows of `_FORMS`, which the chunks are given as well."""
    steps = [(number, *pair) for number, chunk in chunks.items() for pair, _ in chunk.pairs]
    roots = {(number, root) for number, chunk in chunks.items() for _, roots in chunk.pairs for root in roots or ()}
    forms = work.query(
        _FORMS,
        steps=table(columns("chunk bigint, old_root, root"), steps),
        releases=table(columns("chunk bigint, root"), sorted(roots)),
    )
    for row in forms.to_pylist():
        folders = chunks[row["chunk"]].forms.setdefault(row["root"], [])
        if (folder := (row["directory"], row["tree"])) not in folders:
            folders.append(folder)
    return forms


def compare_in_arrow(engine: Engine, chunks: Mapping[int, Chunk]) -> Callable[[Batches], Iterator[Output]]:
    """Batches of `workers.ROWS` to the changes of each pair of a chunk."""

    def work(batches: Batches) -> Iterator[Output]:
        settle()
        for number, sets in sets_in(batches):
            yield from _changes(chunks[number], sets, engine)

    return work


def _changes(chunk: Chunk, sets: Mapping[str, Sequence[Use]], engine: Engine) -> Iterator[Output]:
    held: dict[str, Tree] = {}
    forms = {root: _tree(root, folders, sets) for root, folders in chunk.forms.items()}
    for pair, released in chunk.pairs:
        for root in held.keys() - pair:
            _take_apart(held.pop(root))
        for root in pair:
            if root not in held:  # the pair before has the same content on its other side
                held[root] = _tree(root, chunk.folders[root], sets)
        old, new = held[pair[0]], held[pair[1]]
        known = None if released is None else Releases(released, (forms[root] for root in released if root in forms))
        try:
            judgements = judge(compare_trees(old, new, (), known), engine.rules.whole, old.sources, new.sources)
        except (UsageError, RecursionError) as error:
            yield PROBLEMS, [(f"{pair[0]} to {pair[1]}", str(error))]
            continue
        yield Changes.NAME, [_row(pair, change) for _, change in judgements]
    for tree in forms.values():
        _take_apart(tree)


def _take_apart(tree: Tree) -> None:
    for schema_set in tree.sets.values():
        take_apart(schema_set)


def _tree(root: str, folders: Iterable[tuple[str, str]], sets: Mapping[str, Sequence[Use]]) -> Tree:
    placed = sorted(folders, key=lambda pair: pair[0].split("/"))
    return make_tree(root, ((directory, _paths(directory, sets.get(tree, ()))) for directory, tree in placed))


def _paths(directory: str, files: Iterable[Use]) -> Iterator[tuple[str, bytes]]:
    above = f"{directory}/" if directory else ""
    return ((above + use.name, use.data) for use in files)


def _row(pair: Pair, change: ChangeFinding) -> Row:
    witnesses = msgspec.to_builtins(change.proof)
    return (
        *(*pair, change.rule, change.severity, change.breaks, change.kind, change.message_name, change.message_type),
        *(change.versions, change.field, change.path, change.line, change.column),
        *(json.dumps(dict(side), default=str) for side in (change.old, change.new)),
        *(change.message, change.end_line, change.end_column, json.dumps(witnesses, default=str), change.unproven),
        *(change.url or None, change.old_path or None, change.old_line or None, change.old_column or None),
    )
