"""The views that answer questions, over the sample history and over rows that it does not have."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kiplint.pipeline.answers.query import query
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.lake.schema import TableFrame
from kiplint.pipeline.tables import Files, Messages, Revisions, Spans, Trees
from pipeline.support import fill_rows, put

SQL = {
    "SELECT lineage, event, author, pull_request, kips, release FROM events WHERE rule = 'rpc/versions-differ' "
    "ORDER BY ALL": [
        ("fork", "introduced", "Kim", 21, ["KIP-9001"], None),
        ("main", "fixed", "kiplint", None, [], "1.2.0"),
        ("main", "introduced", "Kim", 21, ["KIP-9001"], "1.1.0"),
        ("tags", "fixed", None, None, None, "1.2.0"),
        ("tags", "introduced", None, None, None, "1.1.0"),
    ],
    "SELECT * FROM unreleased_findings": [],
    "SELECT DISTINCT rule, days, open FROM finding_lifetimes WHERE lineage = 'main' ORDER BY ALL": [
        ("kip-1313/frozen-rpc", 49, False),
        ("kip-1313/header-missing", 0, True),
        ("kip-1313/request-header-order", 1, False),
        ("rpc/versions-differ", 70, False),
        ("versions/field-above-valid", 70, False),
    ],
    "SELECT type, lowest, highest, release FROM version_releases WHERE rpc = 'DeleteGroups' ORDER BY ALL": [
        ("request", 0, 2, "1.0.0"),
        ("request", 3, 3, "1.1.0"),
        ("request", 4, 4, "2.0.0"),
        ("response", 0, 2, "1.0.0"),
        ("response", 3, 3, "1.2.0"),
        ("response", 4, 4, "2.0.0"),
    ],
    "SELECT source, rule, message_name, fixed_commit[:10], fixed_release FROM fixed_upstream ORDER BY ALL": [
        ("fork", "kip-1313/frozen-rpc", "SaslHandshakeRequest", "08ccc644d6", None),
        ("fork", "kip-1313/frozen-rpc", "SaslHandshakeResponse", "08ccc644d6", None),
        ("fork", "rpc/versions-differ", "DeleteGroupsResponse", "86cc1d3eaf", "1.2.0"),
        ("fork", "versions/field-above-valid", "DeleteGroupsResponse", "86cc1d3eaf", "1.2.0"),
    ],
    "SELECT source, lineage, base_by, base_commit[:10], base_release, behind, days_behind FROM behind_upstream": [
        ("fork", "fork", "commit", "8b8f7d7160", None, 6, 196),
    ],
    "SELECT stage FROM runs WHERE stage <> 'begin' ORDER BY number": [
        (stage,) for stage in ("request", "ingest", "lint", "describe", "compare", "spans", "matrix", "drift", "end")
    ],
}


@pytest.mark.parametrize("sql", SQL)
def test_views_of_the_sample_history(lake: Lake, sql: str) -> None:
    assert [tuple(row.values()) for row in query(Reader(lake), sql, 20, 60).rows] == SQL[sql]


def test_a_base_by_content_and_what_is_unreleased(tmp_path: Path) -> None:
    """A fork without a common commit is nearest to the revision of upstream with the same messages."""

    def revision(source: str, lineage: str, position: int, root: str, release: str | None = None) -> dict[str, Any]:
        time = datetime(2024, 1, 1 + position, tzinfo=UTC)
        place = {"source": source, "lineage": lineage, "position": position, "commit": f"{source} {root}"}
        return {**place, "time": time, "root": root, "release": release}

    def span(source: str, rule: str, release: str | None) -> dict[str, Any]:
        life = {"open": True, "first_release": release, "what": "finding", "key": rule, "rule": rule}
        return {"source": source, "lineage": "trunk", **life}

    valid = {"a": "0-1", "b": "0-2", "c": "0-3", "d": "0-2"}
    rows: dict[type[TableFrame], list[dict[str, Any]]] = {
        Revisions: [
            *(revision("up", "trunk", at, root) for at, root in enumerate("abc")),
            revision("up", "tags", 1, "b", "1.0"),
            revision("fork", "trunk", 5, "d"),
        ],
        Trees: [{"root": root, "directory": "", "tree": root} for root in valid],
        Files: [{"tree": root, "name": f"{name}.json", "blob": f"{name}{root}"} for root in valid for name in "XY"],
        Messages: [
            {"blob": f"{name}{root}", "message_name": name, "type": "data", "valid": versions if name == "X" else "0"}
            for root, versions in valid.items()
            for name in "XY"
        ],
        Spans: [span("up", "old", "1.0"), span("up", "new", None), span("fork", "new", None)],
    }
    lake = Lake(tmp_path / "lake")
    with lake.writing():
        parts = {kind.NAME: put(lake, kind, fill_rows(kind, some)) for kind, some in rows.items()}
        lake.publish(replace(lake.snapshot(), request={"sources": ["up=x", "fork=y"]}), parts, "spans")
    reader = Reader(lake)
    assert [row["rule"] for row in reader.duck.rows("SELECT rule FROM unreleased_findings")] == ["new"]
    bases = "SELECT source, base_by, base_root, base_release, behind, days_behind FROM behind_upstream"
    assert [tuple(row.values()) for row in reader.duck.rows(bases)] == [("fork", "content", "b", "1.0", 1, 1)]
