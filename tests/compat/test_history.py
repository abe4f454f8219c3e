"""The minor releases of Kafka, each compared with the one before: what broke is known, and nothing else is a break.

The tags are those of the history bundle, from 2.2.0 to the vendor's 8.3.0 (which is Apache's 4.3), without patches.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from kiplint.compat.change import ChangeFinding
from kiplint.compat.tree import load
from kiplint.engine.config import Config
from kiplint.sources.cleanup import close
from kiplint.sources.repository import open_repository
from tools import changes_between, rules_of

WIRE = {
    ("2.3.0 2.4.0", "layout-changed", "RequestHeader 0"),
    ("2.7.0 2.8.0", "layout-changed", "EndQuorumEpochRequest 0"),
}
"""The only bytes between processes that ever changed: one header, and one RPC that nothing used yet."""

STORAGE = {
    "2.7.0 2.8.0": {"layout-changed": "LeaderChangeMessage"},
    "2.8.0 3.0.0": {
        "layout-changed": "LeaderChangeMessage RegisterBrokerRecord",
        "flexible-changed": "ClientQuotaRecord ConfigRecord DelegationTokenRecord FeatureLevelRecord FenceBrokerRecord "
        "PartitionRecord RegisterBrokerRecord RemoveTopicRecord TopicRecord UnfenceBrokerRecord "
        "UnregisterBrokerRecord UserScramCredentialRecord",
        "nullability-widened": "ConfigRecord",
        "nullability-narrowed": "PartitionRecord",
    },
    "3.2.0 3.3.0": {"layout-changed": "FeatureLevelRecord", "message-removed": "RemoveFeatureLevelRecord"},
    "3.4.0 3.5.0": {"layout-changed": "UserScramCredentialRecord", "message-removed": "AccessControlRecord"},
    "3.5.0 3.6.0": {
        "layout-changed": "ConsumerGroupCurrentMemberAssignmentValue ConsumerGroupMemberMetadataValue "
        "ConsumerGroupPartitionMetadataValue DelegationTokenRecord RemoteLogSegmentMetadataRecord "
        "RemoteLogSegmentMetadataSnapshotRecord RemoteLogSegmentMetadataUpdateRecord",
    },
    "3.7.0 3.8.0": {
        "layout-changed": "ConsumerGroupCurrentMemberAssignmentValue ConsumerGroupMemberMetadataValue "
        "ConsumerGroupPartitionMetadataValue ConsumerGroupTargetAssignmentMemberValue",
    },
    "3.9.0-rc3 confluent-8.0.0": {"layout-changed": "ShareGroupPartitionMetadataValue"},
    "confluent-8.0.0 confluent-8.1.0": {
        "layout-changed": "ShareGroupMetadataValue ShareGroupStatePartitionMetadataValue ShareSnapshotValue "
        "ShareUpdateValue",
        "message-removed": "ShareGroupPartitionMetadataKey ShareGroupPartitionMetadataValue",
    },
}
"""The records on disk that changed, by pair of releases and rule: all of them in early access at the time."""

RENUMBERED_KEYS = """
OffsetCommitKey GroupMetadataKey ConsumerGroupMetadataKey ConsumerGroupPartitionMetadataKey
ConsumerGroupMemberMetadataKey ConsumerGroupTargetAssignmentMetadataKey ConsumerGroupTargetAssignmentMemberKey
ConsumerGroupCurrentMemberAssignmentKey ShareGroupMemberMetadataKey ShareGroupMetadataKey
ShareGroupTargetAssignmentMetadataKey ShareGroupTargetAssignmentMemberKey ShareGroupCurrentMemberAssignmentKey
ShareGroupStatePartitionMetadataKey ConsumerGroupRegularExpressionKey ShareSnapshotKey ShareUpdateKey TransactionLogKey
"""
"""The records whose type was the version of their key, and is its API key since KAFKA-17593."""


class ReleaseChange(NamedTuple):
    """A change, and the two releases it lies between."""

    pair: str
    change: ChangeFinding

    @property
    def rule(self) -> str:
        return self.change.rule.removeprefix("compat/")


def order(tag: str) -> tuple[bool, list[int]]:
    """Releases by their numbers; the vendor's, whose numbers are higher, come last."""
    return tag.startswith("confluent"), [int(number) for number in re.findall(r"\d+", tag)]


@pytest.fixture(scope="module")
def tags(history: Path) -> list[str]:
    listing = subprocess.run(["git", "-C", history, "tag"], check=True, capture_output=True, text=True)
    minors: dict[tuple[object, ...], str] = {}
    for tag in sorted(listing.stdout.split(), key=order):
        minors.setdefault((order(tag)[0], *order(tag)[1][:2]), tag)
    return list(minors.values())


@pytest.fixture(scope="module")
def changes(history: Path, tags: list[str]) -> list[ReleaseChange]:
    """All changes of all pairs; each tree is loaded once, and only two are kept."""
    try:
        return list(_compare_releases(history, tags))
    finally:
        close()


def _compare_releases(history: Path, tags: list[str]) -> Iterator[ReleaseChange]:
    rules = rules_of(Config())
    trees = (load(f"{tag}:", open_repository(history)) for tag in tags)
    for old, new in pairwise(trees):
        assert not old.unparsable + new.unparsable
        for change in changes_between(rules, old, new):
            yield ReleaseChange(f"{old.name} {new.name}".replace(":", ""), change)


def test_what_breaks_the_wire(changes: list[ReleaseChange], tags: list[str]) -> None:
    assert (len(tags), tags[0], tags[-1]) == (21, "2.2.0", "confluent-8.3.0")
    result = [change for change in changes if change.change.breaks == "wire"]
    assert {
        (change.pair, change.rule, f"{change.change.message_name} {change.change.versions}") for change in result
    } == WIRE
    assert len(result) == len(WIRE)
    assert {change.change.severity for change in result} == {"error"}


def test_what_breaks_storage(changes: list[ReleaseChange]) -> None:
    expected = {
        (pair, rule, name) for pair, rules in STORAGE.items() for rule, names in rules.items() for name in names.split()
    }
    result = [change for change in changes if change.change.breaks == "storage"]
    assert {(change.pair, change.rule, change.change.message_name) for change in result} == expected
    assert {change.change.message_type for change in result} <= {
        "metadata",
        "data",
        "coordinator-key",
        "coordinator-value",
    }


@pytest.mark.parametrize(
    ("pair", "field"),
    [
        ("2.6.0 2.7.0", "FetchResponse 0-11, Responses.PartitionResponses.RecordSet"),
        ("2.7.0 2.8.0", "ProduceRequest 0-8, TopicData.PartitionData.Records"),
    ],
)
def test_bytes_that_became_records_are_the_same_bytes(changes: list[ReleaseChange], pair: str, field: str) -> None:
    about = [
        change.change for change in changes if change.pair == pair and change.change.message.startswith(f"{field}: ")
    ]
    assert {change.breaks for change in about} == {"source"}
    (finding,) = (change for change in about if change.rule == "compat/type-retyped")
    assert finding.severity == "info"
    assert finding.message.endswith("changed from nullable bytes to nullable records; its bytes did not change")


def test_renumbered_coordinator_keys_are_the_same_on_disk(changes: list[ReleaseChange]) -> None:
    moves = [change for change in changes if change.rule == "record-type-moved"]
    assert {change.pair for change in moves} == {"confluent-8.0.0 confluent-8.1.0"}
    assert {change.change.breaks for change in moves} == {"source"}
    assert sorted(change.change.message_name for change in moves) == sorted(RENUMBERED_KEYS.split())
    others = [change for change in changes if change.pair == moves[0].pair and change.change.breaks == "storage"]
    assert not {change.change.message_name for change in others} & {*RENUMBERED_KEYS.split()}


def test_a_renamed_message_is_not_gone(changes: list[ReleaseChange]) -> None:
    messages = {change.change.message for change in changes if change.rule == "message-renamed"}
    assert "SubscriptionInfoData: SubscriptionInfo was renamed to SubscriptionInfoData" in messages
    assert "AlterPartitionRequest: AlterIsrRequest was renamed to AlterPartitionRequest" in messages


def test_old_versions_go_with_apache_4_only(changes: list[ReleaseChange]) -> None:
    drops = [change for change in changes if change.rule == "version-dropped" and change.change.breaks == "support"]
    assert {change.pair for change in drops} == {"3.9.0-rc3 confluent-8.0.0"}
    assert {change.change.severity for change in drops} == {"warning"}


def test_every_break_of_bytes_has_a_proof(changes: list[ReleaseChange]) -> None:
    """But for messages that are gone, of which no reader is left."""
    breaks = [change for change in changes if change.change.breaks in ("wire", "storage")]
    breaks = [change for change in breaks if change.rule != "message-removed"]
    assert len(breaks) > 40
    assert [
        (change.pair, change.rule, change.change.message_name) for change in breaks if not change.change.proof
    ] == []
