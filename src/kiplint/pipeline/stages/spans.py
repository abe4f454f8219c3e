"""Spans: findings and changes in time, on every line of history, and the releases that have them.

A task has whole sources, and asks git what descends from what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from graphlib import TopologicalSorter
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import pyarrow as pa

from kiplint.pipeline.fetching import GIT, on_this_machine
from kiplint.pipeline.lake.schema import Columns, columns, table, text
from kiplint.pipeline.stage import Context, Work
from kiplint.pipeline.tables import PLACE, STEPS, Blobs, Changes, Files, Findings, Messages, Sets, Spans, Trees
from kiplint.sources.git import open_repository
from kiplint.sources.history import TAGS, inner_commit
from kiplint.sources.schema_files import SourceError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

A_TASK = 1_000
"""The revisions of a task, unless a single source has more."""
LINES = columns("task int, source, lineage, repository")
"""Lines, and where git reads each: null for files, and where the run could not list a line. A source is in one task."""
RENAMES = columns("source, lineage, old, last")
"""By line of history: the name that a message has in the end, for each that it once had."""
LONGEST_CHAIN = 1000
INNER = columns("source, lineage, introduced_commit, path, inner_commit, inner_author, inner_subject")
"""The commits behind the merges that brought spans."""
BASES = columns("source, lineage, at_lineage, at_position int, base int, base_before int")
"""For each line and release of its source the last position on the line that the release descends from.

`base_before` is the base of the release before, `base` is null for a release that shares no history with the line.
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
_ORDERED = f"""
SELECT *, row_number() OVER (PARTITION BY source, lineage ORDER BY position)::INT AS rank
FROM ({STEPS}) SEMI JOIN given USING (source, lineage) WHERE old_root IS DISTINCT FROM root
"""
"""Of neighbours on a line with the same content the first, counted by `rank`, beside the revision before it."""
_REVISIONS = f"""
SELECT source, lineage, position, commit, release FROM ({STEPS}) SEMI JOIN given USING (source, lineage)
ORDER BY source, lineage, position
"""
_CHANGED = """
SELECT o.source, o.lineage, o.position, o.commit, o.time, o.release, c.rule, c.severity, c.breaks, c.kind, c.old,
  c.message_name, c.versions, c.field, c.path, c.message
FROM ordered o JOIN changes c USING (old_root, root)
"""
_RENAMED = """
SELECT source, lineage, old::JSON->>'name' AS old, message_name AS new FROM changed
WHERE kind = 'message-renamed' ORDER BY position
"""
_PATH = "if(directory = '', f.name, concat_ws('/', directory, f.name))"
_FOUND = f"""
SELECT o.source, o.lineage, o.rank, g.rule, g.severity, g.message_name, g.place, g.blob, {_PATH} AS path,
  concat(g.message, if(g.instead = '', '', '; write ' || g.instead)) AS message
FROM ordered o JOIN trees t USING (root) JOIN files f USING (tree)
JOIN findings g ON g.name = f.name AND g.blob = f.blob AND (g.tree IS NULL OR g.tree = t.tree)
"""
_KEY = "substring(sha256(concat_ws(chr(0), {})), 1, 32)"
_EVENT = "{0}.position AS {1}_position, {0}.commit AS {1}_commit, {0}.time AS {1}_time, {0}.release AS {1}_release"
LIVES = f"""
WITH once AS (
  SELECT source, lineage, {_KEY.format("rule, coalesce(last, message_name), place")} AS key, rank,
    min({{'path': path, 'rule': rule, 'severity': severity, 'message_name': message_name, 'message': message,
      'blob': blob}}) AS shown
  FROM found LEFT JOIN (SELECT source, lineage, old AS message_name, last FROM renames)
    USING (source, lineage, message_name) GROUP BY ALL
), islands AS (
  SELECT *, rank - row_number() OVER (PARTITION BY source, lineage, key ORDER BY rank) AS island FROM once
), lives AS (
  SELECT source, lineage, key, min(rank) AS first, max(rank) + 1 AS after, max_by(shown, rank) AS shown
  FROM islands GROUP BY source, lineage, key, island
)
SELECT l.source, l.lineage, 'finding' AS what, key, shown.rule, shown.severity, NULL AS breaks,
  shown.message_name, '' AS field, shown.path, shown.message, {_EVENT.format("b", "introduced")},
  {_EVENT.format("e", "fixed")}, e.position IS NULL AS open, first = 1 AS from_beginning, shown.blob
FROM lives l JOIN ordered b ON b.source = l.source AND b.lineage = l.lineage AND b.rank = first
LEFT JOIN ordered e ON e.source = l.source AND e.lineage = l.lineage AND e.rank = after
UNION ALL
SELECT source, lineage, 'change', {_KEY.format("rule, message_name, kind, versions, field")}, rule, severity, breaks,
  message_name, field, path, message, {_EVENT.format("c", "introduced")},
  NULL, NULL, NULL, NULL, NULL, false, NULL FROM changed c
"""
_SELECTORS = r"kiplint:[ \t]*ignore(?:-file)?[ \t]*\[([^\]]*)\]"
ENDED = f"""
WITH gone AS (
  SELECT l.*, root FROM lives l JOIN ordered o
  ON o.source = l.source AND o.lineage = l.lineage AND o.position = fixed_position WHERE what = 'finding'
), sought AS (
  SELECT source, lineage, key, introduced_position, rule, root, blob AS old_blob,
    unnest(list_distinct([message_name, path])) AS who FROM gone
), placed AS (
  SELECT root, blob, {_PATH} AS path FROM trees JOIN files f USING (tree) WHERE root IN (SELECT root FROM gone)
), there AS (
  SELECT root, message_name AS who, blob FROM placed JOIN (SELECT blob, message_name FROM messages) USING (blob)
  UNION SELECT root, path, blob FROM placed
), seen AS (
  SELECT blob FROM there UNION SELECT blob FROM gone
), selectors AS (
  SELECT blob, trim(unnest(string_split(inside, ',')), ' ' || chr(9)) AS selector FROM (
    SELECT blob, unnest(regexp_extract_all(TRY(decode(data)), '{_SELECTORS}', 1)) AS inside
    FROM blobs SEMI JOIN seen USING (blob)
  )
), marks AS (  -- how many selectors mean the rule: its id, its pack, or a glob over ids
  SELECT blob, rule, count(*) AS marks FROM selectors JOIN (SELECT DISTINCT rule FROM gone)
  ON rule = selector OR split_part(rule, '/', 1) = selector OR selector = 'all' OR rule GLOB selector GROUP BY ALL
), ends AS (
  SELECT source, lineage, key, introduced_position, bool_or(t.blob IS NOT NULL) AS is_there,
    bool_or(coalesce(m.marks, 0) > coalesce(old.marks, 0)) AS is_hidden
  FROM sought s LEFT JOIN there t USING (root, who) LEFT JOIN marks m ON m.blob = t.blob AND m.rule = s.rule
  LEFT JOIN marks old ON old.blob = old_blob AND old.rule = s.rule WHERE who <> '' GROUP BY ALL
), dropped AS (
  SELECT DISTINCT gone.source, gone.lineage, key, introduced_position, true AS is_dropped FROM gone JOIN changed c
  ON c.source = gone.source AND c.lineage = gone.lineage AND c.position = fixed_position
    AND c.message_name = gone.message_name AND c.rule = 'compat/version-dropped'
)
SELECT source, lineage, key, introduced_position, CASE WHEN NOT is_there THEN 'message removed'
  WHEN is_dropped THEN 'version removed' WHEN is_hidden THEN 'suppressed' ELSE 'fixed' END AS ended
FROM ends LEFT JOIN dropped USING (source, lineage, key, introduced_position)
"""
_MERGED = """
SELECT DISTINCT source, lineage, introduced_commit, path FROM lives
WHERE introduced_commit IN (SELECT commit FROM sets WHERE len(parents) > 1) ORDER BY ALL
"""
RELEASED = f"""
WITH begun AS (
  SELECT source, lineage, what, key, introduced_position, fixed_position, fixed_release AS gone_release
  FROM lives WHERE introduced_release IS NOT NULL
), releases AS (
  SELECT source, lineage, position, time, release FROM sets WHERE release IS NOT NULL
), shipped AS (  -- a finding is in all releases from the first to the last of a life, a change is the step to one
  SELECT b.source, b.what, b.key, b.gone_release, r.lineage AS at_lineage, r.position AS at_position,
    r.time AS at_time, r.release AS at_release
  FROM begun b JOIN releases r ON r.source = b.source AND r.lineage = b.lineage AND
    (r.position = introduced_position OR what = 'finding' AND r.position > introduced_position
      AND (fixed_position IS NULL OR r.position < fixed_position))
), met AS (
  SELECT l.source, l.lineage, l.what, l.key, l.introduced_position AS begin, r.* EXCLUDE (source, what, key), CASE
    WHEN b.base IS NULL THEN if(l.introduced_time <= r.at_time, 3, NULL)
    WHEN l.introduced_position <= b.base AND if(l.what = 'change', l.introduced_position > b.base_before,
      l.fixed_position IS NULL OR l.fixed_position > b.base) THEN 1
    WHEN l.introduced_position > b.base AND l.introduced_time <= r.at_time THEN 2
    WHEN l.introduced_position <= b.base THEN 3 END AS rank
  FROM lives l JOIN shipped r ON r.source = l.source AND r.what = l.what AND r.key = l.key
  LEFT JOIN bases b ON b.source = l.source AND b.lineage = l.lineage AND b.at_lineage = r.at_lineage
    AND b.at_position = r.at_position
), owned AS (  -- of the lives of a key, the last that a release descends from, else the first that it can have picked
  SELECT source, lineage, what, key, at_lineage, at_position, any_value(at_release) AS at_release,
    any_value(gone_release) AS gone_release,
    min({{'rank': rank, 'nearest': if(rank = 2, begin, -begin), 'begin': begin}}) AS life
  FROM met WHERE rank IS NOT NULL GROUP BY source, lineage, what, key, at_lineage, at_position
), picked AS (
  SELECT source, lineage, what, key, life.begin AS introduced_position, at_release, min(at_position) AS place FROM owned
  WHERE life.rank = 2 GROUP BY ALL
), backported AS (
  SELECT * EXCLUDE (at_release, place), list(at_release ORDER BY place, at_release) AS backports
  FROM picked GROUP BY ALL
), firsts AS (
  SELECT source, lineage, what, key, life.begin AS introduced_position,
    min_by({{'first': at_release, 'gone': gone_release}}, {{'position': at_position, 'lineage': at_lineage}}) AS shipped
  FROM owned GROUP BY ALL
), early AS (
  SELECT source, b.lineage, release.time AS time, b.base FROM (
    SELECT source, min_by({{'lineage': lineage, 'position': position, 'time': time}},
      {{'position': position, 'lineage': lineage}}) AS release FROM releases GROUP BY source
  ) JOIN bases b USING (source) WHERE b.at_lineage = release.lineage AND b.at_position = release.position
), whole AS (
  SELECT l.* EXCLUDE (fixed_release), shipped.first AS first_release, shipped.gone AS fixed_release, ended,
    inner_commit, inner_author, inner_subject, coalesce(backports, []) AS backports,
    coalesce(l.what = 'change' AND shipped IS NULL
      AND if(base IS NULL, introduced_time <= early.time, introduced_position <= base), false) AS before_first_release
  FROM lives l LEFT JOIN firsts USING (source, lineage, what, key, introduced_position)
  LEFT JOIN backported USING (source, lineage, what, key, introduced_position)
  LEFT JOIN early USING (source, lineage) LEFT JOIN inner_commits USING (source, lineage, introduced_commit, path)
  LEFT JOIN ended e ON what = 'finding' AND e.source = l.source AND e.lineage = l.lineage AND e.key = l.key
    AND e.introduced_position = l.introduced_position
)
SELECT {", ".join(Spans.COLUMNS)} FROM whole ORDER BY source, lineage, introduced_position, what, key
"""


def run(work: Work, context: Context) -> None:
    """Make the spans of lines with other revisions than before, or of all."""
    anew = any(work.unprocessed("spans", kind)[1] for kind in (Files, Trees, Blobs, Messages, Findings, Changes))
    chosen = work.query(TOUCHED, old_sets=() if anew else work.processed("spans", Sets))
    work.put(Spans, () if anew else work.query(_KEPT, chosen=chosen))
    lines = list(_lines(chosen.to_pylist(), work, context))
    if lines:
        given = work.local(LINES, lines).repartition(1 + lines[-1][0], "task")
        work.put(Spans, work.ask(Spans, given, spans_of), more=True)


def _lines(
    chosen: Iterable[Mapping[str, str]], work: Work, context: Context
) -> Iterator[tuple[int, str, str, str | None]]:
    """Rows of `LINES`, for lines in the order of their sources."""
    listed = {line[:2]: line for line in context.lines}
    task = filled = 0
    for source, rows in groupby(chosen, key=itemgetter("source")):
        lines = [(row["lineage"], listed.get((source, row["lineage"]))) for row in rows]
        size = sum(len(line.revisions) for _, line in lines if line)
        if filled and filled + size > A_TASK:
            task, filled = task + 1, 0
        filled += size
        for lineage, line in lines:
            place = line and (line.location if work.is_local else line.path)
            yield task, source, lineage, place if line and line.kind == GIT else None


def spans_of(duck: DuckDBPyConnection) -> pa.Table:
    """The spans of the lines `given`, from a connection to the tables of the lake."""

    def register(name: str, kinds: Columns, rows: Iterable[tuple[object, ...]]) -> None:
        duck.register(name, table(kinds, rows))

    places = {(source, lineage): place for _, source, lineage, place in duck.sql("FROM given").fetchall()}
    duck.execute(f"CREATE TEMP TABLE ordered AS {_ORDERED}")
    duck.execute(f"CREATE TEMP TABLE changed AS {_CHANGED}")
    register("renames", RENAMES, _last_names(duck.sql(_RENAMED).fetchall()))
    duck.execute(f"CREATE TEMP TABLE found AS {_FOUND}")
    duck.execute(f"CREATE TEMP TABLE lives AS {LIVES}")
    duck.execute(f"CREATE TEMP TABLE ended AS {ENDED}")
    register("inner_commits", INNER, _inner(duck.sql(_MERGED).fetchall(), places))
    register("bases", BASES, _bases(duck.sql(_REVISIONS).fetchall(), places))
    return duck.sql(RELEASED).to_arrow_table()


def _inner(
    merged: Iterable[tuple[str, str, str, str]], places: Mapping[tuple[str, str], str | None]
) -> Iterator[tuple[object, ...]]:
    """Rows of `INNER`, as far as repositories can be read here."""
    for line, brought in groupby(merged, key=lambda row: row[:2]):
        if place := places[line]:
            with suppress(SourceError, OSError), closing(open_repository(on_this_machine(place))) as objects:
                for _, _, commit, path in brought:
                    if inner := inner_commit(objects, commit, path):
                        yield (*line, commit, path, *map(text, inner))


def _bases(
    revisions: Iterable[tuple[str, str, int, str, str | None]], places: Mapping[tuple[str, str], str | None]
) -> Iterator[tuple[object, ...]]:
    """Rows of `BASES`; the merge bases as far as repositories can be read here."""
    for source, rows in groupby(revisions, key=itemgetter(0)):
        lines: dict[str, dict[str, int]] = {}
        tagged: list[tuple[str, int, str]] = []
        for _, lineage, position, commit, release in rows:
            lines.setdefault(lineage, {})[commit] = position
            if release is not None:
                tagged.append((lineage, position, commit))
        tags = {lineage for lineage, *_ in tagged}
        parents: dict[str, set[str]] = {}
        if tags and lines.keys() - tags:
            for lineage, commits in lines.items():
                if place := places[source, lineage]:
                    _add_parents(parents, place, lineage, list(commits))
        for lineage, positions in lines.items():
            bases = positions if lineage in tags else descents(parents, positions)
            for at, (at_lineage, position, commit) in enumerate(tagged):
                own = at_lineage == lineage
                before = tagged[at - 1] if at and tagged[at - 1][0] == at_lineage else None
                last = position - 1 if own else bases.get(before[2]) if before else None
                base = position if own else bases.get(commit)
                yield source, lineage, at_lineage, position, base, -1 if last is None else last


def _add_parents(parents: dict[str, set[str]], place: str, lineage: str, commits: list[str]) -> None:
    """Add the parents of all commits that a line and its tags descend from; nothing where git cannot say them."""
    which = commits if lineage.partition("=")[0] == TAGS else commits[-1:]
    with suppress(SourceError, OSError), closing(open_repository(on_this_machine(place))) as objects:
        for listed in objects.run("rev-list", "--parents", *which, "--").splitlines():
            commit, *above = listed.split()
            parents.setdefault(commit, set()).update(above)


def descents(parents: Mapping[str, set[str]], places: Mapping[str, int]) -> dict[str, int]:
    """For each commit the highest of some places that it has or descends from; none without any."""
    highest: dict[str, int] = {}
    for commit in TopologicalSorter(parents).static_order():
        below = [highest[parent] for parent in parents.get(commit, ()) if parent in highest]
        if (place := max([*below, places.get(commit, -1)])) >= 0:
            highest[commit] = place
    return {**places, **highest}


def _last_names(renamed: Iterable[tuple[str, str, str, str]]) -> Iterator[tuple[str, str, str, str]]:
    """Rows of `RENAMES`: the names that messages have in the end, by those they had."""
    heirs: dict[tuple[str, str], dict[str, str]] = {}
    for source, lineage, old, new in renamed:
        heirs.setdefault((source, lineage), {})[old] = new
    for line, names in heirs.items():
        for first in names:
            last = first
            for _ in range(LONGEST_CHAIN):  # a name that came back makes a circle
                last = names.get(last, last)
            yield *line, first, last
