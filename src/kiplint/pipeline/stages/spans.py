"""Spans: findings and changes in time, on every line of history, and the releases that have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from kiplint.pipeline.fetching import GIT, on_this_machine
from kiplint.pipeline.lake.delta import Parts
from kiplint.pipeline.lake.schema import Columns, columns, text
from kiplint.pipeline.stage import Context, Work
from kiplint.pipeline.tables import OLD, PLACE, STEPS, Blobs, Changes, Files, Findings, Messages, Sets, Spans, Trees
from kiplint.sources.git import open_repository
from kiplint.sources.history import TAGS, inner_commit
from kiplint.sources.schema_files import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kiplint.pipeline.listing import Line

ORDER: Columns = {**PLACE, "rank": "int", **{f"old_{name}": PLACE[name] for name in OLD}}
"""Of neighbours on a line with the same content the first, counted by `rank`, beside the revision before it."""
RENAMES = columns("source, lineage, old, last")
"""By line of history: the name that a message has in the end, for each that it once had."""
BASES = columns("source, lineage, at_lineage, at_position int, base int, base_before int")
"""For each line and release of its source the last position on the line that the release descends from.

`base_before` is the base of the release before, `base` is null for a release that shares no history with the line.
"""
LONGEST_CHAIN = 1000
ON = ("source", "lineage", "introduced_commit", "path")
INNER: Columns = dict.fromkeys((*ON, "inner_commit", "inner_author", "inner_subject"), "string")
_ORDER = f"""
SELECT {", ".join(name for name in ORDER if name != "rank")},
  row_number() OVER (PARTITION BY source, lineage ORDER BY position)::INT AS rank
FROM ({STEPS}) SEMI JOIN chosen USING (source, lineage) WHERE old_root IS DISTINCT FROM root
ORDER BY source, lineage, position
"""
TOUCHED = f"""
WITH now AS (SELECT {", ".join(PLACE)} FROM sets), past AS (SELECT {", ".join(PLACE)} FROM old_sets), other AS (
  (FROM now EXCEPT FROM past) UNION ALL (FROM past EXCEPT FROM now)
), touched AS (
  SELECT source, lineage, bool_or(release IS NOT NULL) AS released FROM other GROUP BY ALL
), lines AS (
  SELECT source, lineage, bool_or(release IS NOT NULL) AS tagged FROM now GROUP BY ALL
)
SELECT DISTINCT l.source, l.lineage FROM lines l JOIN touched t USING (source)
WHERE l.lineage = t.lineage OR tagged OR t.released ORDER BY ALL
"""
"""The lines with other revisions than before, and the releases of their sources; with other releases all lines."""
_KEPT = "SELECT * FROM spans SEMI JOIN sets USING (source, lineage) ANTI JOIN chosen USING (source, lineage)"
_REVISIONS = f"""
SELECT source, lineage, position, commit, release FROM ({STEPS}) SEMI JOIN chosen USING (source, lineage)
"""
_RENAMED = """
SELECT o.source, o.lineage, c.old::JSON->>'name' AS old, c.message_name AS new
FROM ordered o JOIN changes c USING (old_root, root) WHERE c.kind = 'message-renamed' ORDER BY o.position
"""
_MERGED = """
SELECT DISTINCT source, lineage, introduced_commit AS commit, path FROM lives
WHERE introduced_commit IN (SELECT commit FROM sets WHERE len(parents) > 1) ORDER BY ALL
"""
_PATH = "if(directory = '', f.name, concat_ws('/', directory, f.name))"
_FOUND = f"""
SELECT o.source, o.lineage, o.rank, g.rule, g.severity, g.message_name, g.place, g.blob, {_PATH} AS path,
  concat(g.message, if(g.instead = '', '', concat('; write ', g.instead))) AS message
FROM {{order}} o JOIN {{trees}} t USING (root) JOIN {{files}} f USING (tree)
JOIN (SELECT *, tree AS of_tree FROM {{findings}}) g
  ON g.name = f.name AND g.blob = f.blob AND (of_tree IS NULL OR of_tree = t.tree)
"""
_KEY = "substring(sha2(concat_ws('\\0', {}), 256), 1, 32)"
_EVENT = "{0}.position AS {1}_position, {0}.commit AS {1}_commit, {0}.time AS {1}_time, {0}.release AS {1}_release"
LIVES = f"""
WITH named AS (
  SELECT found.*, {_KEY.format("rule, coalesce(last, message_name), place")} AS key FROM {{found}} found
  LEFT JOIN {{renames}} r ON r.source = found.source AND r.lineage = found.lineage AND r.old = message_name
), once AS (
  SELECT source, lineage, key, rank, min(struct(path, rule, severity, message_name, message, blob)) AS shown
  FROM named GROUP BY source, lineage, key, rank
), islands AS (
  SELECT *, rank - row_number() OVER (PARTITION BY source, lineage, key ORDER BY rank) AS island FROM once
), lives AS (
  SELECT source, lineage, key, min(rank) AS first, max(rank) + 1 AS after, max_by(shown, rank) AS shown
  FROM islands GROUP BY source, lineage, key, island
)
SELECT l.source, l.lineage, 'finding' AS what, key, shown.rule, shown.severity, CAST(NULL AS STRING) AS breaks,
  shown.message_name, '' AS field, shown.path, shown.message, {_EVENT.format("b", "introduced")},
  {_EVENT.format("e", "fixed")}, e.position IS NULL AS open, first = 1 AS from_beginning, shown.blob
FROM lives l JOIN {{order}} b ON b.source = l.source AND b.lineage = l.lineage AND b.rank = first
LEFT JOIN {{order}} e ON e.source = l.source AND e.lineage = l.lineage AND e.rank = after
UNION ALL
SELECT source, lineage, 'change', {_KEY.format("rule, message_name, kind, versions, field")}, rule, severity, breaks,
  message_name, field, path, message, {_EVENT.format("c", "introduced")},
  NULL, NULL, NULL, NULL, NULL, false, NULL FROM {{changed}} c
"""
_CHANGED = """
SELECT o.source, o.lineage, o.position, o.commit, o.time, o.release, c.rule, c.severity, c.breaks, c.kind,
  c.message_name, c.versions, c.field, c.path, c.message
FROM {order} o JOIN {changes} c ON c.old_root = o.old_root AND c.root = o.root
"""
_SELECTORS = r"kiplint:[ \t]*ignore(?:-file)?[ \t]*\[([^\]]*)\]"
_FORM = "selector"
for _sign, _escaped in ((r"\\", r"\\\\"), ("%", r"\\%"), ("_", r"\\_"), ("*", "%"), ("?", "_")):
    _FORM = f"replace({_FORM}, '{_sign}', '{_escaped}')"
_COUNT = (
    "coalesce(size(filter({}, selector -> rule = selector OR split_part(rule, '/', 1) = selector "
    f"OR selector = 'all' OR rule LIKE {_FORM})), 0)"
)
"""How many selectors mean the rule: its id, its pack, or a glob over ids (brackets end where a comment's do)."""
ENDED = f"""
WITH over AS (
  SELECT s.*, root FROM {{spans}} s JOIN {{order}} o
  ON o.source = s.source AND o.lineage = s.lineage AND o.position = fixed_position WHERE what = 'finding'
), sought AS (
  SELECT source, lineage, key, introduced_position, rule, root, blob AS old_blob,
    explode(array_distinct(array(message_name, path))) AS who FROM over
), placed AS (
  SELECT root, blob, {_PATH} AS path FROM {{trees}} JOIN {{files}} f USING (tree)
), there AS (
  SELECT root, message_name AS who, blob FROM placed JOIN (SELECT blob, message_name FROM {{messages}}) USING (blob)
  UNION SELECT root, path, blob FROM placed
), comments AS (
  SELECT blob, regexp_extract_all(try_validate_utf8(data), r"{_SELECTORS}", 1) AS inside FROM {{blobs}}
  WHERE data IS NOT NULL
), marks AS (
  SELECT blob, transform(split(array_join(inside, ','), ','), word -> trim(BOTH ' \\t' FROM word)) AS marks
  FROM comments WHERE size(inside) > 0
), ends AS (
  SELECT source, lineage, key, introduced_position, max(t.blob IS NOT NULL) AS is_there,
    max({_COUNT.format("m.marks")} > {_COUNT.format("old.marks")}) AS is_hidden
  FROM sought s LEFT JOIN there t ON t.root = s.root AND t.who = s.who AND s.who <> ''
  LEFT JOIN marks m ON m.blob = t.blob LEFT JOIN marks old ON old.blob = old_blob
  WHERE s.who <> '' GROUP BY source, lineage, key, introduced_position
), dropped AS (
  SELECT DISTINCT over.source, over.lineage, key, introduced_position, true AS is_dropped FROM over JOIN {{changed}} c
  ON c.source = over.source AND c.lineage = over.lineage AND c.position = fixed_position
    AND c.message_name = over.message_name AND c.rule = 'compat/version-dropped'
)
SELECT source, lineage, key, introduced_position, CASE WHEN NOT is_there THEN 'message removed'
  WHEN is_dropped THEN 'version removed' WHEN is_hidden THEN 'suppressed' ELSE 'fixed' END AS ended
FROM ends LEFT JOIN dropped USING (source, lineage, key, introduced_position)
"""
_SHIPPED = """
WITH begun AS (
  SELECT source, lineage, what, key, introduced_position, fixed_position, fixed_release AS gone_release
  FROM {spans} WHERE introduced_release IS NOT NULL
), releases AS (
  SELECT source, lineage, position, time, release FROM {sets} WHERE release IS NOT NULL
), shipped AS (  -- a finding is in all releases from the first to the last of a life, a change is the step to one
  SELECT b.source, b.what, b.key, b.gone_release, r.lineage AS at_lineage, r.position AS at_position,
    r.time AS at_time, r.release AS at_release
  FROM begun b JOIN releases r ON r.source = b.source AND r.lineage = b.lineage AND
    (r.position = introduced_position OR what = 'finding' AND r.position > introduced_position
      AND (fixed_position IS NULL OR r.position < fixed_position))
), met AS (
  SELECT l.source, l.lineage, l.what, l.key, l.introduced_position AS begin, r.* EXCEPT (source, what, key), CASE
    WHEN b.base IS NULL THEN if(l.introduced_time <= r.at_time, 3, NULL)
    WHEN l.introduced_position <= b.base AND if(l.what = 'change', l.introduced_position > b.base_before,
      l.fixed_position IS NULL OR l.fixed_position > b.base) THEN 1
    WHEN l.introduced_position > b.base AND l.introduced_time <= r.at_time THEN 2
    WHEN l.introduced_position <= b.base THEN 3 END AS rank
  FROM {spans} l JOIN shipped r ON r.source = l.source AND r.what = l.what AND r.key = l.key
  LEFT JOIN {bases} b ON b.source = l.source AND b.lineage = l.lineage AND b.at_lineage = r.at_lineage
    AND b.at_position = r.at_position
), owned AS (  -- of the lives of a key, the last that a release descends from, else the first that it can have picked
  SELECT source, lineage, what, key, at_lineage, at_position, any_value(at_release) AS at_release,
    any_value(gone_release) AS gone_release,
    min(struct(rank, if(rank = 2, begin, -begin) AS nearest, begin)) AS life
  FROM met WHERE rank IS NOT NULL GROUP BY source, lineage, what, key, at_lineage, at_position
)
SELECT source, lineage, what, key, life.begin AS introduced_position,
  min(struct(at_position, at_lineage, at_release, gone_release)) AS shipped,
  array_distinct(transform(sort_array(collect_list(
    if(life.rank = 2, struct(at_position, at_release), NULL))), picked -> picked.at_release)) AS backports
FROM owned GROUP BY source, lineage, what, key, life.begin
"""
_WHOLE = """
WITH firsts AS (
  SELECT source, min_by(struct(lineage, position, time), struct(position, lineage)) AS release FROM {sets}
  WHERE release IS NOT NULL GROUP BY source
), early AS (
  SELECT source, b.lineage, release.time AS time, b.base FROM firsts JOIN {bases} b USING (source)
  WHERE b.at_lineage = release.lineage AND b.at_position = release.position
)
SELECT s.* EXCEPT (fixed_release), r.shipped.at_release AS first_release, r.shipped.gone_release AS fixed_release,
  coalesce(backports, array()) AS backports, coalesce(s.what = 'change' AND r.shipped IS NULL
    AND if(e.base IS NULL, s.introduced_time <= e.time, s.introduced_position <= e.base), false) AS before_first_release
FROM {spans} s LEFT JOIN {shipped} r ON r.source = s.source AND r.lineage = s.lineage AND r.what = s.what
  AND r.key = s.key AND r.introduced_position = s.introduced_position
LEFT JOIN early e ON e.source = s.source AND e.lineage = s.lineage
"""


def run(work: Work, context: Context) -> None:
    """Make the spans of lines with new revisions, or all; no plan for what has no rows: renames, endings, merges."""
    anew = any(work.unprocessed("spans", kind)[1] for kind in (Files, Trees, Blobs, Messages, Findings, Changes))
    chosen = work.query(TOUCHED, old_sets=() if anew else work.processed("spans", Sets))
    work.put(Spans, () if anew else work.query(_KEPT, chosen=chosen))
    ordered = work.query(_ORDER, chosen=chosen)
    if not ordered.num_rows:
        return
    order = work.local(ORDER, ordered)
    changed = work.sql(_CHANGED, order=order)
    renames = work.local(RENAMES, list(_last_names(work.query(_RENAMED, ordered=ordered))))
    lives = work.sql(LIVES, found=work.sql(_FOUND, order=order), renames=renames, order=order, changed=changed)
    kinds = dict(lives.dtypes)
    parts = work.stage("in-time", lives)
    staged = whole = work.read(kinds, parts)
    over = pc.field("fixed_position").is_valid() & (pc.field("what") == "finding")
    if work.lake.dataset(parts, kinds).count_rows(filter=over):
        ended = work.sql(ENDED, spans=staged, order=order, changed=changed)
        whole = whole.join(ended, ["source", "lineage", "key", "introduced_position"], "left")
    if inner := list(_inner(work, context, parts)):
        whole = whole.join(work.local(INNER, inner), list(ON), "left")
    revisions = work.query(_REVISIONS, chosen=chosen)
    bases = list(_bases(revisions, context))
    if bases:
        whole = with_releases(work.spark, whole, work.frame(Sets), work.local(BASES, bases))
    else:
        no_releases = ("false AS before_first_release", "CAST(array() AS array<string>) AS backports")
        whole = whole.drop("fixed_release").selectExpr("*", *no_releases)
    missing = {name: kind for name, kind in Spans.COLUMNS.items() if name not in whole.columns}
    nulls = [f"CAST(NULL AS {kind}) AS {name}" for name, kind in missing.items()]
    work.put(Spans, whole.selectExpr("*", *nulls).select(*Spans.COLUMNS), more=True)


def with_releases(spark: SparkSession, spans: DataFrame, sets: DataFrame, bases: DataFrame) -> DataFrame:
    """The spans with the releases that have them: by content, and by descent (`BASES`) where lives of a key differ."""
    shipped = spark.sql(_SHIPPED, None, spans=spans, sets=sets, bases=bases)
    return spark.sql(_WHOLE, None, spans=spans, sets=sets, bases=bases, shipped=shipped)


def _inner(work: Work, context: Context, spans: Parts) -> Iterator[tuple[object, ...]]:
    """Rows of `INNER`: the commits behind the merges that brought spans, as far as sources can be read here."""
    rows = work.query(_MERGED, lives=work.lake.dataset(spans, dict.fromkeys(ON, "string")))
    by_line: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in rows.to_pylist():
        by_line.setdefault((row["source"], row["lineage"]), []).append((row["commit"], row["path"]))
    for line in context.lines:
        if places := by_line.get(line[:2]):
            objects = open_repository(on_this_machine(line.location))
            for place in places:
                if inner := inner_commit(objects, *place):
                    yield (*line[:2], *place, *map(text, inner))
            objects.close()


def _bases(revisions: pa.Table, context: Context) -> Iterator[tuple[object, ...]]:
    """Rows of `BASES`; the merge bases as far as sources can be read here."""
    lines: dict[str, dict[str, dict[str, int]]] = {}
    releases: dict[str, list[tuple[str, int, str]]] = {}
    for row in revisions.sort_by([(name, "ascending") for name in ("source", "lineage", "position")]).to_pylist():
        lines.setdefault(row["source"], {}).setdefault(row["lineage"], {})[row["commit"]] = row["position"]
        if row["release"] is not None:
            releases.setdefault(row["source"], []).append((row["lineage"], row["position"], row["commit"]))
    for source, tagged in releases.items():
        parents: dict[str, set[str]] = {}
        tags = {lineage for lineage, *_ in tagged}
        if lines[source].keys() - tags:
            for line in context.lines:
                if line.source == source and line.kind == GIT:
                    _add_parents(parents, line)
        for lineage, places in lines[source].items():
            bases = places if lineage in tags else descents(parents, places)
            for at, (at_lineage, position, commit) in enumerate(tagged):
                own = at_lineage == lineage
                before = tagged[at - 1] if at and tagged[at - 1][0] == at_lineage else None
                last = position - 1 if own else bases.get(before[2]) if before else None
                base = position if own else bases.get(commit)
                yield source, lineage, at_lineage, position, base, -1 if last is None else last


def _add_parents(parents: dict[str, set[str]], line: Line) -> None:
    """Add the parents of all commits that a line and its tags descend from; nothing where git cannot say them."""
    commits = [commit for commit in line.revisions.table["commit"].to_pylist() if commit]
    which = commits if line.lineage.partition("=")[0] == TAGS else commits[-1:]
    objects = open_repository(on_this_machine(line.location))
    with suppress(SourceError):
        for listed in objects.run("rev-list", "--parents", *which, "--").splitlines():
            commit, *above = listed.split()
            parents.setdefault(commit, set()).update(above)
    objects.close()


def descents(parents: Mapping[str, set[str]], places: Mapping[str, int]) -> dict[str, int]:
    """For each commit the highest of some places that it has or descends from; none without any."""
    highest: dict[str, int] = {}
    for commit in TopologicalSorter(parents).static_order():
        below = [highest[parent] for parent in parents.get(commit, ()) if parent in highest]
        if (place := max([*below, places.get(commit, -1)])) >= 0:
            highest[commit] = place
    return {**places, **highest}


def _last_names(renamed: pa.Table) -> Iterator[tuple[str, str, str, str]]:
    """Rows of `RENAMES`: the names that messages have in the end, by those they had."""
    heirs: dict[tuple[str, str], dict[str, str]] = {}
    for row in renamed.to_pylist():
        heirs.setdefault((row["source"], row["lineage"]), {})[row["old"]] = row["new"]
    for (source, lineage), names in heirs.items():
        for first in names:
            last = first
            for _ in range(LONGEST_CHAIN):  # a name that came back makes a circle
                last = names.get(last, last)
            yield source, lineage, first, last
