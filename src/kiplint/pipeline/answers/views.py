"""Views that put tables of a lake together, and those that answer a question: one SELECT each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kiplint.pipeline.tables import RPC, STEPS, Changes, Findings, Matrix

_STEPS: Final = STEPS.format(revisions="revisions", trees="trees")
_OF_SET: Final = "s.source, s.lineage, s.position, s.commit, s.time, s.release"
_PATH: Final = "CASE WHEN t.directory = '' THEN f.name ELSE concat(t.directory, '/', f.name) END AS path"
_FILES: Final = "revisions s JOIN trees t ON t.root = s.root JOIN files f ON f.tree = t.tree"
_FINDING_COLUMNS: Final = ", ".join(f"g.{name}" for name in list(Findings.COLUMNS)[6:-1])
_CHANGE_COLUMNS: Final = ", ".join(f"c.{name}" for name in list(Changes.COLUMNS)[2:])

_SET_FINDINGS: Final = f"""
WITH elsewhere AS (  -- where another set of a revision has the half of an RPC that is missing
  SELECT root, name AS other_half,
    arg_min({{'directory': directory, 'path': path}}, string_split(directory, '/')) AS place
  FROM (SELECT t.root, t.directory, f.name, {_PATH} FROM trees t JOIN files f USING (tree))
  WHERE name IN (SELECT other_half FROM findings) GROUP BY ALL
)
SELECT {_OF_SET}, s.root, {_PATH}, g.rule, g.severity,
  concat(g.message, CASE WHEN e.place.directory <> t.directory
    THEN concat('; ', replace(e.other_half, '.json', ''), ' is in ', e.place.path, ', which is another set')
    END) AS message,
  {_FINDING_COLUMNS}, t.tree, f.blob
FROM {_FILES} JOIN findings g ON g.blob = f.blob AND g.name = f.name AND (g.tree IS NULL OR g.tree = f.tree)
LEFT JOIN elsewhere e ON e.root = s.root AND e.other_half = g.other_half
"""
_SET_CHANGES: Final = f"""
SELECT s.source, s.lineage, s.position, s.old_commit, s.commit, s.old_release, s.release, s.time, {_CHANGE_COLUMNS}
FROM ({_STEPS}) s JOIN changes c ON c.old_root = s.old_root AND c.root = s.root
"""
_SET_MESSAGES: Final = f"""
SELECT {_OF_SET}, {_PATH}, m.message_name, m.type, m.api_key, m.valid, m.lowest, m.highest, m.flexible, m.deprecated,
  m.unstable, m.listeners, m.headers, m.declares_headers, m.fields, f.blob
FROM {_FILES} JOIN messages m ON m.blob = f.blob
"""
_SET_FIELDS: Final = f"""
SELECT {_OF_SET}, {_PATH}, d.message_name, d.path AS field, d.type, d.versions, d.lowest, d.highest, d.nullable,
  d.tagged, d.tag, d.ignorable, d.map_key, d.default, d.entity_type, f.blob
FROM {_FILES} JOIN fields d ON d.blob = f.blob
"""
_RELEASES: Final = (
    "SELECT source, lineage, position, release, commit, time, root FROM revisions WHERE release IS NOT NULL"
)
_RPCS: Final = f"""
SELECT {_OF_SET}, o.api_key, o.name, o.lowest, o.highest, o.offered, o.request_headers, o.response_headers, o.deprecated
FROM revisions s JOIN offers o ON o.root = s.root
"""
_RELEASE_PAIRS: Final = """
WITH tagged AS (SELECT DISTINCT source, release, root FROM releases)
SELECT c.source AS client_source, c.release AS client, b.source AS broker_source, b.release AS broker,
  c.root AS client_root, b.root AS broker_root
FROM tagged c JOIN tagged b ON $across OR c.source = b.source
"""
_RELEASE_MATRIX: Final = f"""
SELECT client_source, client, broker_source, broker, {", ".join(f"m.{name}" for name in list(Matrix.COLUMNS)[2:])}
FROM release_pairs p JOIN matrix m ON m.client_root = p.client_root AND m.broker_root = p.broker_root
"""

VIEWS: Final[dict[str, tuple[str, str]]] = {
    "set_findings": ("The findings of every revision, as `check` tells them.", _SET_FINDINGS),
    "set_changes": ("The changes of every step, as `diff` tells them.", _SET_CHANGES),
    "set_messages": ("The messages of every revision, with their files.", _SET_MESSAGES),
    "set_fields": (
        "The fields of every message of every revision; `field` is the path from the message down.",
        _SET_FIELDS,
    ),
    "releases": ("The revisions that are releases, in the order of their lines.", _RELEASES),
    "rpcs": ("The RPCs of every revision: versions for clients, what brokers offer, and headers.", _RPCS),
    "release_pairs": (
        "Each release as a client and each as a broker, of a source; with `--across` of all sources.",
        _RELEASE_PAIRS,
    ),
    "release_matrix": ("What each release as a client and each as a broker agree on, by RPC.", _RELEASE_MATRIX),
}
"""The views that join tables: the description and the query of each, by name. A query uses only earlier views."""

TAGS: Final = "(lineage = 'tags' OR starts_with(lineage, 'tags='))"
"""The condition that a line is one of releases."""
_SPAN: Final = "source, lineage, rule, severity, message_name, path, message"
_UNRELEASED: Final = f"""
SELECT {_SPAN}, introduced_commit, introduced_time FROM spans
WHERE what = 'finding' AND open AND first_release IS NULL AND NOT {TAGS} AND source IN (SELECT source FROM releases)
"""
_LIFETIMES: Final = f"""
SELECT {_SPAN}, introduced_commit, introduced_time, fixed_commit, fixed_time, ended, first_release, fixed_release, open,
  date_diff('day', introduced_time, coalesce(fixed_time, newest)) AS days
FROM spans
JOIN (SELECT source, lineage, arg_max(time, position) AS newest FROM revisions GROUP BY ALL) USING (source, lineage)
WHERE what = 'finding'
"""
_RELEASED: Final = f"""
WITH stable AS (  -- the highest version of an unstable message is not out yet
  SELECT source, lineage, position, release, time, message_name, type, api_key, min(lowest) AS lowest,
    max(CASE WHEN unstable THEN highest - 1 ELSE highest END) AS highest
  FROM set_messages WHERE release IS NOT NULL AND lowest IS NOT NULL GROUP BY ALL
), beside AS (
  SELECT *, max(highest) OVER (PARTITION BY source, lineage, message_name, type ORDER BY position
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS known FROM stable
)
SELECT source, message_name, CASE WHEN type IN {RPC!r} THEN regexp_replace(message_name, '(Request|Response)$', '') END
  AS rpc, type, api_key, greatest(lowest, coalesce(known + 1, 0)) AS lowest, highest, release, time
FROM beside WHERE highest >= greatest(lowest, coalesce(known + 1, 0))
"""
_FIXED_FINDINGS: Final = f"""
WITH lines AS (  -- a branch has a fix before a release has it
  SELECT key, {TAGS} AS is_tags, arg_max({{'commit': fixed_commit, 'time': fixed_time, 'release': fixed_release,
    'ended': ended}}, fixed_position) AS fixed
  FROM spans WHERE source = {{upstream}} AND what = 'finding' GROUP BY key, lineage HAVING NOT bool_or(open)
), ended AS (
  SELECT key, arg_min(fixed, is_tags) AS fixed FROM lines GROUP BY key
)
SELECT {_SPAN}, introduced_commit, introduced_time, fixed.commit AS fixed_commit, fixed.time AS fixed_time,
  fixed.release AS fixed_release, fixed.ended AS ended
FROM spans JOIN ended USING (key) WHERE source <> {{upstream}} AND what = 'finding' AND open
"""
_BEHIND: Final = f"""
WITH tips AS (
  SELECT source, lineage, {TAGS} AS is_tags, arg_max(commit, position) AS commit, arg_max(time, position) AS time,
    arg_max(root, position) AS root
  FROM revisions WHERE source <> {{upstream}} GROUP BY source, lineage
), forks AS (  -- tags repeat what the branches of a source have
  SELECT * FROM tips WHERE NOT is_tags OR source NOT IN (SELECT source FROM tips WHERE NOT is_tags)
), upstream AS (
  SELECT lineage, {TAGS} AS is_tags, position, commit, time, root FROM revisions
  WHERE source = {{upstream}} AND root IN (SELECT root FROM trees)
), merged AS (  -- the revisions of a line that upstream has too, and those that it merged
  SELECT source, lineage, unnest(list_append(parents[2:], commit)) AS commit
  FROM revisions SEMI JOIN forks USING (source, lineage)
), shared AS (
  SELECT m.source, m.lineage, arg_max(u, (u.time, u.position)) AS base FROM merged m JOIN upstream u USING (commit)
  WHERE commit <> '' GROUP BY ALL
), described AS (
  SELECT DISTINCT root, blob, (type, message_name, valid, flexible, fields) AS message
  FROM trees JOIN files USING (tree) JOIN messages USING (blob)
), apart AS (
  SELECT * FROM described WHERE root IN (SELECT root FROM forks ANTI JOIN shared USING (source, lineage))
), known AS (
  SELECT * FROM described WHERE root IN (SELECT root FROM upstream) AND EXISTS (FROM apart)
), alike AS (  -- the content that differs in the fewest messages, of several in the fewest files
  SELECT head, arg_max(root, (2 * same - size, files)) AS root FROM (
    SELECT a.root AS head, k.root, count(*) AS same, count_if(a.blob = k.blob) AS files
    FROM apart a JOIN known k USING (message) GROUP BY ALL
  ) JOIN (SELECT root, count(*) AS size FROM known GROUP BY root) USING (root) GROUP BY head
), bases AS (
  SELECT source, lineage, 'commit' AS base_by, base FROM shared
  UNION ALL
  SELECT f.source, f.lineage, 'content', (SELECT arg_min(u, (u.time, u.position)) FROM upstream u WHERE u.root = a.root)
  FROM forks f JOIN alike a ON a.head = f.root ANTI JOIN shared s ON s.source = f.source AND s.lineage = f.lineage
), steps AS (
  SELECT root, time FROM ({_STEPS}) WHERE source = {{upstream}} AND root <> old_root
    AND {TAGS} = (SELECT bool_and(is_tags) FROM upstream)
)
SELECT f.source, f.lineage, f.commit, f.time, f.root, base_by, base.lineage AS base_lineage, base.commit AS base_commit,
  base.time AS base_time, base.root AS base_root,
  (SELECT arg_min(release, position) FROM releases WHERE source = {{upstream}} AND root = base.root) AS base_release,
  if(base IS NULL, NULL, (SELECT count(*) FROM steps WHERE steps.time > base.time)) AS behind,
  date_diff('day', base.time, (SELECT max(time) FROM upstream)) AS days_behind
FROM forks f LEFT JOIN bases b USING (source, lineage)
"""
AUTHOR: Final = ", ".join(
    f"if(starts_with(s.lineage, 'tags'), NULL, {value}) AS {name}"
    for name, value in {
        "author": "coalesce(p.inner_author, s.author)",
        "subject": "coalesce(p.inner_subject, s.subject)",
        "pull_request": "s.pull_request",
        "kips": "s.kips",
    }.items()
)
"""Who made the revision `s` of the span `p`; a release is not made by the author of its commit."""
_SAME: Final = "source, lineage, rule, severity, breaks, message_name, field, path, message"
_EVENTS: Final = f"""
SELECT p.* EXCLUDE (inner_author, inner_subject), {AUTHOR} FROM (
  SELECT {_SAME}, if(what = 'finding', 'introduced', 'changed') AS event, introduced_position AS position,
    introduced_commit AS commit, introduced_time AS time, first_release AS release, before_first_release,
    inner_author, inner_subject FROM spans
  UNION ALL
  SELECT {_SAME}, 'fixed', fixed_position, fixed_commit, fixed_time, fixed_release, false, NULL, NULL
  FROM spans WHERE fixed_commit IS NOT NULL
) p LEFT JOIN revisions s USING (source, lineage, position)
"""

QUESTIONS: Final[dict[str, tuple[str, str]]] = {
    "events": ("What was introduced, fixed or changed when, with author, pull request and KIPs.", _EVENTS),
    "unreleased_findings": ("The open findings of branches that no release of their source has.", _UNRELEASED),
    "finding_lifetimes": (
        "Each finding with its first and last day and the number of days between, so far where it is open.",
        _LIFETIMES,
    ),
    "version_releases": (
        "The versions of each message that a release was the first to have, without unstable ones.",
        _RELEASED,
    ),
    "fixed_upstream": (
        "The open findings of forks that upstream had too and no longer has, with upstream's commit.",
        _FIXED_FINDINGS,
    ),
    "behind_upstream": (
        "For each line of a fork the newest revision that it shares with upstream (`base_by` commit), else the one of "
        "upstream that differs in the fewest messages (content); `behind` counts upstream's changes since.",
        _BEHIND,
    ),
}
"""The views that answer questions: the description and the query of each, by name."""


def queries(upstream: str, *, across: bool) -> Mapping[str, str]:
    """All views as queries, by name. Forks are compared with the source `upstream`; `across` pairs the releases of all
    sources in `release_matrix`.
    """
    literal = "'" + upstream.replace("'", "''") + "'"
    texts = {name: text for name, (_, text) in (VIEWS | QUESTIONS).items()}
    return {
        name: text.replace("{upstream}", literal).replace("$across", str(across)).strip()
        for name, text in texts.items()
    }
