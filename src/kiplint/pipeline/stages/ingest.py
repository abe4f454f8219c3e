"""Ingesting: revisions to contents. Each distinct git tree is walked once, each distinct blob read once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any

from kiplint.engine.errors import UsageError
from kiplint.pipeline.fetching import TO_READ, TO_WALK, WALKED, read_in_arrow, walk_in_arrow
from kiplint.pipeline.lake.schema import ddl
from kiplint.pipeline.listing import LINES, LISTING, Line, list_in_arrow
from kiplint.pipeline.stage import Context, Problem, no_source
from kiplint.pipeline.tables import Blobs, Files, Revisions, Roots, Sources, Trees
from kiplint.pipeline.work import Work
from kiplint.sources.schema_files import FOREIGN
from kiplint.text.words import plural

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

A_TASK = 64
"""The revisions that one task walks: neighbours share most of their folders."""
A_PILE = 2_048
"""The contents that one task reads, each from the same place."""
CUT_OFF = "it is a shallow clone: its history does not go back to the beginning"

TO_WALK_SQL = f"""
WITH new AS (
  SELECT *, row_number() OVER (PARTITION BY key ORDER BY source, lineage, position) AS nth
  FROM {{listed}} LEFT ANTI JOIN {{roots}} USING (key)
), placed AS (
  SELECT *, floor((row_number() OVER (PARTITION BY source, lineage ORDER BY position) - 1) / {A_TASK}) AS task
  FROM new WHERE nth = 1
)
SELECT source, kind, path AS location, array_sort(collect_list(struct(position, key, tree))) AS revisions
FROM placed GROUP BY source, lineage, kind, path, task
"""
FOLDERS_SQL = """
SELECT key, location, item.directory, item.folder, item.files FROM {walked} LATERAL VIEW explode(folders) AS item
"""
TO_READ_SQL = f"""
WITH new AS (
  SELECT file.blob, min(location) AS location FROM {{folders}} LATERAL VIEW explode(files) AS file
  GROUP BY file.blob
), placed AS (
  SELECT *, floor((row_number() OVER (PARTITION BY location ORDER BY blob) - 1) / {A_PILE}) AS pile
  FROM new LEFT ANTI JOIN {{blobs}} USING (blob)
)
SELECT kind, location, array_sort(collect_list(blob)) AS blobs
FROM placed JOIN (SELECT DISTINCT path AS location, kind FROM {{listed}}) USING (location)
GROUP BY kind, location, pile
"""
DEFINITIONS_SQL = f"""
WITH held AS (
  SELECT DISTINCT folder, directory = '' AS top FROM {{folders}}
), listed AS (
  SELECT DISTINCT folder, file.name, file.blob FROM {{folders}} LATERAL VIEW explode(files) AS file
), kinds AS (
  SELECT folder, top, name, blob, kind, bool_or(kind = 'definition') OVER (PARTITION BY folder, top) AS certain
  FROM held JOIN listed USING (folder) JOIN {{blobs}} USING (blob)
), definitions AS (  -- a file that is meant to be one counts beside definitions; one that is not a text also at the top
  SELECT folder, top, name, blob FROM kinds WHERE name NOT IN ({", ".join(f"'{name}'" for name in sorted(FOREIGN))})
    AND (kind = 'definition' OR kind = 'broken' AND (certain OR top) OR kind = 'malformed' AND certain)
)
SELECT folder, top, array_sort(collect_list(struct(name, blob))) AS files,
  sha2(array_join(array_sort(collect_list(concat(name, ':', blob))), '\\n'), 256) AS tree
FROM definitions GROUP BY folder, top
"""
"""The definitions of each folder, and the id of their set."""
FILES_SQL = """
SELECT DISTINCT tree, file.name, file.blob FROM {definitions} LEFT ANTI JOIN {trees} USING (tree)
LATERAL VIEW explode(files) AS file
"""
WALKS_SQL = """
WITH placed AS (
  SELECT key, directory, tree FROM {folders} f JOIN {definitions} d
  ON d.folder = f.folder AND d.top = (f.directory = '')
), held AS (
  SELECT key, collect_set(struct(directory, tree)) AS sets FROM placed GROUP BY key
), roots AS (
  SELECT key, coalesce(sets, array()) AS sets,
    sha2(array_join(array_sort(transform(coalesce(sets, array()), s -> concat(s.directory, ':', s.tree))), '\\n'), 256)
      AS root
  FROM (SELECT key FROM {walked} WHERE problem IS NULL AND same IS NULL) LEFT JOIN held USING (key)
)
SELECT key, root, sets FROM roots
UNION ALL
SELECT w.key, root, sets FROM {walked} w JOIN roots r ON r.key = w.same
"""
TREES_SQL = """
SELECT DISTINCT root, item.directory, item.tree FROM {walks} LEFT ANTI JOIN {trees} USING (root)
LATERAL VIEW explode(sets) AS item
"""


def run(work: Work, context: Context) -> None:
    """Bring the lake's revisions, trees, files and blobs up to the lines of history, or read all anew."""
    if anew := work.anew("ingest-walking"):
        work.clear(Blobs, Files, Trees, Roots)
    previous = {(row["source"], row["lineage"]): row for row in work.rows_of(Sources)}
    lines = [line for line in context.lines if anew or previous.get(line[:2], {}).get("state") != line.state]
    listing = work.stage(_list(work, lines, mail=context.mail))
    ends = {(row["source"], row["lineage"]): row.asDict() for row in listing.where("position IS NULL").collect()}
    failures = {place: row["problem"] for place, row in ends.items() if row["problem"] is not None}
    problems = [*context.problems, *((source, problem) for (source, _), problem in sorted(failures.items()))]
    if len(failures) == len(context.lines):
        raise UsageError(no_source(problems))
    revisions = listing.where("position IS NOT NULL")
    count = sum(row["revisions"] or 0 for row in ends.values())
    unreadable = _read_contents(work, revisions, count, context.paths) if count else []
    lost_lines = {*context.lost_lines, *failures}
    there = {line[:2] for line in context.lines} | lost_lines
    _put_revisions(work, revisions, ends.keys() - failures, previous.keys() - there)
    _put_sources(
        work, context.lines, previous, {place: row for place, row in ends.items() if place not in failures}, lost_lines
    )
    cut_off = sorted({source for (source, _), row in ends.items() if row["cut_off"]})
    work.note({"sources": problems, "history": [(name, CUT_OFF) for name in cut_off]}, anew=True)
    work.note({"ingest": unreadable}, anew=anew)
    if candidates := {source: row["candidates"] for (source, _), row in sorted(ends.items()) if row["candidates"]}:
        names = next(iter(candidates)) + (f" and {len(candidates) - 1} more" if len(candidates) > 1 else "")
        tags = f"{plural(sum(candidates.values()), 'tag')} of release candidates, alphas and betas"
        work.remarks.append(f"{names}: {tags} left out; #tags=* takes all")


def _list(work: Work, lines: Iterable[Line], *, mail: bool) -> DataFrame:
    """The revisions of lines, listed by executors: rows of `LISTING`."""
    rows = [tuple(line) for line in lines]
    if not rows:
        return work.local(LISTING, ())
    return work.spread(work.local(LINES, rows), len(rows)).mapInArrow(list_in_arrow(mail=mail), ddl(LISTING))


def _read_contents(work: Work, listing: DataFrame, revisions: int, patterns: tuple[str, ...]) -> list[Problem]:
    """Add the contents of revisions that are new, and return what cannot be read.

    What folders hold is only known when their files are read.
    """
    to_walk = work.sql(TO_WALK_SQL, listed=listing, roots=work.table(Roots, "key")).select(*TO_WALK)
    walk_results = work.stage(work.spread(to_walk, revisions).mapInArrow(walk_in_arrow(patterns), ddl(WALKED)))
    folders = work.sql(FOLDERS_SQL, walked=walk_results)
    to_read = work.sql(TO_READ_SQL, folders=folders, blobs=work.table(Blobs, "blob"), listed=listing).select(*TO_READ)
    parts = work.append(Blobs, work.spread(to_read, revisions).mapInArrow(read_in_arrow, ddl(Blobs.COLUMNS)))
    blobs, trees = work.table(Blobs, "blob", "kind"), work.table(Trees, "root", "tree")
    definitions = work.stage(work.sql(DEFINITIONS_SQL, folders=folders, blobs=blobs))
    walks = work.stage(work.sql(WALKS_SQL, folders=folders, definitions=definitions, walked=walk_results))
    work.append(Files, work.sql(FILES_SQL, definitions=definitions, trees=trees))
    work.append(Trees, work.sql(TREES_SQL, walks=walks, trees=trees))
    work.append(Roots, walks.select(*Roots.COLUMNS))
    unreadable = work.table(Blobs, "blob", "problem", parts=parts).where("problem IS NOT NULL")
    rows = walk_results.where("problem IS NOT NULL").select("key", "problem").union(unreadable).collect()
    return [(row["key"], row["problem"]) for row in rows]


def _put_revisions(
    work: Work, listing: DataFrame, lines: Set[tuple[str, str]], removed_lines: Set[tuple[str, str]]
) -> None:
    """Give changed lines their revisions, and take those of removed lines; others of their sources stay."""
    if not lines and not removed_lines:
        return
    sources = {source for source, _ in {*lines, *removed_lines}}
    others = work.local({"source": "string", "lineage": "string"}, sorted({*lines, *removed_lines}))
    rows = listing.join(work.table(Roots), "key").select(*Revisions.COLUMNS)
    stay = work.of_sources(Revisions, sources).join(others.hint("broadcast"), ["source", "lineage"], "left_anti")
    work.replace_sources(Revisions, rows.union(stay.select(*Revisions.COLUMNS)), sources)


def _put_sources(
    work: Work,
    lines: Iterable[Line],
    previous: Mapping[tuple[str, str], Mapping[str, Any]],
    ends: Mapping[tuple[str, str], Mapping[str, Any]],
    lost_lines: Set[tuple[str, str]],
) -> None:
    """Give the lake its lines: those that can be read, and those that cannot as they were."""
    rows = [
        (*line[:4], (ends.get(line[:2]) or previous[line[:2]])["revisions"], None, line.state)
        for line in lines
        if line[:2] not in lost_lines
    ]
    for place in sorted(lost_lines & previous.keys()):
        row = {**previous[place], "as_of": previous[place]["as_of"] or work.snapshot.published}
        rows.append(tuple(row.values()))
    work.put_rows(Sources, rows)
