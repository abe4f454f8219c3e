"""Who sends an RPC, and in which mode of a cluster a broker serves it.

Where a set declares listeners, they decide: `zkBroker` in ZooKeeper mode, `broker` (and `controller`) in KRaft mode.
The rest is in the tables here, the only place for knowledge that is in no definition. Their source is the code of
Apache Kafka up to 4.1: the enumeration ApiKeys (which RPCs are cluster actions; in 2.7 also which are not enabled
yet), the listeners of later releases, and the comments of the requests.
"""

from __future__ import annotations

from typing import Final, Literal

from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.versions import NONE, VersionRange

Mode = Literal["zookeeper", "kraft"]
TITLES: Final[dict[Mode, str]] = {"zookeeper": "ZooKeeper", "kraft": "KRaft"}

UPDATE_METADATA: Final = 6
DESCRIBE_QUORUM: Final = 55

OF_KRAFT: Final = {52: "Vote", 53: "BeginQuorumEpoch", 54: "EndQuorumEpoch", 55: "DescribeQuorum"}
"""What 2.7 defines and does not enable: the Raft quorum (KIP-595). 2.8, the first release that declares
listeners, has no `zkBroker` among theirs."""

_BETWEEN_NODES: Final = """
4=LeaderAndIsr 5=StopReplica 6=UpdateMetadata 7=ControlledShutdown 27=WriteTxnMarkers 56=AlterIsr/AlterPartition
58=Envelope 67=AllocateProducerIds 52=Vote 53=BeginQuorumEpoch 54=EndQuorumEpoch 59=FetchSnapshot 82=UpdateRaftVoter
62=BrokerRegistration 63=BrokerHeartbeat 70=ControllerRegistration 73=AssignReplicasToDirs
83=InitializeShareGroupState 84=ReadShareGroupState 85=WriteShareGroupState 86=DeleteShareGroupState
87=ReadShareGroupStateSummary
"""
BETWEEN_NODES: Final = {
    int(key): names.split("/") for key, _, names in (pair.partition("=") for pair in _BETWEEN_NODES.split())
}
"""The RPCs that only brokers and controllers send to each other: API key -> names, old and new.

The cluster actions of ApiKeys without DescribeQuorum and UpdateFeatures, which an admin client sends too, and with the
four that only nodes send although they are not cluster actions: FetchSnapshot (KIP-630), ControllerRegistration
(KIP-919), AssignReplicasToDirs (KIP-858), UpdateRaftVoter (KIP-853).
"""

OF_CLIENTS: Final = {24: ("AddPartitionsToTxn", VersionRange.of(0, 3))}
"""The versions that a client may use, where brokers keep the others for themselves: API key -> name, versions.

AddPartitionsToTxn 4 and above are for a broker that verifies a transaction (KIP-890, and the request's own comment).
"""


def is_between_nodes(key: int, name: str) -> bool:
    """Whether brokers and controllers send an RPC to each other, and no client does."""
    return name in BETWEEN_NODES.get(key, ())


def kept_by_brokers(key: int, name: str, versions: VersionRange) -> VersionRange:
    """The versions of an RPC that a client must not use."""
    title, free = OF_CLIENTS.get(key, ("", NONE))
    return versions - free if name == title else NONE


def default_mode(schemas: SchemaSet) -> Mode:
    """The usual mode of the brokers of a set: KRaft, except of releases up to 3.2 that can run in ZooKeeper mode.

    KRaft is for production from 3.3 on (KIP-833), the release that added DescribeQuorum 1 (KIP-836). Without listeners
    (before 2.8) the mode is ZooKeeper where UpdateMetadata is live.
    """
    rpcs = [rpc for rpc in schemas.rpcs if not rpc.is_coordinator and rpc.common]
    if not schemas.declares_listeners:
        return "zookeeper" if any(rpc.api_key == UPDATE_METADATA for rpc in rpcs) else "kraft"
    can_kraft = any(_listens(rpc, "broker", "controller") for rpc in rpcs)
    is_early = any(rpc.api_key == DESCRIBE_QUORUM and rpc.common.highest == 0 for rpc in rpcs)
    return "zookeeper" if schemas.has_zookeeper and (is_early or not can_kraft) else "kraft"


def is_served(rpc: Rpc, mode: Mode) -> bool:
    """Whether a broker in that mode serves an RPC of its set: what declares no listeners is not restricted."""
    if rpc.request is None or not rpc.request.declares_listeners:
        return mode == "kraft" or OF_KRAFT.get(rpc.api_key) != rpc.name
    return _listens(rpc, "zkBroker" if mode == "zookeeper" else "broker")


def _listens(rpc: Rpc, *listeners: str) -> bool:
    return rpc.request is not None and not set(listeners).isdisjoint(rpc.request.listeners)
