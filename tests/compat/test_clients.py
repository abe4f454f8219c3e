"""What 48 releases of clients that others wrote cannot use of brokers: ../shared/clients, whose README has the list.

The list is of Kafka 4.0.0. Since 4.0.1 brokers take JoinGroup 0 and 1 again. It leaves out some releases that lie
between those that it names, and DescribeLogDirs of kafka-python, which sends version 0 alone, where 4.0 takes 1-4.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from kiplint.compat.negotiation import negotiate
from kiplint.compat.sides import PRODUCE_NOTE, broker_side
from kiplint.compat.tree import load_release
from kiplint.compat.version_tables import read_tables
from kiplint.model.schemas import SchemaSet
from kiplint.sources.built_in import api_keys

WITH_4_0_0 = {
    "librdkafka-0.9.5": "Produce Fetch ListOffsets* OffsetCommit JoinGroup",
    "librdkafka-0.11.6": "ListOffsets* OffsetCommit JoinGroup",
    "librdkafka-1.3.0": "ListOffsets*",
    "librdkafka-1.6.1": "ListOffsets*",
    "sarama-1.20.0": "OffsetCommit* JoinGroup DescribeAcls CreateAcls DeleteAcls DescribeConfigs",
    "sarama-1.24.1": "OffsetCommit* JoinGroup DescribeConfigs",
    "sarama-1.27.2": "OffsetCommit* JoinGroup DescribeLogDirs",
    "sarama-1.30.1": "OffsetCommit* JoinGroup DescribeLogDirs",
    "kafka-go-0.3.10": "JoinGroup CreateTopics DeleteTopics",
    "kafka-go-0.4.8": "JoinGroup CreateTopics* DeleteTopics*",
    "kafka-go-0.4.25": "JoinGroup CreateTopics* DeleteTopics*",
    "kafka-go-0.4.47": "JoinGroup* CreateTopics* DeleteTopics*",
    "kafkajs-1.4.6": "ListOffsets JoinGroup CreateTopics DeleteTopics DescribeConfigs",
    "kafka-python-2.1.5": "DescribeLogDirs",
    "kafka-python-2.3.0": "DescribeLogDirs",
}
"""The RPCs without a common version, by API key; * where only a version that is sent without asking is missing."""
NEWEST_ONLY = {
    ("platformatic-kafka-1.0.0", "2.4.0"): "Produce Fetch ListOffset Metadata OffsetCommit OffsetFetch FindCoordinator "
    "JoinGroup LeaveGroup SyncGroup ListGroups CreateTopics DeleteTopics InitProducerId",
    ("platformatic-kafka-1.0.0", "3.6.0"): "Produce Fetch ListOffsets OffsetCommit OffsetFetch FindCoordinator "
    "ListGroups InitProducerId",
    ("platformatic-kafka-1.20.0", "2.4.0"): "Produce Fetch ListOffset Metadata OffsetFetch FindCoordinator JoinGroup "
    "LeaveGroup SyncGroup ListGroups CreateTopics DeleteTopics InitProducerId DescribeLogDirs SaslAuthenticate",
}


@cache
def release(name: str) -> SchemaSet:
    return load_release(name).main


def unusable(file: Path, broker: str) -> list[str]:
    [table] = read_tables(file.name, file.read_text("utf-8"), api_keys).tables
    rows = [row for row in negotiate(table, [(broker, release(broker))]).rpcs if row.in_trouble]
    assert {row.status for row in rows} <= {"no-common-version", "fixed-version"}
    return [row.name + "*" * (row.status == "fixed-version") for row in rows]


def test_48_clients(corpus: Path) -> None:
    files = sorted((corpus.parent / "clients").glob("*.json"))
    assert len(files) == 48
    answers = {(file.stem, broker): unusable(file, broker) for file in files for broker in ("2.4.0", "3.6.0", "4.0.0")}
    expected = {(client, "4.0.0"): names for client, names in WITH_4_0_0.items()} | NEWEST_ONLY
    assert {pair: " ".join(names) for pair, names in answers.items() if names} == expected


def test_join_group_since_4_0_1(corpus: Path) -> None:
    assert unusable(corpus.parent / "clients/librdkafka-0.11.6.json", "4.0.1") == ["ListOffsets*", "OffsetCommit"]


@pytest.mark.parametrize(
    ("name", "file", "differences"),
    [
        # What this preview lists is not what its definitions say: Envelope (58), and not UnregisterBroker (64).
        ("2.8.0", "api-versions-2.8.0-kraft.txt", {58: ("0", None), 64: (None, "0")}),
        ("4.4.0", "api-versions-4.4.0.txt", {0: ("0-13", "3-13")}),
    ],
)
def test_what_running_brokers_list(
    name: str, file: str, differences: dict[int, tuple[str | None, str | None]], shared_bytes: Path
) -> None:
    """The prediction is exact, but for Produce 0-2, of which a note tells; the broker has a reporter for telemetry."""
    [table] = read_tables(file, (shared_bytes / file).read_text("utf-8"), dict).tables
    side = broker_side(name, release(name), mode="kraft")
    listed = {row.api_key: str(row.versions) for row in table.rows}
    predicted = {api_key: str(offer.versions) for api_key, offer in side.offers.items()}
    api_keys_of_both = listed.keys() | predicted.keys()
    pairs = {api_key: (listed.get(api_key), predicted.get(api_key)) for api_key in api_keys_of_both}
    assert {api_key: pair for api_key, pair in pairs.items() if pair[0] != pair[1]} == differences
    assert side.notes == ((PRODUCE_NOTE,) if name == "4.4.0" else ())
