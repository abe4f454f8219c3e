"""The lake has no second opinion: what it says of a revision is what `check`, `diff` and `negotiate` say, row for row.

Of the sample history, and of some of Kafka's releases, whose lake is made on a cluster of two executors.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kiplint.compat.change import ChangeFinding
from kiplint.compat.negotiation import negotiate
from kiplint.compat.tree import load
from kiplint.engine.config import RuleOptions, configure
from kiplint.engine.finding import Finding
from kiplint.engine.run import check_set
from kiplint.pipeline.answers import Answers
from kiplint.pipeline.tables import TABLES
from kiplint.sources.open import open_sets
from kiplint.sources.repository import Repository, open_repository
from kiplint.sources.schema_files import SchemaFile
from pipeline.conftest import RELEASES
from tools import changes_between

RULES = configure(options=RuleOptions(config={})).rules()


def columns(table: str, kind: type[Finding], *others: str) -> list[str]:
    """The fields of a finding that a table has as they are, but for others."""
    names = {"path", *re.findall(r"^ {8}(\w+)", TABLES[table], re.MULTILINE)}
    return [name for name in kind.__struct_fields__ if name in names and name not in others]


FINDING = columns("findings", Finding, "fixable")  # there is no fixer here
CHANGE = columns("changes", ChangeFinding, "old", "new", "proof")  # which are JSON text there
CELL = ["chosen", "request_header", "response_header", "instance_id", "deprecated"]


class History(NamedTuple):
    """A line of a lake, and the repository that it is of."""

    answers: Answers
    repository: str
    line: tuple[str, str]

    @property
    def revisions(self) -> list[dict[str, Any]]:
        sql = "SELECT * FROM revisions WHERE (source, lineage) = ($1, $2) ORDER BY position"
        return self.answers.rows(sql, self.line).records

    def rows(self, view: str, position: int, columns: list[str]) -> list[tuple[Any, ...]]:
        sql = f"SELECT * FROM {view} WHERE (source, lineage, position) = ($1, $2, $3)"
        records = self.answers.rows(sql, [*self.line, position]).records
        return sorted(tuple(record[name] for name in columns) for record in records)


@pytest.fixture(params=["sample main", "sample tags", "fork fork"])
def sample(request: pytest.FixtureRequest, answers: Answers, history: Path) -> History:
    source, lineage = request.param.split()
    return History(answers, str(history), (source, lineage))


@pytest.fixture(scope="module")
def kafka(corpus: Path, kafka_lake: Path) -> History:
    return History(Answers(kafka_lake), str(corpus / "kafka-schema-history.bundle"), ("kafka", RELEASES))


def test_a_line_of_the_sample(sample: History) -> None:
    require_equality(sample)


def test_releases_of_kafka(kafka: History) -> None:
    assert len(kafka.revisions) == 2
    require_equality(kafka)


def require_equality(history: History) -> None:
    revisions = history.revisions
    for revision in revisions:
        expected = findings_of(revision["commit"], open_repository(history.repository))
        assert history.rows("set_findings", revision["position"], FINDING) == expected
    for old, new in pairwise(revisions):
        before, after = (load(f"{revision['commit']}:", open_repository(history.repository)) for revision in (old, new))
        expected = sorted(row_of(change, CHANGE) for change in changes_between(RULES, before, after))
        assert history.rows("set_changes", new["position"], CHANGE) == expected
    releases = [revision["release"] for revision in revisions if revision["release"]]
    sets = {release: load(f"{release}:", open_repository(history.repository)).main for release in releases}
    for client in releases:
        for broker in releases:
            require_equal_cells(history, (client, sets[client]), (broker, sets[broker]))


def findings_of(commit: str, repository: Repository) -> list[tuple[Any, ...]]:
    sets = open_sets([f"{commit}:"], lambda path: True, repository).sets
    results = (check_set((SchemaFile(file.path, file.data) for file in some.files), RULES) for some in sets)
    return sorted(row_of(finding, FINDING) for result in results for finding in result.findings)


def row_of(finding: Finding, names: list[str]) -> tuple[Any, ...]:
    values = {name: getattr(finding, name) for name in names}
    return tuple({**values, "path": finding.path.partition(":")[2]}.values())  # without the commit before it


def require_equal_cells(history: History, client: Any, broker: Any) -> None:
    sql = "SELECT * FROM release_matrix WHERE (client, broker) = ($1, $2)"
    rows = history.answers.rows(sql, [client[0], broker[0]]).records
    expected = negotiate(client, [broker]).rpcs
    assert sorted((row["api_key"], row["status"], *(row[name] for name in CELL)) for row in rows) == sorted(
        (row.api_key, row.status, *(getattr(row, name) for name in CELL)) for row in expected
    )
