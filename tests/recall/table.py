"""Mistakes that Kafka's schemas had, and that a later commit put right: facts only, names, types and versions.

Each is the field as it was before its mend, in a message of the valid versions of then; `rule` is what finds it, None
where nothing does.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Mistake(NamedTuple):
    """The message, its valid versions, the field as it was, what finds it, and what else it takes to see it."""

    message: str
    valid: str
    field: dict[str, Any]
    rule: str | None
    notes: tuple[str, ...] = ()


def _field(text: str, **more: Any) -> dict[str, Any]:
    name, kind, versions = text.split()
    return {"name": name, "type": kind, "versions": versions, "about": f"What {name} holds.", **more}


def _mistake(
    message: str, valid: str, text: str, rule: str | None, notes: tuple[str, ...] = (), **more: Any
) -> Mistake:
    return Mistake(message, valid, _field(text, **more), rule, notes)


LATER, INFORM, TAGGED = (
    f"conventions/{name}"
    for name in ("later-without-default", "informative-not-ignorable", "tagged-later-not-ignorable")
)
NULL, ID = (f"conventions/{name}" for name in ("response-null-not-ignorable", "id-default"))
TOPICS, BY_NAME = (f"conventions/{name}" for name in ("entity-topics", "entity-by-name"))

DEFAULTS = (
    _mistake("ListOffsetResponse", "0-5", "Timestamp int64 1+", LATER),
    _mistake("ListOffsetResponse", "0-5", "Offset int64 1+", LATER),
    _mistake("ListOffsetRequest", "0-5", "CurrentLeaderEpoch int32 4+", LATER),
    _mistake("ListOffsetResponse", "0-5", "LeaderEpoch int32 4+", LATER),
    _mistake("OffsetFetchResponse", "0-5", "CommittedLeaderEpoch int32 5+", LATER),
    _mistake("OffsetForLeaderEpochRequest", "0-3", "ReplicaId int32 3+", LATER),
    _mistake("DescribeGroupsResponse", "0-3", "AuthorizedOperations int32 3+", LATER),
    _mistake("MetadataResponse", "0-8", "ClusterAuthorizedOperations int32 8+", LATER),
    _mistake("MetadataResponse", "0-8", "TopicAuthorizedOperations int32 8+", LATER),
    _mistake("JoinGroupRequest", "0-5", "GroupInstanceId string 5+", LATER, nullableVersions="5+"),
    _mistake("HeartbeatRequest", "0-3", "GroupInstanceId string 3+", LATER, nullableVersions="3+"),
    _mistake("SyncGroupRequest", "0-3", "GroupInstanceId string 3+", LATER, nullableVersions="3+"),
    _mistake("JoinGroupResponse", "0-5", "GroupInstanceId string 5+", LATER, nullableVersions="5+"),
    _mistake("ProduceRequest", "0-7", "TransactionalId string 3+", LATER, entityType="transactionalId"),
    _mistake("BeginQuorumEpochRequest", "0-1", "VoterId int32 1+", ID, ignorable=True),
    _mistake("JoinGroupResponse", "0-4", "GenerationId int32 0+", None),
    _mistake("InitProducerIdResponse", "0-1", "ProducerId int64 0+", None, entityType="producerId"),
)
IGNORABLE = (
    _mistake("DeleteTopicsResponse", "0-3", "ThrottleTimeMs int32 1+", INFORM),
    _mistake("MetadataResponse", "0-7", "ThrottleTimeMs int32 3+", INFORM),
    _mistake("ApiVersionsRequest", "0-3", "ClientSoftwareName string 3+", INFORM),
    _mistake("ApiVersionsRequest", "0-3", "ClientSoftwareVersion string 3+", INFORM),
    _mistake("OffsetFetchResponse", "0-5", "ErrorCode int16 2+", INFORM, default="0"),
    _mistake("FetchResponse", "0-10", "ErrorCode int16 7+", INFORM),
    _mistake("DescribeLogDirsResponse", "0-3", "ErrorCode int16 3+", INFORM),
    _mistake("JoinGroupRequest", "0-8", "Reason string 8+", INFORM, nullableVersions="8+", default="null"),
    _mistake("LeaveGroupRequest", "0-5", "Reason string 5+", INFORM, nullableVersions="5+", default="null"),
    _mistake("ListOffsetsRequest", "0-10", "TimeoutMs int32 10+", INFORM),
    _mistake("ShareAcknowledgeResponse", "1-2", "AcquisitionLockTimeoutMs int32 2+", INFORM),
    _mistake("CreateTopicsResponse", "0-5", "TopicConfigErrorCode int16 5+", INFORM, taggedVersions="5+", tag=0),
    _mistake("ApiVersionsResponse", "0-3", "FinalizedFeaturesEpoch int32 3+", TAGGED, taggedVersions="3+", tag=0, default="-1"),
    _mistake("FetchRequest", "0-12", "ClusterId string 12+", TAGGED, taggedVersions="12+", tag=0, nullableVersions="12+",
             default="null"),
    _mistake("FetchRequest", "0-17", "ReplicaDirectoryId uuid 17+", TAGGED, taggedVersions="17+", tag=0),
    _mistake("FetchSnapshotRequest", "0-1", "ReplicaDirectoryId uuid 1+", TAGGED, taggedVersions="1+", tag=0),
    _mistake("CreateTopicsResponse", "0-5", "Configs []int32 5+", NULL, nullableVersions="5+"),
    _mistake("DescribeGroupsResponse", "0-4", "GroupInstanceId string 4+", NULL, nullableVersions="4+", default="null"),
    _mistake("JoinGroupResponse", "0-9", "GroupInstanceId string 5+", NULL, nullableVersions="5+", default="null"),
    _mistake("CreateTopicsResponse", "0-5", "NumPartitions int32 5+", None, default="-1"),
    _mistake("CreateTopicsResponse", "0-5", "ReplicationFactor int16 5+", None, default="-1"),
    _mistake("BrokerRegistrationRequest", "0-3", "PreviousBrokerEpoch int64 3+", None, default="-1"),
    _mistake("FetchRequest", "0-11", "IsolationLevel int8 4+", None, default="0"),
    _mistake("FetchRequest", "0-11", "SessionId int32 7+", None, default="0"),
    _mistake("FetchRequest", "0-11", "SessionEpoch int32 7+", None, default="-1"),
    _mistake("SaslAuthenticateResponse", "0-1", "SessionLifetimeMs int64 1+", None, default="0"),
)  # fmt: skip
TYPES = (
    _mistake("BrokerRegistrationRequest", "0", "IsMigratingZkBroker int8 0+", "conventions/flag-not-bool"),
    _mistake("ApiVersionsResponse", "0-3", "FinalizedFeaturesEpoch int32 0+", None, default="-1"),
    _mistake("StreamsGroupHeartbeatResponse", "0", "AcceptableRecoveryLag int32 0+", None),
    _mistake("ConsumerGroupDescribeResponse", "0", "AuthorizedOperations int32 3+", "versions/field-above-valid"),
)  # fmt: skip
ENTITIES = (
    _mistake("TxnOffsetCommitRequest", "0-3", "TransactionalId string 0+", "fields/entity-type-missing"),
    _mistake("OffsetDeleteRequest", "0", "GroupId string 0+", "fields/entity-type-missing"),
    _mistake("DescribeProducersResponse", "0", "ProducerId int64 0+", "fields/entity-type-missing"),
    _mistake("BrokerHeartbeatRequest", "0", "BrokerId int32 0+", "fields/entity-type-missing"),
    _mistake("StreamsGroupHeartbeatResponse", "0", "Topic string 0+", TOPICS),
    _mistake("ElectLeadersRequest", "0", "Topic string 0+", TOPICS),
    _mistake("AlterPartitionReassignmentsRequest", "0", "Replicas []int32 0+", BY_NAME),
    _mistake("MetadataResponse", "0-9", "IsrNodes []int32 0+", BY_NAME),
    _mistake("FetchRequest", "0-12", "ReplicaId int32 0+", BY_NAME),
    _mistake("FetchResponse", "0-12", "PreferredReadReplica int32 11+", BY_NAME, ignorable=True, default="-1"),
    _mistake("VoteRequest", "0", "CandidateId int32 0+", BY_NAME),
    _mistake("DescribeQuorumResponse", "0", "ReplicaId int32 0+", BY_NAME),
    _mistake("AlterIsrRequest", "0", "NewIsr []int32 0+", BY_NAME),
    _mistake("ListPartitionReassignmentsResponse", "0", "RemovingReplicas []int32 0+", BY_NAME),
    _mistake("ConsumerGroupDescribeResponse", "0", "SubscribedTopicNames []string 0+", BY_NAME),
    _mistake("StreamsGroupHeartbeatRequest", "0", "SourceTopics []string 0+", BY_NAME),
    _mistake("MetadataResponse", "0-9", "ControllerId int32 1+", None, default="-1", ignorable=True),
    _mistake("FindCoordinatorResponse", "0-3", "NodeId int32 0+", None),
    _mistake("ListTransactionsRequest", "0", "ProducerIdFilters []int64 0+", None),
    _mistake("DescribeGroupsRequest", "0-3", "Groups []string 0+", None),
)
TEXTS = (
    _mistake("InitProducerIdRequest", "0-3", "ProducerEpoch int16 2+", "notes/note-version", default="-1", ignorable=True,
             notes=("Version 3 adds ProducerEpoch.",)),
    _mistake("ListOffsetRequest", "0-5", "LeaderEpoch int32 0+", "notes/note-same", notes=("Version 5 is the same as version 5.",)),
)  # fmt: skip
MISTAKES = (*DEFAULTS, *IGNORABLE, *TYPES, *ENTITIES, *TEXTS)
