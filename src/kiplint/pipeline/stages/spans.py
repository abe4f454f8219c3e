"""Spans: findings and changes in time, on every line of history, and the releases that have them.

All of it is joins and windows by source, but for what git says: which commit a merge brought, and what descends from
what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from kiplint.pipeline.fetching import GIT, leaving_nothing, on_this_machine
from kiplint.pipeline.lake.schema import Columns, columns, ddl, table, text
from kiplint.pipeline.stage import Context
from kiplint.pipeline.tables import (
    RPC,
    STEPS,
    Blobs,
    Changes,
    Files,
    Findings,
    Messages,
    Revisions,
    Spans,
    Trees,
)
from kiplint.pipeline.work import A_HANDFUL, Work
from kiplint.pipeline.workers import rows_of
from kiplint.sources.git import open_repository
from kiplint.sources.history import TAGS, inner_commit
from kiplint.sources.schema_files import SourceError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

ORDERED_SQL = f"""
SELECT *, CAST(row_number() OVER (PARTITION BY source, lineage ORDER BY position) AS INT) AS rank
FROM ({STEPS}) WHERE NOT old_root <=> root
"""
"""Of neighbours on a line with the same content the first, counted by `rank`, beside the revision before it."""
CHANGED_SQL = """
SELECT o.source, o.lineage, o.position, o.commit, o.time, o.release, c.rule, c.severity, c.breaks, c.kind, c.old,
  c.message_name, c.message_type, c.api_key, c.versions, c.field, c.path, c.message
FROM {ordered} o JOIN {changes} c ON c.old_root = o.old_root AND c.root = o.root
"""
WHO = f"if({{0}} IN {RPC!r} AND {{1}} IS NOT NULL, concat({{0}}, ' ', {{1}}), {{2}})"
"""What a message is known by: an RPC by its API key, any other by its name."""
LAST_NAMES_SQL = f"""
WITH keys AS (  -- in most lakes few API keys have been claimed by several names
  SELECT type, api_key FROM {{messages}} WHERE type IN {RPC!r} AND api_key IS NOT NULL
  GROUP BY type, api_key HAVING count(DISTINCT message_name) > 1
), claims AS (
  SELECT root, type, api_key, message_name FROM keys JOIN {{messages}} USING (type, api_key) JOIN {{files}} USING (blob)
  JOIN {{trees}} USING (tree)
)
SELECT source, concat(type, ' ', api_key) AS who, max_by(message_name, struct(time, position, lineage)) AS last
FROM {{ordered}} JOIN claims USING (root) GROUP BY source, type, api_key
HAVING count(DISTINCT message_name) > 1 AND count(DISTINCT message_name, root) = count(DISTINCT root)
"""
"""By source and API key the name that a message has in the end, unless two messages claim the key at once."""
RENAMES_SQL = f"""
SELECT source, time, position, get_json_object(old, '$.name') AS old, message_name AS new
FROM {{changed}} WHERE kind = 'message-renamed' AND message_type NOT IN {RPC!r}
"""
RENAMES: Columns = columns("source, time timestamp, position int, old, new")
LAST_NAMES: Columns = columns("source, who, last")
"""By source: the name that a message has in the end, by what it is known by."""
PATH = "if(directory = '', f.name, concat(directory, '/', f.name))"
KEY = "substring(sha2(concat_ws('\\0', {}), 256), 1, 32)"
EVENT = "{0}.position AS {1}_position, {0}.commit AS {1}_commit, {0}.time AS {1}_time, {0}.release AS {1}_release"
LIVES_SQL = f"""
WITH identified AS (
  SELECT g.tree, g.name, blob, rule, severity, message_name, place,
    {WHO.format("type", "api_key", "message_name")} AS who,
    concat(message, if(instead = '', '', concat('; write ', instead))) AS message
  FROM {{findings}} g LEFT JOIN (SELECT blob, type, api_key FROM {{messages}}) USING (blob)
), of_trees AS (
  SELECT f.tree, g.name, g.blob, rule, severity, message_name, place, who, message
  FROM {{files}} f JOIN identified g ON g.name = f.name AND g.blob = f.blob WHERE g.tree IS NULL
  UNION ALL
  SELECT * FROM identified WHERE tree IS NOT NULL
), once AS (
  SELECT source, lineage, rank, min(struct({PATH} AS path, rule, severity, message_name, message, blob)) AS shown,
    {KEY.format("rule, coalesce(last, message_name), place")} AS key
  FROM {{ordered}} JOIN {{trees}} USING (root) JOIN of_trees f USING (tree) LEFT JOIN {{names}} USING (source, who)
  GROUP BY source, lineage, rank, rule, coalesce(last, message_name), place
), islands AS (
  SELECT *, rank - row_number() OVER (PARTITION BY source, lineage, key ORDER BY rank) AS island FROM once
), lives AS (
  SELECT source, lineage, key, min(rank) AS first, max(rank) + 1 AS after, max_by(shown, rank) AS shown
  FROM islands GROUP BY source, lineage, key, island
)
SELECT l.source, l.lineage, 'finding' AS what, key, shown.rule, shown.severity, CAST(NULL AS STRING) AS breaks,
  shown.message_name, '' AS field, shown.path, shown.message, {EVENT.format("b", "introduced")},
  {EVENT.format("e", "fixed")},
  e.position IS NULL AS open, first = 1 AS from_beginning, shown.blob, e.root AS fixed_root
FROM lives l JOIN {{ordered}} b ON b.source = l.source AND b.lineage = l.lineage AND b.rank = first
LEFT JOIN {{ordered}} e ON e.source = l.source AND e.lineage = l.lineage AND e.rank = after
UNION ALL
SELECT source, lineage, 'change', {KEY.format("rule, coalesce(last, message_name), kind, versions, field")}, rule,
  severity, breaks, message_name, field, path, message, {EVENT.format("c", "introduced")}, NULL, NULL, NULL, NULL, NULL,
  false, NULL, NULL
FROM (SELECT *, {WHO.format("message_type", "api_key", "message_name")} AS who FROM {{changed}}) c
LEFT JOIN {{names}} USING (source, who)
"""
SELECTORS = r"kiplint:[ \t]*ignore(?:-file)?[ \t]*\[([^\]]*)\]"
GLOB = r"regexp_replace(regexp_replace(regexp_replace(selector, r'([^\w\s*?/-])', r'\\$1'), r'\*', '.*'), r'\?', '.')"
MEANS = (
    f"rule = selector OR split_part(rule, '/', 1) = selector OR selector = 'all' OR rule RLIKE concat('^', {GLOB}, '$')"
)
"""Whether a selector means a rule: its id, its pack, or a glob over ids."""
GONE_SQL = f"""
WITH placed AS (
  SELECT root, blob, {PATH} AS path, message_name FROM (SELECT DISTINCT fixed_root AS root FROM {{lives}})
  JOIN {{trees}} USING (root) JOIN {{files}} f USING (tree)
  LEFT JOIN (SELECT blob, message_name FROM {{messages}}) USING (blob)
), dropped AS (
  SELECT DISTINCT source, lineage, position AS fixed_position, message_name, true AS is_dropped FROM {{changed}}
  WHERE rule = 'compat/version-dropped'
)
SELECT source, lineage, key, introduced_position, rule, l.blob AS old_blob, p.blob, is_dropped FROM {{lives}} l
LEFT JOIN placed p ON p.root = fixed_root
  AND (p.path = l.path OR p.message_name = l.message_name AND p.message_name <> '')
LEFT JOIN dropped USING (source, lineage, fixed_position, message_name)
WHERE what = 'finding' AND fixed_position IS NOT NULL
"""
"""The findings that ended, each with the files in the first revision without it that have its path or its message."""
ENDED_SQL = f"""
WITH ignores AS (
  SELECT blob, transform(flatten(transform(
      regexp_extract_all(try_validate_utf8(CAST(data AS STRING)), r'{SELECTORS}', 1), part -> split(part, ','))),
    selector -> trim(BOTH ' \t' FROM selector)) AS selectors
  FROM {{blobs}} LEFT SEMI JOIN (SELECT blob FROM {{gone}} UNION SELECT old_blob FROM {{gone}}) USING (blob)
), ends AS (
  SELECT source, lineage, key, introduced_position, bool_or(g.blob IS NOT NULL) AS is_there,
    bool_or(is_dropped) AS is_dropped, bool_or(coalesce(size(filter(n.selectors, selector -> {MEANS})), 0)
      > coalesce(size(filter(o.selectors, selector -> {MEANS})), 0)) AS is_hidden
  FROM {{gone}} g LEFT JOIN ignores n ON n.blob = g.blob LEFT JOIN ignores o ON o.blob = old_blob
  GROUP BY source, lineage, key, introduced_position
)
SELECT source, lineage, 'finding' AS what, key, introduced_position, CASE WHEN NOT is_there THEN 'message removed'
  WHEN is_dropped THEN 'version removed' WHEN is_hidden THEN 'suppressed' ELSE 'fixed' END AS ended
FROM ends
"""
MERGED_SQL = """
SELECT DISTINCT l.source, l.lineage, introduced_commit, path FROM {lives} l JOIN {revisions} r
ON r.source = l.source AND r.lineage = l.lineage AND r.position = l.introduced_position WHERE size(parents) > 1
"""
INNER: Columns = columns("source, lineage, introduced_commit, path, inner_commit, inner_author, inner_subject")
"""The commits behind the merges that brought spans."""
REVISIONS_SQL = f"SELECT source, lineage, position, commit, release FROM ({STEPS})"
BASES: Columns = columns("source, lineage, at_lineage, at_position int, base int, base_before int")
"""For each line and release of its source the last position on the line that the release descends from.

`base_before` is the base of the release before, `base` is null for a release that shares no history with the line.
"""
LINES: Columns = columns("source, lineage, path")
SPANS_SQL = f"""
WITH begun AS (
  SELECT source, lineage, what, key, introduced_position, fixed_position, fixed_release AS gone_release
  FROM {{lives}} WHERE introduced_release IS NOT NULL
), releases AS (
  SELECT source, lineage, position, time, release FROM {{revisions}} WHERE release IS NOT NULL
), shipped AS (  -- a finding is in all releases from the first to the last of a life, a change is the step to one
  SELECT b.source, b.what, b.key, b.gone_release, r.lineage AS at_lineage, r.position AS at_position,
    r.time AS at_time, r.release AS at_release
  FROM begun b JOIN releases r ON r.source = b.source AND r.lineage = b.lineage AND
    (r.position = introduced_position OR what = 'finding' AND r.position > introduced_position
      AND (fixed_position IS NULL OR r.position < fixed_position))
), met AS (
  SELECT l.source, l.lineage, l.what, l.key, l.introduced_position AS begin, r.at_lineage, r.at_position, r.at_release,
    r.gone_release, CASE
    WHEN b.base IS NULL THEN if(l.introduced_time <= r.at_time, 3, NULL)
    WHEN l.introduced_position <= b.base AND if(l.what = 'change', l.introduced_position > b.base_before,
      l.fixed_position IS NULL OR l.fixed_position > b.base) THEN 1
    WHEN l.introduced_position > b.base AND l.introduced_time <= r.at_time THEN 2
    WHEN l.introduced_position <= b.base THEN 3 END AS nearness
  FROM {{lives}} l JOIN shipped r ON r.source = l.source AND r.what = l.what AND r.key = l.key
  LEFT JOIN {{bases}} b ON b.source = l.source AND b.lineage = l.lineage AND b.at_lineage = r.at_lineage
    AND b.at_position = r.at_position
), owned AS (  -- of the lives of a key, the last that a release descends from, else the first that it can have picked
  SELECT source, lineage, what, key, at_lineage, at_position, any_value(at_release) AS at_release,
    any_value(gone_release) AS gone_release,
    min(struct(nearness, if(nearness = 2, begin, -begin) AS nearest, begin)) AS life
  FROM met WHERE nearness IS NOT NULL GROUP BY source, lineage, what, key, at_lineage, at_position
), shipments AS (
  SELECT source, lineage, what, key, life.begin AS introduced_position,
    min_by(struct(at_release AS first, gone_release AS gone), struct(at_position, at_lineage)) AS shipped,
    array_distinct(transform(array_sort(collect_list(struct(at_position, at_release)) FILTER (WHERE life.nearness = 2)),
      place -> place.at_release)) AS backports
  FROM owned GROUP BY source, lineage, what, key, life.begin
), early AS (
  SELECT source, b.lineage, release.time AS time, b.base FROM (
    SELECT source, min_by(struct(lineage, position, time), struct(position, lineage)) AS release
    FROM releases GROUP BY source
  ) JOIN {{bases}} b USING (source) WHERE b.at_lineage = release.lineage AND b.at_position = release.position
), whole AS (
  SELECT l.* EXCEPT (fixed_release), shipped.first AS first_release, shipped.gone AS fixed_release, ended, inner_commit,
    inner_author, inner_subject, coalesce(backports, array()) AS backports,
    coalesce(what = 'change' AND shipped IS NULL
      AND if(base IS NULL, introduced_time <= early.time, introduced_position <= base), false) AS before_first_release
  FROM {{lives}} l LEFT JOIN shipments USING (source, lineage, what, key, introduced_position)
  LEFT JOIN early USING (source, lineage) LEFT JOIN {{inner}} USING (source, lineage, introduced_commit, path)
  LEFT JOIN {{ended}} USING (source, lineage, what, key, introduced_position)
)
SELECT {", ".join(Spans.COLUMNS)} FROM whole
"""


def run(work: Work, context: Context) -> None:
    """Make the spans of sources with other revisions than before, or of all."""
    kinds = (Files, Trees, Blobs, Messages, Findings, Changes)
    if any(work.unprocessed("spans", kind)[1] for kind in kinds):
        work.clear(Spans)
        sources = {part.source for part in work.parts(Revisions)}
    else:
        sources = work.changed_sources("spans", Revisions)
    if sources:
        lines = [(line.source, line.lineage, line.path) for line in context.lines if line.kind == GIT]
        work.replace_sources(Spans, _spans(work, sources, [line for line in lines if line[0] in sources]), sources)


def _spans(work: Work, sources: set[str], lines: Iterable[tuple[str, str, str]]) -> DataFrame:
    sql = work.sql
    revisions, places = work.of_sources(Revisions, sources), work.local(LINES, lines)
    tables = {
        "trees": work.table(Trees),
        "files": work.table(Files),
        "messages": work.table(Messages, "blob", "message_name", "type", "api_key"),
    }
    ranks = work.stage(sql(ORDERED_SQL, revisions=revisions, trees=tables["trees"]))
    changes = work.stage(sql(CHANGED_SQL, ordered=ranks, changes=work.table(Changes)))
    new_names = sql(RENAMES_SQL, changed=changes).groupBy("source").applyInArrow(last_names, ddl(LAST_NAMES))
    names: DataFrame = work.stage(sql(LAST_NAMES_SQL, **tables, ordered=ranks).union(new_names))
    findings = work.table(Findings)
    lives = work.stage(sql(LIVES_SQL, **tables, ordered=ranks, changed=changes, names=names, findings=findings))
    endings = work.stage(sql(GONE_SQL, **tables, lives=lives, changed=changes))
    reasons = sql(ENDED_SQL, gone=endings, blobs=work.table(Blobs, "blob", "data"))
    merges = sql(MERGED_SQL, lives=lives, revisions=revisions)
    steps = sql(REVISIONS_SQL, revisions=revisions, trees=tables["trees"])
    by_source = [
        work.spread(df, len(sources) * A_HANDFUL, "source").groupBy("source") for df in (merges, steps, places)
    ]
    return sql(
        SPANS_SQL,
        lives=lives,
        revisions=revisions,
        ended=reasons,
        inner=by_source[0].cogroup(by_source[2]).applyInArrow(inner_commits, ddl(INNER)),
        bases=work.stage(by_source[1].cogroup(by_source[2]).applyInArrow(bases, ddl(BASES))),
    )


def last_names(renames: pa.Table) -> pa.Table:
    """Turn rows of `RENAMES` into rows of `LAST_NAMES`, for the messages of one source that have no API key."""
    import networkx as nx

    rows = sorted(rows_of(renames.select(list(RENAMES))), key=lambda row: (row[1] is not None, *row[1:]))
    newest = {new: at for at, (*_, new) in enumerate(rows)}
    names: nx.Graph[str] = nx.Graph([row[3:] for row in rows])
    return table(
        LAST_NAMES,
        (
            (rows[0][0], name, max(same, key=lambda name: newest.get(name, -1)))
            for same in nx.connected_components(names)
            for name in same
        ),
    )


def inner_commits(merges: pa.Table, lines: pa.Table) -> pa.Table:
    """The merges that brought spans of a source, and its lines, to `INNER`, as far as repositories can be read here."""
    places = {lineage: path for _, lineage, path in rows_of(lines)}

    def rows(_: object) -> Iterator[tuple[object, ...]]:
        for source, lineage, commit, path in rows_of(merges):
            if place := places.get(lineage):
                with suppress(SourceError, OSError):
                    if inner := inner_commit(open_repository(on_this_machine(place)), commit, path):
                        yield source, lineage, commit, path, *map(text, inner)

    return table(INNER, leaving_nothing(rows)(()))


def bases(revisions: pa.Table, lines: pa.Table) -> pa.Table:
    """The revisions of a source, and its lines, to `BASES`; the merge bases as far as repositories can be read here."""
    places = {lineage: path for _, lineage, path in rows_of(lines)}
    positions: dict[str, dict[str, int]] = {}
    tagged: list[tuple[str, int, str]] = []
    rows_by_line = sorted(rows_of(revisions), key=lambda row: row[1:3])
    for _, lineage, position, commit, release in rows_by_line:
        positions.setdefault(lineage, {})[commit] = position
        if release is not None:
            tagged.append((lineage, position, commit))

    def rows(_: object) -> Iterator[tuple[object, ...]]:
        tags = {lineage for lineage, *_ in tagged}
        parents: dict[str, set[str]] = {}
        if tags and positions.keys() - tags:
            for lineage, commits in positions.items():
                if place := places.get(lineage):
                    _add_parents(parents, place, lineage, list(commits))
        for lineage, on_line in positions.items():
            bases_by_commit = on_line if lineage in tags else descents(parents, on_line)
            for at, (at_lineage, position, commit) in enumerate(tagged):
                own = at_lineage == lineage
                before = tagged[at - 1] if at and tagged[at - 1][0] == at_lineage else None
                last = position - 1 if own else bases_by_commit.get(before[2]) if before else None
                base = position if own else bases_by_commit.get(commit)
                yield rows_by_line[0][0], lineage, at_lineage, position, base, -1 if last is None else last

    return table(BASES, leaving_nothing(rows)(()))


def _add_parents(parents: dict[str, set[str]], place: str, lineage: str, commits: list[str]) -> None:
    """Add the parents of all commits that a line and its tags descend from; nothing where git cannot say them."""
    which = commits if lineage.partition("=")[0] == TAGS else commits[-1:]
    with suppress(SourceError, OSError):
        objects = open_repository(on_this_machine(place))
        for row in objects.run("rev-list", "--parents", *which, "--").splitlines():
            commit, *above = row.split()
            parents.setdefault(commit, set()).update(above)


def descents(parents: Mapping[str, set[str]], places: Mapping[str, int]) -> dict[str, int]:
    """For each commit the highest of some places that it has or descends from; none without any."""
    import networkx as nx

    edges = ((parent, commit) for commit, above in parents.items() for parent in above)
    descendants: nx.DiGraph[str] = nx.DiGraph(edges)
    highest = dict(places)
    for commit in nx.topological_sort(descendants):
        ends = [highest[end] for end in (commit, *descendants.predecessors(commit)) if end in highest]
        if ends:
            highest[commit] = max(ends)
    return highest
