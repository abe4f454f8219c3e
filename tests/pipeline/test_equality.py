"""The lake has no second opinion: what it says of a revision is what `check`, `diff` and `negotiate` say, row for row."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kiplint.compat.negotiation.negotiate import negotiate
from kiplint.compat.tree import load
from kiplint.engine.config import configure
from kiplint.engine.run import Input, check_set
from kiplint.pipeline.answers import Answers
from kiplint.sources.open import open_sets
from tools import changes_between

RULES = configure(config={}).rules()
FINDING = [
    "path",
    "rule",
    "severity",
    "message",
    "line",
    "column",
    "end_line",
    "end_column",
    "pointer",
    "message_name",
    "rule_source",
    "fingerprint",
    "instead",
]
CHANGE = [
    "rule",
    "severity",
    "breaks",
    "kind",
    "message_name",
    "message_type",
    "versions",
    "field",
    "path",
    "line",
    "column",
    "message",
]
CELL = ["chosen", "request_header", "response_header", "instance_id", "deprecated"]
LINES = [("sample", "main"), ("sample", "tags"), ("fork", "fork")]


def revisions(answers: Answers, line: tuple[str, str]) -> list[dict[str, Any]]:
    return answers.rows("SELECT * FROM revisions WHERE (source, lineage) = ($1, $2) ORDER BY position", line).records


@pytest.mark.parametrize("line", LINES)
def test_findings_are_those_of_check(line: tuple[str, str], answers: Answers, history: Path) -> None:
    for revision in revisions(answers, line):
        rows = answers.rows(
            "SELECT * FROM set_findings WHERE (source, lineage, position) = ($1, $2, $3)", [*line, revision["position"]]
        ).records
        assert sorted(tuple(row[name] for name in FINDING) for row in rows) == findings_of(revision["commit"], history)


def findings_of(commit: str, history: Path) -> list[tuple[Any, ...]]:
    rows = []
    for some in open_sets([f"{commit}:"], lambda path: True, repository=str(history)):
        for finding in check_set((Input(file.path, file.data) for file in some.files), RULES).findings:
            values = {name: getattr(finding, name) for name in FINDING if name != "rule_source"}
            values |= {"path": finding.path.partition(":")[2], "rule_source": finding.source}
            rows.append(tuple(values[name] for name in FINDING))
    return sorted(rows)


@pytest.mark.parametrize("line", LINES)
def test_changes_are_those_of_diff(line: tuple[str, str], answers: Answers, history: Path) -> None:
    for old, new in pairwise(revisions(answers, line)):
        rows = answers.rows(
            "SELECT * FROM set_changes WHERE (source, lineage, position) = ($1, $2, $3)", [*line, new["position"]]
        ).records
        before, after = (load(f"{revision['commit']}:", str(history)) for revision in (old, new))
        expected = [
            {**{name: getattr(change, name) for name in CHANGE}, "path": change.path.partition(":")[2]}
            for change in changes_between(RULES, before, after)
        ]
        assert sorted(tuple(row[name] for name in CHANGE) for row in rows) == sorted(
            tuple(row[name] for name in CHANGE) for row in expected
        )


def test_the_matrix_is_that_of_negotiate(answers: Answers, history: Path) -> None:
    releases = [row["release"] for row in revisions(answers, LINES[1])]
    sets = {release: load(f"{release}:", str(history)).main for release in releases}
    for client in releases:
        for broker in releases:
            rows = answers.rows(
                "SELECT * FROM release_matrix WHERE (client, broker) = ($1, $2)", [client, broker]
            ).records
            expected = negotiate((client, sets[client]), [(broker, sets[broker])]).rpcs
            assert sorted((row["api_key"], row["status"], *(row[name] for name in CELL)) for row in rows) == sorted(
                (row.api_key, row.status, *(getattr(row, name) for name in CELL)) for row in expected
            )
