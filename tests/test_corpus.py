"""The real definitions of Kafka's trunk, and the realistic ones of the repository, with the default rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kiplint.engine.config import Config
from kiplint.engine.finding import Finding
from kiplint.engine.run import Result, check_set
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.sources.schema_files import SchemaFile
from tools import rules_of

TESTS = "clients-test"
"""The module whose definitions only exercise Kafka's generator."""

MODULES = {
    "clients": 203,
    "clients-test": 5,
    "group-coordinator": 44,
    "metadata": 27,
    "raft": 1,
    "share-coordinator": 4,
    "storage": 5,
    "streams": 1,
    "transaction-coordinator": 2,
}


def check(folder: Path, root: Path) -> Result:
    inputs = [
        SchemaFile(path.relative_to(root).as_posix(), path.read_bytes()) for path in sorted(folder.glob("*.json"))
    ]
    return check_set(inputs, rules_of(Config()), directory=folder.name)


def lines(findings: list[Finding]) -> list[str]:
    return sorted(f"{finding.path} {finding.pointer} {finding.rule}" for finding in findings)


@pytest.fixture(scope="module")
def trunk(corpus: Path) -> Path:
    return corpus / "kafka-trunk-2026-08"


@pytest.fixture(scope="module")
def results(trunk: Path) -> dict[str, Result]:
    return {folder.name: check(folder, trunk) for folder in sorted(trunk.iterdir())}


@pytest.fixture(scope="module")
def messages(trunk: Path) -> list[Message]:
    files = [load(str(path), path.read_bytes()) for path in sorted(trunk.glob("*/*.json")) if path.parent.name != TESTS]
    return [*SchemaSet(files).messages]


def test_every_file_is_read(results: dict[str, Result]) -> None:
    assert {name: result.files for name, result in results.items()} == MODULES
    assert {name: result.messages for name, result in results.items()} == MODULES


def test_findings_are_the_real_ones(results: dict[str, Result], assert_text: Callable[[Path, str], None]) -> None:
    """There is no error; warnings are real and few. Of the generator's own tests no text is asked."""
    findings = [finding for result in results.values() for finding in result.findings]
    assert [finding for finding in findings if finding.severity == "error"] == []
    rows = [f"{finding.severity} {line}" for finding in findings for line in lines([finding])]
    shown = [row for row in rows if not (f" {TESTS}/" in row and row.endswith("style/about-missing"))]
    assert_text(Path(__file__).with_name("real_findings.txt"), "".join(f"{row}\n" for row in sorted(shown)))


def test_normal_values(messages: list[Message]) -> None:
    live = [message for message in messages if message.valid]
    fields = [field for message in live for field in message.all_fields]
    assert (len(messages), len(live)) == (287, 279)
    assert sum(not message.flexible & message.valid for message in live) == 37
    assert sum(field.versions.lowest < field.message.valid.lowest for field in fields) == 378
    assert sum(field.versions.lowest > field.message.valid.highest for field in fields) == 0
    assert sum(message.declares_headers for message in messages) == 0


def test_the_repository_s_sets_are_clean(repo: Path) -> None:
    folders = {path.parent for path in (repo / "fixtures/sets").rglob("*.json")}
    assert len(folders) >= 3
    assert {str(folder): lines(check(folder, repo).findings) for folder in folders} == dict.fromkeys(
        map(str, folders), []
    )


NEW_VERSIONS_ONLY = ("style/version-undocumented",)
"""Rules about versions that the base has not."""


@pytest.mark.parametrize("folder", ["clients", "metadata", "group-coordinator"])
def test_a_base_that_is_the_same_changes_no_finding(corpus: Path, folder: str) -> None:
    root = corpus / "kafka-trunk-2026-08"
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted((root / folder).glob("*.json"))}
    base = SchemaSet((load(path, data) for path, data in files.items()), folder)
    inputs = [SchemaFile(path, data) for path, data in files.items()]
    result = check_set(inputs, rules_of(Config()), directory=folder, base=base)
    every = check(root / folder, root).findings
    assert lines(result.findings) == lines([finding for finding in every if finding.rule not in NEW_VERSIONS_ONLY])
