"""Views that put a lake's tables together for people, in SQL that DuckDB and Spark both understand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kiplint.pipeline.tables.changes import Changes
from kiplint.pipeline.tables.findings import Findings

_OF_SET: Final = "s.source, s.lineage, s.position, s.commit, s.time, s.release"
_PATH: Final = "CASE WHEN t.directory = '' THEN f.name ELSE concat(t.directory, '/', f.name) END AS path"
_FILES: Final = "sets s JOIN trees t ON t.root = s.root JOIN files f ON f.tree = t.tree"
_FOUND: Final = ", ".join(f"g.{name if name != 'column' else '{column}'}" for name in list(Findings.COLUMNS)[3:])
_TOLD: Final = ", ".join(f"c.{name if name != 'column' else '{column}'}" for name in list(Changes.COLUMNS)[2:])

_SET_FINDINGS: Final = f"""
SELECT {_OF_SET}, s.root, {_PATH}, {_FOUND}, t.tree, f.blob FROM {_FILES}
JOIN findings g ON g.blob = f.blob AND g.name = f.name AND (g.tree IS NULL OR g.tree = f.tree)
"""
_SET_CHANGES: Final = f"""
SELECT s.source, s.lineage, s.position, s.old_commit, s.commit, s.old_release, s.release, s.time, {_TOLD} FROM (
  SELECT source, lineage, position, commit, release, time, root,
    lag(root) OVER along AS old_root, lag(commit) OVER along AS old_commit, lag(release) OVER along AS old_release
  FROM sets WINDOW along AS (PARTITION BY source, lineage ORDER BY position)
) s JOIN changes c ON c.old_root = s.old_root AND c.root = s.root
"""
_SET_MESSAGES: Final = f"""
SELECT {_OF_SET}, {_PATH}, m.message_name, m.type, m.api_key, m.valid, m.lowest, m.highest, m.flexible, m.deprecated,
  m.unstable, m.listeners, m.headers, m.declares_headers, m.fields, f.blob
FROM {_FILES} JOIN messages m ON m.blob = f.blob
"""
_SET_FIELDS: Final = f"""
SELECT {_OF_SET}, {_PATH}, d.message_name, d.path AS field, d.type, d.versions, d.lowest, d.highest, d.nullable,
  d.tagged, d.tag, d.ignorable, d.map_key, {{default}} AS {{default_name}}, d.entity_type, f.blob
FROM {_FILES} JOIN fields d ON d.blob = f.blob
"""
_RELEASES: Final = "SELECT source, lineage, position, release, commit, time, root FROM sets WHERE release IS NOT NULL"
_RPCS: Final = f"""
SELECT {_OF_SET}, o.api_key, o.name, o.lowest, o.highest, o.offered, o.request_headers, o.response_headers, o.deprecated
FROM sets s JOIN offers o ON o.root = s.root
"""

VIEWS: Final[Mapping[str, str]] = {
    "set_findings": "The findings of every revision, as `check` tells them.",
    "set_changes": "The changes of every step, as `diff` tells them.",
    "set_messages": "The messages of every revision, with their files.",
    "set_fields": "The fields of every message of every revision; `field` is the path from the message down.",
    "releases": "The revisions that are releases, in the order of their lines.",
    "rpcs": "The RPCs of every revision: versions for clients, what brokers offer, and headers.",
}
"""What each view has, by its name."""


def definitions(quote: str) -> Mapping[str, str]:
    """The views as queries, by name; `quote` is what stands around a name that SQL has for itself."""
    column, default = f"{quote}column{quote}", f"{quote}default{quote}"
    texts = (_SET_FINDINGS, _SET_CHANGES, _SET_MESSAGES, _SET_FIELDS, _RELEASES, _RPCS)
    named = {"column": column, "default": f"d.{default}", "default_name": default}
    return {name: text.format(**named).strip() for name, text in zip(VIEWS, texts, strict=True)}
