"""The real definitions of Kafka's trunk, and the realistic ones of the repository, with the default rules."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kiplint.engine.config import Config
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.engine.run import Input, Result, check_set
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet

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

WARNINGS = """
clients/AlterPartitionRequest.json  notes/note-version
clients/BrokerRegistrationResponse.json  notes/note-version
clients/CreateDelegationTokenRequest.json /fields/0/name conventions/later-without-default
clients/CreateDelegationTokenRequest.json /fields/1/name conventions/later-without-default
clients/CreateDelegationTokenResponse.json /fields/3/name conventions/later-without-default
clients/CreateDelegationTokenResponse.json /fields/4/name conventions/later-without-default
clients/CreateTopicsResponse.json /fields/1/fields/3/nullableVersions versions/nullable-outside-versions
clients/DeleteShareGroupStateRequest.json /fields/0/name fields/entity-type-missing
clients/DescribeConfigsResponse.json /fields/1/fields/4/fields/5/fields/1/nullableVersions versions/nullable-outside-versions
clients/DescribeConfigsResponse.json /fields/1/fields/4/fields/7/name fields/later-nullable-without-default
clients/DescribeConfigsResponse.json /fields/1/fields/4/fields/7/nullableVersions versions/nullable-outside-versions
clients/DescribeDelegationTokenResponse.json /fields/1/fields/2/name conventions/later-without-default
clients/DescribeDelegationTokenResponse.json /fields/1/fields/3/name conventions/later-without-default
clients/DescribeGroupsResponse.json /fields/1/fields/1/name conventions/informative-not-ignorable
clients/DescribeQuorumResponse.json /commonStructs/0/fields/1/name conventions/later-without-default
clients/DescribeQuorumResponse.json /fields/1/name fields/later-nullable-without-default
clients/DescribeQuorumResponse.json /fields/2/fields/1/fields/2/name fields/later-nullable-without-default
clients/ElectLeadersResponse.json /fields/1/name conventions/informative-not-ignorable
clients/InitializeShareGroupStateRequest.json /fields/0/name fields/entity-type-missing
clients/ReadShareGroupStateRequest.json /fields/0/name fields/entity-type-missing
clients/ReadShareGroupStateSummaryRequest.json /fields/0/name fields/entity-type-missing
clients/ShareAcknowledgeResponse.json /fields/4/fields/1/fields/3/fields/0/name conventions/entity-by-name
clients/ShareFetchResponse.json /fields/4/fields/1/fields/5/fields/0/name conventions/entity-by-name
clients/WriteShareGroupStateRequest.json /fields/0/name fields/entity-type-missing
group-coordinator/ConsumerGroupCurrentMemberAssignmentValue.json /commonStructs/0/fields/2/default fields/default-json-null
group-coordinator/ConsumerGroupMemberMetadataValue.json /fields/8/default fields/default-json-null
group-coordinator/StreamsGroupCurrentMemberAssignmentValue.json /commonStructs/0/fields/2/default fields/default-json-null
group-coordinator/StreamsGroupMetadataValue.json /fields/3 versions/versions-missing
group-coordinator/StreamsGroupMetadataValue.json /fields/3/default fields/default-json-null
streams/SubscriptionInfoData.json /commonStructs/1/fields/3/ignorable shape/coerced-value
transaction-coordinator/TransactionLogValue.json /fields/1 versions/versions-missing
transaction-coordinator/TransactionLogValue.json /fields/10 versions/versions-missing
transaction-coordinator/TransactionLogValue.json /fields/2 versions/versions-missing
transaction-coordinator/TransactionLogValue.json /fields/4 versions/versions-missing
"""

TEST_WARNINGS = """
clients-test/SimpleExampleMessage.json /fields/1 versions/versions-missing
clients-test/SimpleExampleMessage.json /fields/10/nullableVersions versions/nullable-outside-versions
clients-test/SimpleExampleMessage.json /fields/13 versions/versions-missing
clients-test/SimpleExampleMessage.json /fields/2 versions/versions-missing
clients-test/SimpleExampleMessage.json /fields/3 versions/versions-missing
clients-test/SimpleExampleMessage.json /fields/4 versions/versions-missing
clients-test/SimpleExampleMessage.json /fields/5 versions/versions-missing
clients-test/SimpleExampleMessage.json /fields/6 versions/versions-missing
clients-test/SimpleExampleMessage.json /fields/7 versions/versions-missing
clients-test/SimpleExampleMessage.json /fields/8 versions/versions-missing
"""

NOTES = {
    "conventions/response-null-not-ignorable": 1,
    "conventions/throttle-time-missing": 1,
    "style/about-missing": 5,
    "style/latest-unstable": 1,
    "style/version-undocumented": 2,
    "versions/never-present": 1,
    "versions/only-one-version": 1,
}


def check(folder: Path, root: Path) -> Result:
    config = Config()
    inputs = [Input(path.relative_to(root).as_posix(), path.read_bytes()) for path in sorted(folder.glob("*.json"))]
    return check_set(inputs, make_ruleset(config, load_rules(config, "")), directory=folder.name)


def lines(findings: list[Finding]) -> list[str]:
    return sorted(f"{finding.path} {finding.pointer} {finding.rule}" for finding in findings)


def with_severity(results: dict[str, Result], severity: str) -> list[Finding]:
    real = [finding for name, result in results.items() if name != TESTS for finding in result.findings]
    return [finding for finding in real if finding.severity == severity]


@pytest.fixture(scope="module")
def trunk(corpus: Path) -> Path:
    return corpus / "kafka-trunk-2026-08"


@pytest.fixture(scope="module")
def results(trunk: Path) -> dict[str, Result]:
    return {folder.name: check(folder, trunk) for folder in sorted(trunk.iterdir())}


@pytest.fixture(scope="module")
def messages(trunk: Path) -> list[Message]:
    files = [load(str(path), path.read_bytes()) for path in sorted(trunk.glob("*/*.json")) if path.parent.name != TESTS]
    return [loaded_file.message for loaded_file in files if loaded_file.message]


def test_every_file_is_read(results: dict[str, Result]) -> None:
    assert {name: result.files for name, result in results.items()} == MODULES
    assert {name: result.messages for name, result in results.items()} == MODULES


def test_there_is_no_error(results: dict[str, Result]) -> None:
    assert (
        lines([finding for result in results.values() for finding in result.findings if finding.severity == "error"])
        == []
    )


def test_warnings_are_the_real_ones(results: dict[str, Result]) -> None:
    assert lines(with_severity(results, "warning")) == WARNINGS.strip().splitlines()


def test_notes_are_few(results: dict[str, Result]) -> None:
    assert Counter(finding.rule for finding in with_severity(results, "info")) == NOTES


def test_warnings_of_the_generator_s_own_tests(results: dict[str, Result]) -> None:
    findings = [finding for finding in results[TESTS].findings if finding.rule != "style/about-missing"]
    assert lines(findings) == TEST_WARNINGS.strip().splitlines()


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
    config = Config()
    rules = make_ruleset(config, load_rules(config, ""))
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted((root / folder).glob("*.json"))}
    messages = tuple(message for path, data in files.items() if (message := load(path, data).message))
    inputs = [Input(path, data) for path, data in files.items()]
    result = check_set(inputs, rules, directory=folder, base=SchemaSet(messages, folder))
    every = check(root / folder, root).findings
    assert lines(result.findings) == lines([finding for finding in every if finding.rule not in NEW_VERSIONS_ONLY])
