"""Who sends an RPC, and in which mode of a cluster a broker serves it.

Where a set declares listeners, they decide: `zkBroker` in ZooKeeper mode, `broker` (and `controller`) in KRaft mode;
`controller` alone is for nodes.
The rest is in the tables here, the only place for knowledge that is in no definition. Their source is the code of
Apache Kafka up to 4.1: the enumeration ApiKeys (which RPCs are cluster actions; in 2.7 also which are not enabled
yet), the listeners of later releases, and the comments of the requests.
"""

from __future__ import annotations

from typing import Final, Literal

from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet, partner
from kiplint.versions import ALL, NONE, VersionRange

Mode = Literal["zookeeper", "kraft"]
TITLES: Final[dict[Mode, str]] = {"zookeeper": "ZooKeeper", "kraft": "KRaft"}

PRODUCE: Final = 0
PRODUCE_LOWEST: Final = 3
"""The lowest version of Produce that a broker takes since 4.0. It still lists 0-2, for clients that test for them
(KAFKA-18659): a comment of the request says so, and no property."""
UPDATE_METADATA: Final = 6
ADD_PARTITIONS_TO_TXN: Final = 24
DESCRIBE_QUORUM: Final = 55
TELEMETRY: Final = {"GetTelemetrySubscriptions": 71, "PushTelemetry": 72}
"""The API keys of the RPCs that a broker offers only if a metrics reporter of it takes client telemetry (KIP-714)."""

RAFT_QUORUM: Final = {"Vote": 52, "BeginQuorumEpoch": 53, "EndQuorumEpoch": 54, "DescribeQuorum": 55}
"""The API keys of the RPCs of the Raft quorum (KIP-595), which 2.7 defines and does not enable. 2.8, the first release
that declares listeners, has no `zkBroker` among theirs."""

BETWEEN_NODES: Final = {
    "LeaderAndIsr": 4, "StopReplica": 5, "UpdateMetadata": 6, "ControlledShutdown": 7, "WriteTxnMarkers": 27,
    "Vote": 52, "BeginQuorumEpoch": 53, "EndQuorumEpoch": 54, "AlterIsr": 56, "AlterPartition": 56, "Envelope": 58,
    "FetchSnapshot": 59, "BrokerRegistration": 62, "BrokerHeartbeat": 63, "AllocateProducerIds": 67,
    "ControllerRegistration": 70, "AssignReplicasToDirs": 73, "UpdateRaftVoter": 82, "InitializeShareGroupState": 83,
    "ReadShareGroupState": 84, "WriteShareGroupState": 85, "DeleteShareGroupState": 86,
    "ReadShareGroupStateSummary": 87,
}  # fmt: skip
"""The API keys of the RPCs that only brokers and controllers send to each other.

The cluster actions of ApiKeys without DescribeQuorum and UpdateFeatures, which an admin client sends too, and with the
four that only nodes send although they are not cluster actions: FetchSnapshot (KIP-630), ControllerRegistration
(KIP-919), AssignReplicasToDirs (KIP-858), UpdateRaftVoter (KIP-853).
"""

FILES_OF_NODES: Final = {
    "AbortedTxn", "DefaultPrincipalData", "EndTxnMarker", "KRaftVersionRecord", "LeaderChangeMessage",
    "SnapshotFooterRecord", "SnapshotHeaderRecord", "VotersRecord",
}  # fmt: skip
"""The messages of type data that only nodes write and read: in log files, control records and between
each other. Clients have the others: the consumer protocol, and the type of a control record."""


def is_between_nodes(request: Message) -> bool:
    """Whether brokers and controllers send an RPC to each other, and no client does: by its request."""
    if BETWEEN_NODES.get(request.base_name) == request.api_key:
        return True
    return request.declares_listeners and not _listens(request, "zkBroker", "broker")


def versions_between_nodes(request: Message) -> VersionRange:
    """The versions of an RPC that brokers and controllers use among themselves, and no client sends.

    Of the RPCs that clients send only AddPartitionsToTxn has some: a broker verifies a transaction with version 4 and
    above (KIP-890, and the request's own comment).
    """
    if is_between_nodes(request):
        return ALL
    verifies_transactions = request.api_key == ADD_PARTITIONS_TO_TXN and request.base_name == "AddPartitionsToTxn"
    return VersionRange.of(4) if verifies_transactions else NONE


def versions_for_clients(message: Message) -> VersionRange:
    """The valid versions of a request that clients send, or of a response that they read; none of any other message."""
    if not message.is_rpc:
        return NONE
    request = partner(message) if message.type == "response" else message
    return message.valid - versions_between_nodes(request or message)


def modes(schemas: SchemaSet) -> tuple[Mode, ...]:
    """The modes in which brokers of a set can run. Without listeners (before 2.8) that is KRaft only if the set has no
    UpdateMetadata."""
    requests = [rpc.request for rpc in schemas.rpcs if not rpc.is_coordinator and rpc.common_versions and rpc.request]
    if not schemas.declares_listeners:
        return ("zookeeper",) if any(request.api_key == UPDATE_METADATA for request in requests) else ("kraft",)
    can_run_kraft = any(_listens(request, "broker", "controller") for request in requests)
    with_zookeeper: tuple[Mode, ...] = ("zookeeper",) if schemas.has_zookeeper else ()
    return (*with_zookeeper, "kraft") if can_run_kraft or not with_zookeeper else with_zookeeper


def default_mode(schemas: SchemaSet) -> Mode:
    """The usual mode of the brokers of a set: KRaft, except of releases up to 3.2 that can run in ZooKeeper mode.

    KRaft is for production from 3.3 on (KIP-833), the release that added DescribeQuorum 1 (KIP-836).
    """
    possible_modes = modes(schemas)
    is_before_3_3 = any(rpc.api_key == DESCRIBE_QUORUM and rpc.common_versions.highest == 0 for rpc in schemas.rpcs)
    return possible_modes[0] if is_before_3_3 else possible_modes[-1]


def is_served(request: Message, mode: Mode) -> bool:
    """Whether a broker of a request's own release serves it in a mode.

    A request that declares no listeners is served in both modes, except that ZooKeeper mode has no Raft quorum.
    """
    if not request.declares_listeners:
        return mode == "kraft" or RAFT_QUORUM.get(request.base_name) != request.api_key
    return _listens(request, "zkBroker" if mode == "zookeeper" else "broker")


def is_served_by_controllers(request: Message, mode: Mode) -> bool:
    """Whether the controllers of a request's own release serve it in a mode. ZooKeeper mode has none but brokers."""
    return mode == "kraft" and _listens(request, "controller")


def _listens(request: Message, *listeners: str) -> bool:
    """Whether the request declares one of the listeners."""
    return any(listener in request.listeners for listener in listeners)
