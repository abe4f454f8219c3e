"""Comparing: each distinct pair of neighbouring contents once, commit by commit and release by release."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import msgspec

from kiplint.compat.change import Change
from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import ChangeFinding, judge
from kiplint.compat.released import Releases
from kiplint.compat.tree import TooLargeError, Tree, make_tree
from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake.schema import Columns, ddl, number, table
from kiplint.pipeline.stage import Context, Engine
from kiplint.pipeline.tables import PLACE, STEPS, Blobs, Changes, Files, Messages, Pairs, Revisions, Trees
from kiplint.pipeline.work import Work
from kiplint.pipeline.workers import Use, chunk_of, rows_of, sorted_sets, with_texts

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

CHUNK = ("source", "lineage", "chunk")
PAIRS_SQL = f"""
WITH known AS (
  SELECT DISTINCT source, root, commit, time FROM {{revisions}} LEFT SEMI JOIN {{chosen}} USING (release)
  WHERE root IN (SELECT root FROM {{trees}})
), steps AS ({STEPS}), judged AS (  -- a pair that was made several times is judged by the releases before any of these
  SELECT s.old_root, s.root, min(struct(s.source, s.lineage, s.position)) AS place,
    if(bool_or(h.source IS NOT NULL), array_sort(collect_set(k.root)), NULL) AS released
  FROM steps s LEFT JOIN known k ON k.source = s.source AND k.time <= s.time AND k.commit <> s.commit
  LEFT JOIN (SELECT DISTINCT source FROM known) h ON h.source = s.source
  WHERE s.root <> s.old_root GROUP BY s.old_root, s.root
)
SELECT old_root, root, place, j.released, coalesce(sha2(array_join(j.released, ' '), 256), '') AS key,
  p.released AS compared_key
FROM judged j LEFT JOIN {{pairs}} p USING (old_root, root)
"""
CHUNKS_SQL = f"""
WITH sizes AS (
  SELECT root, sum(size) AS size FROM (SELECT DISTINCT root FROM {{pairs}}) JOIN {{trees}} USING (root)
  JOIN {{files}} USING (tree) JOIN {{blobs}} USING (blob) GROUP BY root
)
SELECT place.source, place.lineage, {chunk_of("place.source, place.lineage", "place.position", "coalesce(size, 0)")}
  AS chunk, place.position, old_root, root, released
FROM {{pairs}} LEFT JOIN sizes USING (root)
"""
USES_SQL = """
WITH sides AS (
  SELECT source, lineage, chunk, old_root AS root FROM {chunks}
  UNION SELECT source, lineage, chunk, root FROM {chunks}
)
SELECT source, lineage, chunk, blob, struct(root, directory, name, false AS is_form) AS use
FROM sides JOIN {trees} USING (root) JOIN {files} USING (tree)
"""
FORMS_SQL = """
WITH held AS (
  SELECT root, directory, name, blob FROM {trees} JOIN {files} USING (tree)
), gone AS (
  SELECT DISTINCT source, lineage, chunk, o.blob FROM {chunks} c JOIN held o ON o.root = c.old_root
  LEFT ANTI JOIN held n ON n.root = c.root AND n.directory = o.directory AND n.blob = o.blob
), changed AS (
  SELECT DISTINCT source, lineage, chunk, message_name, api_key FROM gone JOIN {messages} USING (blob)
), releases AS (
  SELECT DISTINCT source, lineage, chunk, explode(released) AS root FROM {chunks}
), forms AS (
  SELECT source, lineage, chunk, root, directory, name, blob, message_name, api_key
  FROM releases JOIN held USING (root) JOIN {messages} USING (blob)
)
SELECT source, lineage, chunk, blob, struct(root, directory, name, true AS is_form) AS use
FROM forms f LEFT SEMI JOIN changed c ON c.source = f.source AND c.lineage = f.lineage AND c.chunk = f.chunk
  AND (c.message_name = f.message_name OR c.api_key = f.api_key)
"""
"""The definitions of releases that decide about the changes of a chunk; an RPC's two halves have one API key."""
COMPARED: Columns = {**Changes.COLUMNS, "problem": "string"}
"""A change, or a problem with a pair of contents."""


def run(work: Work, context: Context) -> None:
    """Compare the pairs that are new, or all when the rules, the engine, or earlier releases have changed."""
    globs = context.engine.released
    revisions, trees = work.table(Revisions, *PLACE), work.table(Trees)
    releases = [row["release"] for row in revisions.select("release").distinct().collect()] if globs else []
    release_names = [name for name in releases if name and any(fnmatchcase(name, glob) for glob in globs)]
    pairs = work.stage(
        work.sql(
            PAIRS_SQL,
            revisions=revisions,
            trees=trees,
            pairs=work.table(Pairs),
            chosen=work.local({"release": "string"}, [(name,) for name in release_names]),
        )
    )
    if anew := work.anew("compare") or not pairs.where("compared_key <> key").isEmpty():
        work.clear(Changes, Pairs)
    new = pairs if anew else pairs.where("compared_key IS NULL")
    problems = (
        [("released", f"no release of the lake matches {' or '.join(globs)}")] if globs and not release_names else []
    )
    if count := new.count():
        results = work.stage(_compare(work, context.engine, new, count, trees, has_releases=bool(release_names)))
        work.append(Changes, results.where("problem IS NULL").drop("problem"))
        failures = results.where("problem IS NOT NULL").select("old_root", "root", "problem").collect()
        problems += [(f"{row['old_root']} to {row['root']}", row["problem"]) for row in failures]
    work.append(Pairs, new.selectExpr("old_root", "root", "key AS released"))
    work.note({"compare": problems}, anew=anew)


def _compare(
    work: Work, engine: Engine, pairs: DataFrame, count: int, trees: DataFrame, *, has_releases: bool
) -> DataFrame:
    """The changes of pairs: each task has the pairs of a chunk, and their texts."""
    files = work.table(Files)
    chunks = work.stage(
        work.sql(CHUNKS_SQL, pairs=pairs, files=files, blobs=work.table(Blobs, "blob", "size"), trees=trees)
    )
    uses = work.sql(USES_SQL, chunks=chunks, files=files, trees=trees)
    if has_releases:
        messages = work.table(Messages, "blob", "message_name", "api_key")
        uses = uses.union(work.sql(FORMS_SQL, chunks=chunks, files=files, trees=trees, messages=messages))
    uses = uses.groupBy(*CHUNK, "blob").agg({"use": "collect_list"}).withColumnRenamed("collect_list(use)", "uses")
    texts_by_chunk = work.spread(with_texts(work, uses), count, *CHUNK).groupBy(*CHUNK)
    pairs_by_chunk = work.spread(chunks, count, *CHUNK).groupBy(*CHUNK)
    return pairs_by_chunk.cogroup(texts_by_chunk).applyInArrow(compare_in_arrow(engine), ddl(COMPARED))


def compare_in_arrow(engine: Engine) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """Neighbouring pairs of contents, and the texts of a chunk with their uses, to the changes of each pair."""

    def compare(pairs: pa.Table, texts: pa.Table) -> pa.Table:
        uses = [
            ((use["is_form"], use["root"], use["directory"]), Use(use["name"], blob, data))
            for blob, data, places in rows_of(texts.select(["blob", "data", "uses"]))
            for use in places
        ]
        roots: dict[tuple[bool, str], list[tuple[str, Sequence[Use]]]] = {}
        for (is_form, root, directory), files in sorted_sets(uses).items():
            roots.setdefault((is_form, root), []).append((directory, files))
        rows = sorted(rows_of(pairs.select(["position", "old_root", "root", "released"])), key=lambda row: row[0])
        return table(COMPARED, _changes(rows, roots, engine))

    return compare


def _changes(
    pairs: Sequence[tuple[Any, ...]],
    roots: Mapping[tuple[bool, str], Sequence[tuple[str, Sequence[Use]]]],
    engine: Engine,
) -> Iterator[tuple[Any, ...]]:
    trees: dict[str, Tree] = {}
    forms = {root: _tree(root, folders) for (is_form, root), folders in roots.items() if is_form}
    for _, *pair, released in pairs:
        for root in trees.keys() - {*pair}:
            del trees[root]
        for root in pair:
            if root not in trees:  # the pair before has the same content on its other side
                trees[root] = _tree(root, roots.get((False, root), ()))
        old, new = (trees[root] for root in pair)
        releases = None if released is None else Releases(released, (forms[root] for root in released if root in forms))
        too_large: list[TooLargeError] = []
        failures: list[Exception] = []
        try:
            changes = compare_trees(old, new, (), releases, too_large)
            judgements = judge(changes, engine.rules.whole, old.sources, new.sources)
            yield from [(*_row((old.name, new.name), *judgement), None) for judgement in judgements]
        except (UsageError, RecursionError) as error:
            failures = [error]
        for problem in (*too_large, *failures):
            row = {"old_root": old.name, "root": new.name, "problem": str(problem)}
            yield tuple(row.get(name) for name in COMPARED)


def _tree(root: str, folders: Sequence[tuple[str, Sequence[Use]]]) -> Tree:
    in_order = sorted(folders, key=lambda folder: folder[0].split("/"))
    return make_tree(root, ((directory, _paths(directory, files)) for directory, files in in_order))


def _paths(directory: str, files: Sequence[Use]) -> Iterator[tuple[str, bytes]]:
    above = f"{directory}/" if directory else ""
    return ((above + use.name, use.data) for use in files)


def _row(pair: tuple[str, str], change: Change, finding: ChangeFinding) -> tuple[Any, ...]:
    own: dict[str, Any] = {
        "old_root": pair[0],
        "root": pair[1],
        "old": json.dumps(dict(finding.old), default=str),
        "new": json.dumps(dict(finding.new), default=str),
        "proof": json.dumps(msgspec.to_builtins(finding.proof), default=str),
        "api_key": number(change.message.api_key),
    }
    own |= {name: getattr(finding, name) or None for name in ("url", "old_path", "old_line", "old_column")}
    return tuple(own[name] if name in own else getattr(finding, name) for name in Changes.COLUMNS)
