"""The lake of the sample history: what each step of fixtures/history/steps.json comes to."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.tables import Blobs, Drift, Files, Problems, Revisions, Sources, Spans, Trees
from pipeline.support import stdout

SASL = "SaslHandshakeRequest"


@pytest.fixture(scope="module")
def reader(lake: Lake) -> Reader:
    return Reader(lake)


def test_lines(reader: Reader) -> None:
    rows = [(row["source"], row["lineage"], row["kind"], row["revisions"]) for row in reader.rows(Sources)]
    assert rows == [("sample", "main", "git", 10), ("sample", "tags", "git", 4), ("fork", "fork", "git", 5)]


def test_releases_are_in_the_order_of_their_versions(reader: Reader) -> None:
    tags = [row["release"] for row in reader.rows(Revisions) if row["lineage"] == "tags"]
    assert tags == ["1.0.0", "1.1.0", "1.2.0", "2.0.0"]


def test_contents_are_there_once(reader: Reader) -> None:
    blobs = [row["blob"] for row in reader.rows(Blobs)]
    files = [(row["tree"], row["name"]) for row in reader.rows(Files)]
    assert (len(blobs), len(files)) == (len(set(blobs)), len(set(files)))
    assert {row["root"] for row in reader.rows(Revisions)} == {row["root"] for row in reader.rows(Trees)}


def test_a_file_that_moved_is_the_same_tree_elsewhere(reader: Reader) -> None:
    where: dict[str, set[str]] = {}
    for row in reader.rows(Trees):
        where.setdefault(row["tree"], set()).add(row["directory"])
    assert {"group-coordinator", "coordinators/group"} in where.values()


def _spans(reader: Reader, what: str, line: tuple[str, str], severity: str) -> list[tuple[Any, ...]]:
    columns = ("rule", "message_name", "introduced_position", "fixed_position", "first_release", "fixed_release")
    return sorted(
        (
            tuple(row[name] for name in columns)
            for row in reader.rows(Spans)
            if (row["what"], row["source"], row["lineage"], row["severity"]) == (what, *line, severity)
        ),
        key=str,
    )


def test_findings_in_time(reader: Reader) -> None:
    result = _spans(reader, "finding", ("sample", "main"), "error")
    assert [span for span in result if span[0] != "kip-1313/header-missing"] == [
        ("kip-1313/frozen-rpc", "SaslHandshakeRequest", 2, 4, None, None),
        ("kip-1313/frozen-rpc", "SaslHandshakeResponse", 2, 4, None, None),
        ("kip-1313/request-header-order", "RequestHeader", 7, 8, None, None),
        ("rpc/versions-differ", "DeleteGroupsResponse", 3, 5, "1.1.0", "1.2.0"),
        ("versions/field-above-valid", "DeleteGroupsResponse", 3, 5, "1.1.0", "1.2.0"),
    ]
    missing = [span for span in result if span[0] == "kip-1313/header-missing"]
    assert {span[2:] for span in missing} == {(9, None, "2.0.0", None)}


def test_changes_in_time(reader: Reader) -> None:
    text = _spans(reader, "change", ("sample", "main"), "error")
    assert text == [
        ("compat/frozen-bumped", "SaslHandshakeRequest", 2, None, None, None),
        ("compat/frozen-bumped", "SaslHandshakeResponse", 2, None, None, None),
        ("compat/layout-changed", "RequestHeader", 7, None, None, None),
        ("compat/layout-changed", "RequestHeader", 8, None, None, None),
        ("compat/response-not-bumped", "DeleteGroupsResponse", 3, None, "1.1.0", None),
    ]


def test_the_fork_collides_where_it_changed_released_versions(reader: Reader) -> None:
    collisions = {
        (row["message_name"], row["lowest"], row["highest"], row["upstream_release"])
        for row in reader.rows(Drift)
        if row["status"] == "collision"
    }
    ranges = [(0, 0), (1, 2), (3, 3), (4, 6)]
    assert collisions == {("FindCoordinatorRequest", low, high, "2.0.0") for low, high in ranges}


def test_the_matrix_has_every_pair(reader: Reader) -> None:
    cells = reader.duck.rows("SELECT * FROM release_matrix")
    assert len({(row["client"], row["broker"]) for row in cells}) == 16
    header = {(row["client"], row["broker"]): row["request_header"] for row in cells if row["name"] == "DeleteGroups"}
    assert {pair for pair, result in header.items() if result == 3} == {("2.0.0", "2.0.0")}


def test_nothing_went_wrong(reader: Reader) -> None:
    assert reader.rows(Problems) == []


def test_commits_say_who_made_them_and_what_for(reader: Reader, history: Path) -> None:
    rows = [row for row in reader.rows(Revisions) if row["lineage"] == "main"]
    command = ["git", "-C", str(history), "log", "--reverse", "--format=%an", "main"]
    assert [row["author"] for row in rows] == subprocess.run(
        command, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert all(row["subject"] for row in rows)
    assert [row["parents"] for row in rows] == [[], *([row["commit"]] for row in rows[:-1])]
    assert [kip for row in rows for kip in row["kips"]] == ["KIP-9001", "KIP-9002", "KIP-1313"]
    assert [row["pull_request"] for row in rows if row["pull_request"]] == [17, 21, 34, 40]


def test_the_readme_shows_what_blame_prints(lake: Lake) -> None:
    """The README names the lake of `make pipeline-demo`, which is of the same commits."""
    block = f"$ kiplint pipeline blame build/pipeline-demo/sample-lake {SASL}\n{stdout('blame', str(lake), SASL)}```\n"
    assert block in (ROOT / "README.md").read_text("utf-8")
