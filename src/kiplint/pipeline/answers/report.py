"""The report on a lake: what is in it, what was wrong when, what broke, who interoperates, where forks collide."""

from __future__ import annotations

import os
from typing import Any

from kiplint.engine.finding import Finding, fingerprint
from kiplint.pipeline.answers.documents import (
    DriftCount,
    DriftRow,
    ProblemRow,
    ReportDocument,
    Row,
    SourceRow,
    SpanRow,
    as_structs,
)
from kiplint.pipeline.answers.history import states
from kiplint.pipeline.answers.matrix import between_nodes
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.answers.views import AUTHOR
from kiplint.pipeline.tables import (
    COLLISION,
    FINDING,
    Blobs,
    Changes,
    Files,
    Findings,
    Messages,
    Offers,
    Revisions,
    Sources,
    Spans,
    Trees,
)

COUNT_TABLES = (Blobs, Trees, Files, Messages, Findings, Changes)
_OF_CLIENTS = """
SELECT status, sum(count)::BIGINT AS cells FROM release_pairs JOIN (
  SELECT client_root, broker_root, status, count(*) AS count FROM matrix
  WHERE NOT list_contains($1, concat(api_key, ' ', name)) GROUP BY ALL
) USING (client_root, broker_root) GROUP BY 1 ORDER BY 2 DESC, 1
"""
_SOURCES = "SELECT source, lineage, kind, location, revisions AS sets, as_of FROM sources"
_SPANS = f"""
SELECT p.*, {AUTHOR} FROM spans p
LEFT JOIN revisions s ON (s.source, s.lineage, s.position) = (p.source, p.lineage, p.introduced_position)
WHERE what = 'finding' OR breaks IN ('wire', 'storage')
"""
_DRIFT = "SELECT source, lineage, status, count(*) AS layouts FROM drift GROUP BY ALL ORDER BY ALL"


_COLLISIONS = "SELECT * FROM drift WHERE status = $1 ORDER BY source, lineage, message_name, type, lowest, highest"
_DATA = "SELECT blob, data FROM blobs WHERE blob IN (SELECT unnest($1::VARCHAR[]))"


def report(reader: Reader) -> ReportDocument:
    """The report: all findings and grave breaks in time. Raises UsageError where a stage is missing that it needs."""
    reader.require(Sources, Spans, Revisions)
    sources = sorted(map(_nearby, reader.duck.rows(_SOURCES)), key=_line)
    spans = sorted(reader.duck.rows(_SPANS), key=_in_time)
    collisions = reader.duck.rows(_COLLISIONS, [COLLISION])
    problems = reader.duck.rows("SELECT * FROM problems ORDER BY ALL")
    cells = reader.duck.rows(_OF_CLIENTS, [between_nodes(reader)])
    return ReportDocument(
        version=1,
        sources=as_structs(SourceRow, sources),
        counts={kind.NAME: reader.count(kind) for kind in COUNT_TABLES},
        findings=as_structs(SpanRow, (row for row in spans if row["what"] == FINDING)),
        breaks=as_structs(SpanRow, (row for row in spans if row["what"] != FINDING)),
        matrix={row["status"]: row["cells"] for row in cells},
        drift=as_structs(DriftCount, reader.duck.rows(_DRIFT)),
        collisions=as_structs(DriftRow, collisions),
        problems=as_structs(ProblemRow, problems),
        history=states(reader).sets if reader.count(Offers) else (),
    )


def _in_time(row: Row) -> tuple[Any, ...]:
    introduced_time = row["introduced_time"]
    return (*_line(row), introduced_time.timestamp() if introduced_time else 0, row["rule"], row["message_name"])


def _nearby(source: Row) -> Row:
    """The source with its location relative to the working directory, when below it."""
    here = os.path.relpath(source["location"])
    return source if here.startswith(os.pardir) else {**source, "location": here}


def _line(row: Row) -> tuple[str, str]:
    return row["source"], row["lineage"]


_NEWEST = """
WITH newest AS (
  SELECT source, lineage, max(position) AS position, arg_max(root, position) AS root FROM revisions GROUP BY ALL
)
SELECT {} FROM newest JOIN {}
"""


def newest(reader: Reader) -> tuple[tuple[Finding, ...], int, dict[str, bytes]]:
    """What `check` says of the newest set of each line, how many files it has, and the bytes of those with findings.

    A path is the file's in its repository; with several lines, the line stands before it, as a revision does.
    """
    reader.require(Revisions)
    lines = reader.duck.rows("SELECT DISTINCT source, lineage FROM revisions")
    (all_files,) = reader.duck.rows(_NEWEST.format("count(*) AS count", "trees USING (root) JOIN files USING (tree)"))
    rows = reader.duck.rows(_NEWEST.format("s.*", "set_findings s USING (source, lineage, position)"))
    blobs = reader.duck.rows(_DATA, [[row["blob"] for row in rows]])
    texts = {row["blob"]: row["data"] or b"" for row in blobs}
    findings: list[Finding] = []
    sources: dict[str, bytes] = {}
    for row in rows:
        path = f"{' '.join(filter(None, _line(row)))}:{row['path']}" if len(lines) > 1 else row["path"]
        sources[path] = texts[row["blob"]]
        values = {name: row[name] for name in Finding.__struct_fields__ if name in row}
        own = fingerprint(row["rule"], row["message_name"], row["place"])
        values |= {"path": path, "source": row["rule_source"], "fingerprint": own, "fixable": False, "fix": None}
        findings.append(Finding(**values))
    findings.sort(key=lambda finding: (finding.path, finding.line, finding.column, finding.rule, finding.message))
    return tuple(findings), all_files["count"], sources
