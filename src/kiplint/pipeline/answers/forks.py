"""Forks against upstream, a row for each line: its base, what it lacks, has alone or otherwise, what a merge breaks.

Messages meet by the API key that they claim, others by their names, as in the table `drift`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.documents import ForkFinding, ForkMessage, ForkRow, ForksDocument, Row, as_structs
from kiplint.pipeline.answers.points import NEXT, Point, point
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.tables import COLLISION, RPC, Drift, Layouts, Messages, Spans
from kiplint.text.words import did_you_mean
from kiplint.versions import NONE, VersionRange

_NEWEST_RELEASE: Final = """
SELECT release FROM releases WHERE source = $1 AND root IN (SELECT root FROM trees) ORDER BY position DESC LIMIT 1
"""
_TARGET: Final = """
SELECT max(time) AS time, (SELECT count(*) FROM trees JOIN files USING (tree) JOIN messages USING (blob)
  WHERE root = $2 AND lowest IS NOT NULL) AS messages
FROM revisions WHERE source = $1 AND root = $2
"""
_FIXED_FINDINGS: Final = "SELECT * FROM fixed_upstream ORDER BY source, lineage, severity, rule, message_name, path"
_DRIFT: Final = """
SELECT source, lineage, message_name, type, status, difference AS reason, max(upstream_release) AS upstream_release,
  list({lowest: lowest, highest: highest}) AS pieces, bool_and(alone) AS whole
FROM (SELECT *, bool_and(status = 'only-in-fork') OVER (PARTITION BY source, lineage, message_name, type) AS alone
  FROM drift) WHERE status <> 'same' GROUP BY ALL ORDER BY message_name, type, reason
"""
_PARTS: Final = f"""
WITH pairs AS (
  SELECT unnest($1) AS root, unnest($2) AS base
), parts AS (
  SELECT DISTINCT root, blob, message_name, type, lowest, highest,
    CASE WHEN type IN {RPC!r} THEN type ELSE 'record' END AS kind,
    CASE WHEN type IN {RPC!r} THEN coalesce(CAST(api_key AS VARCHAR), message_name) ELSE message_name END AS claim
  FROM trees JOIN files USING (tree) JOIN messages USING (blob)
  WHERE lowest IS NOT NULL AND (root = $3 OR root IN (SELECT root FROM pairs UNION SELECT base FROM pairs))
)
"""
_GAPS: Final = f"""
{_PARTS}, held AS (
  SELECT root, kind, claim, any_value(message_name) AS message_name, any_value(type) AS type, min(lowest) AS lowest,
    max(highest) AS highest
  FROM parts GROUP BY root, kind, claim
), theirs AS (
  SELECT * FROM held WHERE root = $3
), gaps AS (
  SELECT 'lacks' AS what, p.root, t.* EXCLUDE (root), o.lowest AS known_lowest, o.highest AS known_highest
  FROM pairs p CROSS JOIN theirs t LEFT JOIN held o ON o.root = p.root AND o.kind = t.kind AND o.claim = t.claim
  UNION ALL  -- what the fork has as upstream had it when it left, and will lose
  SELECT 'loses', p.root, o.kind, o.claim, o.message_name, o.type, greatest(o.lowest, b.lowest),
    least(o.highest, b.highest), t.lowest, t.highest
  FROM pairs p JOIN held b ON b.root = p.base
  JOIN held o ON o.root = p.root AND o.kind = b.kind AND o.claim = b.claim
  LEFT JOIN theirs t ON t.kind = o.kind AND t.claim = o.claim
)
SELECT DISTINCT what, root, message_name, type, lowest, highest, known_lowest, known_highest FROM gaps
WHERE lowest <= highest AND (known_lowest IS NULL OR lowest < known_lowest OR highest > known_highest)
ORDER BY message_name, type
"""
_CLASHES: Final = f"""
{_PARTS}, laid AS (
  SELECT root, kind, claim, p.message_name, p.type, l.lowest, l.highest, layout, tags
  FROM parts p JOIN layouts l USING (blob)
)
SELECT o.root, o.message_name, o.type, t.message_name AS their_name,
  list({{lowest: greatest(o.lowest, t.lowest), highest: least(o.highest, t.highest)}}) AS pieces
FROM laid o JOIN laid t ON t.root = $3 AND t.kind = o.kind AND t.claim = o.claim AND o.lowest <= t.highest
  AND t.lowest <= o.highest
WHERE o.root IN (SELECT root FROM pairs) AND (o.layout <> t.layout OR len(list_filter(o.tags, lambda ours: len(
  list_filter(t.tags, lambda them: them.path = ours.path AND them.tag = ours.tag AND them.layout <> ours.layout)) > 0
)) > 0) GROUP BY ALL ORDER BY o.message_name, o.type
"""
_ON_WIRE: Final = {*RPC, "header"}
_Messages = defaultdict[Any, list[ForkMessage]]


def forks(reader: Reader, sources: Iterable[str] = (), merging: str = "") -> ForksDocument:
    """The lines of forks, the worst first: of all sources, or of the sources that match a glob.

    They are compared with upstream's revision `merging`, by default its newest release, or newest revision where it has
    none. Raises UsageError for a glob that no fork matches, and for an unknown revision.
    """
    reader.require(Drift, Spans, Layouts, Messages)
    target = _target(reader, merging)
    (target_row,) = reader.duck.rows(_TARGET, [reader.upstream, target.root])
    lines = list(_matching_forks(reader.duck.rows("SELECT * FROM behind_upstream ORDER BY ALL"), tuple(sources)))
    values = [[row["root"] for row in lines], [row["base_root"] for row in lines], target.root]
    lacks, breaks = _gaps(reader, target, values) if lines else (_Messages(list), _Messages(list))
    own, collisions = _read_drift(reader)
    fixes = defaultdict(list)
    for row in reader.duck.rows(_FIXED_FINDINGS):
        fixes[_line(row)].append(row)
    rows = []
    for row in lines:
        is_merged = target_row["time"] and row["base_time"] and target_row["time"] < row["base_time"]
        messages = {
            "lacks": lacks[row["root"]],
            "own": own[_line(row)],
            "collisions": collisions[_line(row)],
            "breaks": [] if is_merged else breaks[row["root"]],
        }
        rows.append(
            {**row, **messages, "content": row["root"], "fixed_upstream": as_structs(ForkFinding, fixes[_line(row)])}
        )
    return ForksDocument(
        1, reader.upstream, target.name, target_row["messages"], as_structs(ForkRow, sorted(rows, key=_worst))
    )


def _target(reader: Reader, merging: str) -> Point:
    newest = reader.duck.rows(_NEWEST_RELEASE, [reader.upstream])
    target = point(reader, merging or f"{reader.upstream}:{newest[0]['release'] if newest else NEXT}", reader.upstream)
    if target.source != reader.upstream:
        raise UsageError(f"--merging takes a revision of upstream, {reader.upstream}, not {merging}")
    return target._replace(name=target.name.removeprefix(f"{reader.upstream}:"))


def _matching_forks(rows: list[Row], globs: tuple[str, ...]) -> Iterator[Row]:
    names = sorted({row["source"] for row in rows})
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in names):
            raise UsageError(f"the lake has no fork {glob}{did_you_mean(glob, names)}")
    return (row for row in rows if not globs or any(fnmatchcase(row["source"], glob) for glob in globs))


def _gaps(reader: Reader, target: Point, values: list[Any]) -> tuple[_Messages, _Messages]:
    """By content of a fork, what it lacks, and what breaks when it merges the target."""
    lacks, breaks = _Messages(list), _Messages(list)
    for row in reader.duck.rows(_CLASHES, values):
        other = row["their_name"] if row["their_name"] != row["message_name"] else ""
        reason = f"the API key is {other}'s in {target.name}" if other else f"other bytes than in {target.name}"
        kind = "wire" if row["type"] in _ON_WIRE else "storage"
        breaks[row["root"]].append(_message(row, _union(row["pieces"]), breaks=kind, reason=reason))
    for row in reader.duck.rows(_GAPS, values):
        is_gone = row["known_lowest"] is None
        versions_there = NONE if is_gone else VersionRange.of(row["known_lowest"], row["known_highest"])
        versions = VersionRange.of(row["lowest"], row["highest"]) - versions_there
        if row["what"] == "lacks":
            lacks[row["root"]].append(_message(row, versions, whole=is_gone))
            continue
        reason = f"{target.name} has {'no such message' if is_gone else f'versions {versions_there} only'}"
        breaks[row["root"]].append(_message(row, versions, whole=is_gone, breaks="support", reason=reason))
    return lacks, breaks


def _read_drift(reader: Reader) -> tuple[_Messages, _Messages]:
    """By line, the messages and versions that a fork alone has, and those that it has otherwise."""
    own, collisions = _Messages(list), _Messages(list)
    for row in reader.duck.rows(_DRIFT):
        if row["status"] == COLLISION:
            more = {"reason": row["reason"], "upstream_release": row["upstream_release"]}
            collisions[_line(row)].append(_message(row, _union(row["pieces"]), **more))
        else:
            own[_line(row)].append(_message(row, _union(row["pieces"]), whole=row["whole"]))
    return own, collisions


def _message(row: Row, versions: VersionRange, **more: Any) -> ForkMessage:
    return ForkMessage(message_name=row["message_name"], message_type=row["type"], versions=str(versions), **more)


def _union(pieces: Iterable[Row]) -> VersionRange:
    return VersionRange((piece["lowest"], piece["highest"]) for piece in pieces)


def _line(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["source"], row["lineage"]


def _worst(row: Mapping[str, Any]) -> tuple[Any, ...]:
    grave = sum(finding.severity == "error" for finding in row["fixed_upstream"])
    counts = (len(row["breaks"]), len(row["collisions"]), grave, len(row["lacks"]), row["behind"] or 0)
    return *(-count for count in counts), *_line(row)
