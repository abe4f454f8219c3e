"""Ingesting: revisions to contents. Each distinct git tree is walked once, each distinct blob read once."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from kiplint.pipeline.fetching import TO_READ, TO_WALK, WALKED, read_in_arrow, walk_in_arrow
from kiplint.pipeline.lake.delta import Parts
from kiplint.pipeline.lake.schema import arrow_schema, columns, table
from kiplint.pipeline.lake.storage import STAGING
from kiplint.pipeline.listing import LISTED, Line
from kiplint.pipeline.stage import Context, Problem, Work
from kiplint.pipeline.tables import Blobs, Files, Roots, Sets, Sources, Trees
from kiplint.sources.schema_files import FOREIGN

A_TASK = 64
"""The revisions that one task walks: neighbours share most of their folders."""
REVISIONS = {**LISTED, "line": "int", "position": "int"}
LINES = columns("line int, source, lineage, kind, location")
CUT_OFF = "it is a shallow clone: its history does not go back to the beginning"
_TO_WALK = f"""
SELECT source, kind, location, list({{'key': key, 'tree': tree}} ORDER BY position) AS revisions
FROM (
  SELECT *, (row_number() OVER (PARTITION BY line ORDER BY position) - 1) // {A_TASK} AS task
  FROM (SELECT DISTINCT ON (key) key, tree, line, position FROM revisions ANTI JOIN roots USING (key)
    ORDER BY line, position)
) JOIN lines USING (line) GROUP BY line, task, source, kind, location ORDER BY line, task
"""
_CONTENTS = f"""
WITH held AS (
  SELECT key, location, item.directory, item.folder, item.directory = '' AS top, item.files
  FROM (SELECT key, location, unnest(folders) AS item FROM walked)
), listed AS (
  SELECT folder, location, item.name, item.blob FROM (SELECT folder, location, unnest(files) AS item FROM held)
), kinds AS (
  SELECT folder, top, name, blob, kind, bool_or(kind = 'definition') OVER (PARTITION BY folder, top) AS certain
  FROM (SELECT DISTINCT folder, top FROM held) JOIN (SELECT DISTINCT folder, name, blob FROM listed) USING (folder)
    JOIN (SELECT blob, kind FROM blobs) USING (blob)
), definitions AS (  -- a file that is meant to be one counts beside definitions; one that is not a text also at the top
  SELECT folder, top, name, blob FROM kinds WHERE name NOT IN ({", ".join(f"'{name}'" for name in sorted(FOREIGN))})
    AND (kind = 'definition' OR kind = 'broken' AND (certain OR top) OR kind = 'malformed' AND certain)
), ids AS (
  SELECT folder, top, sha256(string_agg(name || ':' || blob, chr(10) ORDER BY name || ':' || blob)) AS tree
  FROM definitions GROUP BY ALL
), placed AS (
  SELECT key, directory, tree FROM held JOIN ids USING (folder, top)
), walks AS (
  SELECT key, sha256(coalesce(string_agg(p.directory || ':' || p.tree, chr(10) ORDER BY p.directory || ':' || p.tree),
    '')) AS root
  FROM walked LEFT JOIN placed p USING (key) WHERE problem IS NULL AND same IS NULL GROUP BY key
)
"""
_NEW_BLOBS = f"""
{_CONTENTS.partition(", kinds AS")[0]}
SELECT location, list(blob ORDER BY blob) AS blobs FROM (
  SELECT blob, min(location) AS location FROM listed ANTI JOIN blobs USING (blob) GROUP BY blob
) GROUP BY location ORDER BY location
"""
_SETS = f"""
SELECT {", ".join(Sets.COLUMNS)} FROM revisions JOIN lines USING (line) JOIN roots USING (key)
ORDER BY line, position
"""


def run(work: Work, context: Context) -> None:
    """Bring the lake's sets, trees, files and blobs up to the lines of history, or read all anew."""
    if anew := work.anew("ingest-walking"):
        for kind in (Blobs, Files, Trees, Roots):
            work.add(kind.NAME, (), more=False)
    problems: list[Problem] = []
    lines = context.lines if work.is_local else [line._replace(location=line.path) for line in context.lines]
    tasks = work.query(_TO_WALK, **_listed(lines)).cast(arrow_schema(TO_WALK))
    if tasks.num_rows:
        walks = work.local(TO_WALK, tasks).repartition(min(tasks.num_rows, work.parallelism * 4))
        made, problems = work.make(walks, walk_in_arrow(context.paths), {STAGING: WALKED})
        problems += _read(work, made[STAGING], lines)
        _settle(work, made[STAGING])
    put_lines(work, context)
    work.note("sources", context.problems, anew=True)
    work.note("history", ((name, CUT_OFF) for name in context.cut), anew=True)
    work.note("ingest", problems, anew=anew)


def _listed(lines: Sequence[Line]) -> dict[str, pa.Table]:
    """The lines, and all their revisions by the numbers of these."""
    tables = []
    for number, line in enumerate(lines):
        rows = line.revisions.table
        numbers = pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows)
        positions = pa.array(range(rows.num_rows), pa.int32())
        tables.append(pa.Table.from_arrays([*rows.columns, numbers, positions], schema=arrow_schema(REVISIONS)))
    known = ((at, line.source, line.lineage, line.kind, line.location) for at, line in enumerate(lines))
    return {"revisions": pa.concat_tables(tables), "lines": table(LINES, known)}


def _read(work: Work, walked: Parts, lines: Sequence[Line]) -> list[Problem]:
    """Read the contents that are new, each from one of the places that have it; the problems."""
    kinds = {line.location: line.kind for line in lines}
    most = work.parallelism * 2
    tasks: list[tuple[str, str, list[str]]] = []
    for row in work.query(_NEW_BLOBS, walked=work.lake.dataset(walked, WALKED)).to_pylist():
        blobs = row["blobs"]
        size = -(-len(blobs) // most)
        tasks += [(kinds[row["location"]], row["location"], blobs[at : at + size]) for at in range(0, len(blobs), size)]
    if not tasks:
        return []
    piles = work.local(TO_READ, tasks).repartition(min(len(tasks), most))
    made, problems = work.make(piles, read_in_arrow, {Blobs.NAME: Blobs.COLUMNS})
    work.add(Blobs.NAME, made[Blobs.NAME])
    return problems


def _settle(work: Work, walked: Parts) -> None:
    """Add the contents that are new: what folders hold is only known now that their files are read."""
    given = {"walked": work.lake.dataset(walked, WALKED)}
    roots = "SELECT key, root FROM walks UNION ALL SELECT w.key, root FROM walked w JOIN walks ON walks.key = w.same"
    new = {
        Files: "SELECT DISTINCT tree, name, blob FROM definitions JOIN ids USING (folder, top) "
        "WHERE tree NOT IN (SELECT tree FROM files) ORDER BY ALL",
        Trees: "SELECT DISTINCT root, directory, tree FROM walks JOIN placed USING (key) "
        "WHERE root NOT IN (SELECT root FROM trees) ORDER BY ALL",
        Roots: f"{roots} ORDER BY ALL",
    }
    for kind, rows in {kind: work.query(_CONTENTS + sql, **given) for kind, sql in new.items()}.items():
        work.put(kind, rows, more=True)


def put_lines(work: Work, context: Context) -> None:
    """Give the lake its lines: those that were listed, and those that could not be, as they were."""
    sources: list[tuple[object, ...]] = [
        (line.source, line.lineage, line.kind, line.path, len(line.revisions), None) for line in context.lines
    ]
    sets = work.query(_SETS, **_listed(context.lines))
    known = work.query("SELECT * FROM sources").to_pylist()
    old = [row for row in known if (row["source"], row["lineage"]) in context.lost]
    if old:
        sources += [(*list(row.values())[:-1], row["as_of"] or work.snapshot.published) for row in old]
        lost = pa.table({name: [row[name] for row in old] for name in ("source", "lineage")})
        kept = work.query("SELECT * FROM sets SEMI JOIN lost USING (source, lineage)", lost=lost)
        sets = pa.concat_tables([sets, kept])
    work.put(Sets, sets)
    work.put(Sources, sources)
