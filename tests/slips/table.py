"""Realistic slips in the small broker set, each a single edit, and the findings that a reviewer wants of it.

`find` stands once in `file`; `found` are the findings, as `rule` for the file of the slip or `File: rule` for another,
each with the text that is underlined after an at sign. The slips come out of Kafka's history (what its pull requests
mended afterwards) and out of reviews of its KIPs.
"""

from __future__ import annotations

from typing import NamedTuple


class Slip(NamedTuple):
    """One slip: its name, the file, what is replaced by what, and the findings."""

    name: str
    file: str
    find: str
    put: str
    found: tuple[str, ...] = ()


API = "clients/ApiVersionsRequest"
ANSWER = "clients/ApiVersionsResponse"
FIND = "clients/FindCoordinatorRequest"
FOUND = "clients/FindCoordinatorResponse"
DELETE = "clients/DeleteGroupsRequest"
DELETED = "clients/DeleteGroupsResponse"
META = "clients/MetadataRequest"
METAS = "clients/MetadataResponse"
TOPICS = "clients/DescribeTopicPartitionsRequest"
PAGES = "clients/DescribeTopicPartitionsResponse"
GROUPS = "clients/ConsumerGroupDescribeResponse"
HEADER = "clients/RequestHeader"
SASL = "clients/SaslHandshakeRequest"
SASLED = "clients/SaslHandshakeResponse"
OFFSETS = "clients/OffsetDeleteRequest"
PUSH = "clients/PushTelemetryRequest"
DEAD = "clients/LeaderAndIsrRequest"
RECORD = "metadata/PartitionRecord"
KEY = "group-coordinator/ConsumerGroupMetadataKey"

TEXT = (
    Slip("trailing comma after the last field", DELETE, '"The groups to remove." }', '"The groups to remove." },'),
    Slip("comma missing between fields", OFFSETS, '"The group whose offsets are to be forgotten." },', '"The group whose offsets are to be forgotten." }'),
    Slip("single quotes around a name", DELETE, '"name": "DeleteGroupsRequest"', "'name': \"DeleteGroupsRequest\""),
    Slip("bare property name", DELETE, '"listeners": ["broker"]', 'listeners: ["broker"]'),
    Slip("property given twice", DELETE, '"apiKey": 42,', '"apiKey": 42,\n  "apiKey": 43,'),
    Slip("merge conflict", DELETE, '  "validVersions": "0-2",', '<<<<<<< HEAD\n  "validVersions": "0-2",\n=======\n  "validVersions": "0-3",\n>>>>>>> branch'),
    Slip("curly quotes", DELETE, '"name": "GroupsNames"', "“name”: “GroupsNames”"),
    Slip("no-break spaces", DELETE, '"apiKey": 42', '"apiKey":\u00a042'),
    Slip("closing bracket missing", DELETE, '"The groups to remove." }\n  ]\n}', '"The groups to remove." }\n  ]\n'),
    Slip("second definition behind the first", DELETE, '"The groups to remove." }\n  ]\n}', '"The groups to remove." }\n  ]\n}\n{}'),
    Slip("hash comment", DELETE, '"apiKey": 42,', '"apiKey": 42,  # the key'),
    Slip("block comment", DELETE, '"apiKey": 42,', '"apiKey": 42,  /* the key */'),
    Slip("quote not closed", DELETE, '"type": "request"', '"type": "request'),
)
SHAPE = (
    Slip("property misspelt", DELETE, '"flexibleVersions"', '"flexibleVersion"'),
    Slip("message type misspelt", DELETE, '"type": "request"', '"type": "reqest"'),
    Slip("message type property misspelt", DELETE, '"type": "request"', '"typ": "request"'),
    Slip("message name missing", DELETE, '  "name": "DeleteGroupsRequest",\n', ""),
    Slip("field type missing", DELETE, '"type": "[]string", ', ""),
    Slip("field versions missing", DELETE, '"versions": "0+", ', ""),
    Slip("field name missing", DELETE, '"name": "GroupsNames", ', ""),
    Slip("ignorable as text", API, '"name": "ClientSoftwareVersion", "type": "string", "versions": "3+", "ignorable": true', '"name": "ClientSoftwareVersion", "type": "string", "versions": "3+", "ignorable": "true"'),
    Slip("tag as text", RECORD, '"tag": 0', '"tag": "0"'),
    Slip("api key as text", DELETE, '"apiKey": 42', '"apiKey": "42"'),
    Slip("default as a number", RECORD, '"name": "PartitionId", "type": "int32", "versions": "0+", "default": "-1"', '"name": "PartitionId", "type": "int32", "versions": "0+", "default": -1'),
    Slip("versions as a number", DELETE, '"versions": "0+"', '"versions": 0'),
    Slip("listeners as text", DELETE, '"listeners": ["broker"]', '"listeners": "broker"'),
    Slip("entity type misspelt", DELETE, '"entityType": "groupId"', '"entityType": "groupID"'),
    Slip("fields as an object", SASL, '"fields": [\n    { "name": "Mechanism", "type": "string", "versions": "0+",\n      "about": "How the client would like to authenticate." }\n  ]', '"fields": { "name": "Mechanism", "type": "string", "versions": "0+",\n      "about": "How the client would like to authenticate." }'),
    Slip("response type in a request file", DELETE, '"type": "request"', '"type": "response"'),
)
VERSIONS = (
    Slip("valid versions inverted", DELETE, '"validVersions": "0-2"', '"validVersions": "2-0"'),
    Slip("valid versions with two dots", DELETE, '"validVersions": "0-2"', '"validVersions": "0..2"'),
    Slip("valid versions without end", DELETE, '"validVersions": "0-2"', '"validVersions": "0+"'),
    Slip("valid versions empty", DELETE, '"validVersions": "0-2"', '"validVersions": ""'),
    Slip("flexible versions forgotten", DELETE, '  "flexibleVersions": "2+",\n', ""),
    Slip("flexible versions closed", DELETE, '"flexibleVersions": "2+"', '"flexibleVersions": "2"'),
    Slip("flexible versions differ", DELETE, '"flexibleVersions": "2+"', '"flexibleVersions": "1+"'),
    Slip("plus in front", DELETE, '"versions": "0+"', '"versions": "+0"'),
    Slip("leading zero", DELETE, '"versions": "0+"', '"versions": "00+"'),
    Slip("field above the valid versions", FIND, '"name": "CoordinatorKeys", "type": "[]string", "versions": "4+"', '"name": "CoordinatorKeys", "type": "[]string", "versions": "7+"'),
    Slip("field above the only version", TOPICS, '"name": "ResponsePartitionLimit", "type": "int32", "versions": "0+"', '"name": "ResponsePartitionLimit", "type": "int32", "versions": "1+"'),
    Slip("field ends above the valid versions", FIND, '"name": "Key", "type": "string", "versions": "0-3"', '"name": "Key", "type": "string", "versions": "0-9"'),
    Slip("plus forgotten", META, '"name": "IncludeTopicAuthorizedOperations", "type": "bool", "versions": "8+"', '"name": "IncludeTopicAuthorizedOperations", "type": "bool", "versions": "8"'),
    Slip("child outside its parent", FOUND, '"name": "Key", "type": "string", "versions": "4+"', '"name": "Key", "type": "string", "versions": "3+"'),
    Slip("child never there", FOUND, '"name": "Key", "type": "string", "versions": "4+"', '"name": "Key", "type": "string", "versions": "0-3"'),
    Slip("nullable outside versions", METAS, '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "2+"', '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "0+"'),
    Slip("deprecated beyond valid", DELETE, '"validVersions": "0-2",', '"validVersions": "0-2",\n  "deprecatedVersions": "0-4",'),
    Slip("request bumped alone", DELETE, '"validVersions": "0-2"', '"validVersions": "0-3"'),
    Slip("response bumped alone", DELETED, '"validVersions": "0-2"', '"validVersions": "0-3"'),
    Slip("flexible override on a number", FIND, '"name": "KeyType", "type": "int8", "versions": "1+"', '"name": "KeyType", "type": "int8", "versions": "1+", "flexibleVersions": "none"'),
)
TYPES = (
    Slip("array brackets behind", DELETE, '"type": "[]string"', '"type": "string[]"'),
    Slip("array in brackets", DELETE, '"type": "[]string"', '"type": "[string]"'),
    Slip("generic list", DELETE, '"type": "[]string"', '"type": "List<string>"'),
    Slip("generic array of numbers", METAS, '"name": "ReplicaNodes", "type": "[]int32"', '"name": "ReplicaNodes", "type": "array<int32>"'),
    Slip("type capitalised", SASL, '"type": "string"', '"type": "String"'),
    Slip("type misspelt", SASL, '"type": "string"', '"type": "strnig"'),
    Slip("boolean", META, '"name": "AllowAutoTopicCreation", "type": "bool"', '"name": "AllowAutoTopicCreation", "type": "boolean"'),
    Slip("int", FIND, '"name": "KeyType", "type": "int8"', '"name": "KeyType", "type": "int"'),
    Slip("nested array", DELETE, '"type": "[]string"', '"type": "[][]string"'),
    Slip("struct misspelt", GROUPS, '"name": "TargetAssignment", "type": "Assignment"', '"name": "TargetAssignment", "type": "Asignment"'),
    Slip("struct in lower case", META, '"type": "[]MetadataRequestTopic"', '"type": "[]metadataRequestTopic"'),
    Slip("fields under a primitive", META, '"type": "[]MetadataRequestTopic"', '"type": "[]string"'),
    Slip("fields forgotten", TOPICS, '"name": "Topics", "type": "[]TopicRequest"', '"name": "Others", "type": "[]OtherRequest", "versions": "0+", "about": "More." },\n    { "name": "Topics", "type": "[]TopicRequest"'),
    Slip("nullable number", FIND, '"name": "KeyType", "type": "int8", "versions": "1+"', '"name": "KeyType", "type": "int8", "versions": "1+", "nullableVersions": "1+"'),
    Slip("field named twice", FIND, '"name": "CoordinatorKeys"', '"name": "Key"'),
    Slip("field named like another but for the case", FIND, '"name": "CoordinatorKeys"', '"name": "keyType"'),
    Slip("underscore in a name", FIND, '"name": "CoordinatorKeys"', '"name": "coordinator_keys"'),
    Slip("name with a blank", FIND, '"name": "CoordinatorKeys"', '"name": "Coordinator Keys"'),
    Slip("name that Java keeps", FIND, '"name": "CoordinatorKeys"', '"name": "Class"'),
    Slip("name in lower case", FIND, '"name": "CoordinatorKeys"', '"name": "coordinatorKeys"'),
    Slip("nullable records in an array", PUSH, '"name": "Metrics", "type": "bytes", "versions": "0+", "zeroCopy": true', '"name": "Metrics", "type": "[]records", "versions": "0+", "nullableVersions": "0+"'),
    Slip("zero copy on a string", SASL, '"name": "Mechanism", "type": "string", "versions": "0+"', '"name": "Mechanism", "type": "string", "versions": "0+", "zeroCopy": true'),
    Slip("map key at the top", SASL, '"name": "Mechanism", "type": "string", "versions": "0+"', '"name": "Mechanism", "type": "string", "versions": "0+", "mapKey": true'),
    Slip("type named like the message", TOPICS, '"type": "[]TopicRequest"', '"type": "[]DescribeTopicPartitionsRequest"'),
    Slip("type named like the data class", TOPICS, '"type": "[]TopicRequest"', '"type": "[]DescribeTopicPartitionsRequestData"'),
)
DEFAULTS = (
    Slip("default too large", FIND, '"default": "0"', '"default": "300"'),
    Slip("default no number", FIND, '"default": "0"', '"default": "none"'),
    Slip("default of a boolean", META, '"default": "true"', '"default": "yes"'),
    Slip("default null of what is not nullable", FIND, '"name": "Key", "type": "string", "versions": "0-3"', '"name": "Key", "type": "string", "versions": "0-3", "default": "null"'),
    Slip("default JSON null", METAS, '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "2+", "default": "null"', '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "2+", "default": null'),
    Slip("default of an array", DELETE, '"type": "[]string", "versions": "0+"', '"type": "[]string", "versions": "0+", "default": "a"'),
    Slip("default of a struct", TOPICS, '"name": "Cursor", "type": "Cursor", "versions": "0+", "nullableVersions": "0+", "default": "null"', '"name": "Cursor", "type": "Cursor", "versions": "0+", "nullableVersions": "0+", "default": "{}"'),
    Slip("default octal", FIND, '"default": "0"', '"default": "010"'),
    Slip("entity type of another kind", METAS, '"name": "Port", "type": "int32", "versions": "0+"', '"name": "Port", "type": "int32", "versions": "0+", "entityType": "groupId"'),
    Slip("entity type forgotten", OFFSETS, '"name": "GroupId", "type": "string", "versions": "0+", "entityType": "groupId"', '"name": "GroupId", "type": "string", "versions": "0+"'),
)
TAGS = (
    Slip("tag already taken", RECORD, '"tag": 2', '"tag": 1'),
    Slip("tag leaves a gap", RECORD, '"tag": 2', '"tag": 3'),
    Slip("tag negative", RECORD, '"tag": 0', '"tag": -1'),
    Slip("tag without tagged versions", RECORD, '"default": "0",\n      "taggedVersions": "0+", "tag": 0', '"default": "0",\n      "tag": 0'),
    Slip("tagged versions without tag", RECORD, '"taggedVersions": "0+", "tag": 0', '"taggedVersions": "0+"'),
    Slip("tagged versions closed", RECORD, '"taggedVersions": "0+", "tag": 0', '"taggedVersions": "0-2", "tag": 0'),
    Slip("tagged where not flexible", FIND, '"name": "KeyType", "type": "int8", "versions": "1+"', '"name": "KeyType", "type": "int8", "versions": "1+", "tag": 0, "taggedVersions": "1+"'),
    Slip("tagged outside versions", RECORD, '"name": "LastKnownElr", "type": "[]int32", "versions": "2+", "nullableVersions": "2+",\n      "default": "null", "entityType": "brokerId", "taggedVersions": "2+"', '"name": "LastKnownElr", "type": "[]int32", "versions": "2+", "nullableVersions": "2+",\n      "default": "null", "entityType": "brokerId", "taggedVersions": "1+"'),
    Slip("tagged map key", PAGES, '"name": "PartitionIndex", "type": "int32", "versions": "0+",\n          "about": "The number of this partition', '"name": "PartitionIndex", "type": "int32", "versions": "0+", "mapKey": true, "tag": 0, "taggedVersions": "0+",\n          "about": "The number of this partition'),
)
STRUCTS = (
    Slip("common struct nobody uses", GROUPS, '"commonStructs": [', '"commonStructs": [\n    { "name": "Unused", "versions": "0+", "fields": [\n      { "name": "A", "type": "int32", "versions": "0+", "about": "One." } ]},'),
    Slip("common struct without a name", GROUPS, '{ "name": "TopicPartitions", "versions": "0+", "fields": [\n      { "name": "TopicId"', '{ "name": "", "versions": "0+", "fields": [\n      { "name": "TopicId"'),
    Slip("common struct with about", GROUPS, '{ "name": "Assignment", "versions": "0+", "fields"', '{ "name": "Assignment", "about": "x", "versions": "0+", "fields"'),
    Slip("common struct that ends early", GROUPS, '{ "name": "Assignment", "versions": "0+", "fields"', '{ "name": "Assignment", "versions": "0", "fields"'),
    Slip("common struct with deprecated versions", GROUPS, '{ "name": "Assignment", "versions": "0+", "fields"', '{ "name": "Assignment", "versions": "0+", "deprecatedVersions": "0", "fields"'),
    Slip("common struct twice", GROUPS, '"commonStructs": [', '"commonStructs": [\n    { "name": "Assignment", "versions": "0+", "fields": [\n      { "name": "A", "type": "int32", "versions": "0+", "about": "One." } ]},'),
    Slip("common struct inside itself", GROUPS, '{ "name": "Partitions", "type": "[]int32", "versions": "0+"', '{ "name": "Partitions", "type": "[]TopicPartitions", "versions": "0+"'),
    Slip("struct defined twice", TOPICS, '"type": "Cursor", "versions": "0+"', '"type": "TopicRequest", "versions": "0+"'),
)
PAIRS = (
    Slip("api key taken", DELETE, '"apiKey": 42', '"apiKey": 47'),
    Slip("api key missing", DELETE, '  "apiKey": 42,\n', ""),
    Slip("api key mistyped", DELETE, '"apiKey": 42', '"apiKey": 24'),
    Slip("api key negative", DELETE, '"apiKey": 42', '"apiKey": -42'),
    Slip("listeners forgotten", DELETE, '  "listeners": ["broker"],\n', ""),
    Slip("listener misspelt", DELETE, '"listeners": ["broker"]', '"listeners": ["brokers"]'),
    Slip("listener of ZooKeeper", DELETE, '"listeners": ["broker"]', '"listeners": ["zkBroker", "broker"]'),
    Slip("listener twice", DELETE, '"listeners": ["broker"]', '"listeners": ["broker", "broker"]'),
    Slip("listeners on a response", DELETED, '"type": "response",', '"type": "response",\n  "listeners": ["broker"],'),
    Slip("unstable on a response", DELETED, '"type": "response",', '"type": "response",\n  "latestVersionUnstable": true,'),
    Slip("suffix forgotten", DELETE, '"name": "DeleteGroupsRequest"', '"name": "DeleteGroups"'),
    Slip("name of the other half", DELETE, '"name": "DeleteGroupsRequest"', '"name": "DeleteGroupRequest"'),
    Slip("name of another message", DELETE, '"name": "DeleteGroupsRequest"', '"name": "OffsetDeleteRequest"'),
    Slip("dead but with a body", DEAD, '"validVersions": "none"', '"validVersions": "none",\n  "flexibleVersions": "none",\n  "fields": []'),
    Slip("coordinator key bumped", KEY, '"validVersions": "0"', '"validVersions": "0-1"'),
    Slip("coordinator key flexible", KEY, '"flexibleVersions": "none"', '"flexibleVersions": "0+"'),
    Slip("unstable", DELETE, '"validVersions": "0-2",', '"latestVersionUnstable": true,\n  "validVersions": "0-2",'),
)
KIPS = (
    Slip("ApiVersions retires version 0", API, '"validVersions": "0-5"', '"validVersions": "1-5"'),
    Slip("ApiVersions deprecates", API, '"validVersions": "0-5"', '"validVersions": "0-5",\n  "deprecatedVersions": "0-2"'),
    Slip("ApiVersions request flexible too early", API, '"flexibleVersions": "3+"', '"flexibleVersions": "2+"'),
    Slip("ApiVersions request not empty in 2", API, '"name": "ClientSoftwareName", "type": "string", "versions": "3+"', '"name": "ClientSoftwareName", "type": "string", "versions": "2+"'),
    Slip("client software nullable", API, '"name": "ClientSoftwareName", "type": "string", "versions": "3+"', '"name": "ClientSoftwareName", "type": "string", "versions": "3+", "nullableVersions": "3+"'),
    Slip("ClusterId renamed", API, '"name": "ClusterId", "type": "string"', '"name": "Other", "type": "string"'),
    Slip("NodeId with default 0", API, '"default": "-1"', '"default": "0"'),
    Slip("error code behind", ANSWER, '"name": "ErrorCode", "type": "int16", "versions": "0+"', '"name": "ErrorCode", "type": "int16", "versions": "1+"'),
    Slip("throttle time in version 0", ANSWER, '"name": "ThrottleTimeMs", "type": "int32", "versions": "1+"', '"name": "ThrottleTimeMs", "type": "int32", "versions": "0+"'),
    Slip("lowest and highest version swapped", ANSWER, '"name": "MinVersion", "type": "int16", "versions": "0+",\n        "about": "The oldest version that is served." },\n      { "name": "MaxVersion"', '"name": "MaxVersion", "type": "int16", "versions": "0+",\n        "about": "The oldest version that is served." },\n      { "name": "MinVersion"'),
    Slip("api key of four bytes", ANSWER, '"name": "ApiKey", "type": "int16"', '"name": "ApiKey", "type": "int32"'),
    Slip("cluster id not nullable", METAS, '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "2+", "default": "null"', '"name": "ClusterId", "type": "string", "versions": "2+"'),
    Slip("cluster id from 3 on", METAS, '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "2+"', '"name": "ClusterId", "type": "string", "versions": "3+", "nullableVersions": "3+"'),
    Slip("SaslHandshake bumped", SASL, '"validVersions": "0-1"', '"validVersions": "0-2"'),
    Slip("SaslHandshake flexible", SASLED, '"flexibleVersions": "none"', '"flexibleVersions": "1+"'),
    Slip("client id compact", HEADER, '"nullableVersions": "1+", "flexibleVersions": "none"', '"nullableVersions": "1+"'),
    Slip("client id not nullable", HEADER, '"versions": "1+", "nullableVersions": "1+"', '"versions": "1+"'),
    Slip("client id gone", HEADER, '"name": "ClientId", "type": "string", "versions": "1+", "nullableVersions": "1+"', '"name": "ClientId", "type": "string", "versions": "1", "nullableVersions": "1"'),
    Slip("correlation id of eight bytes", HEADER, '"name": "CorrelationId", "type": "int32"', '"name": "CorrelationId", "type": "int64"'),
    Slip("header 1 removed", HEADER, '"validVersions": "1-2"', '"validVersions": "2"'),
    Slip("header 3 without the instance id", HEADER, '"validVersions": "1-2"', '"validVersions": "1-3"'),
    Slip("field added to the header", HEADER, '"about": "The name that the application was configured with, for logs and quotas." }', '"about": "The name that the application was configured with, for logs and quotas." },\n    { "name": "Extra", "type": "int32", "versions": "2+", "about": "More." }'),
    Slip("one header map only", DELETE, '"flexibleVersions": "2+",', '"flexibleVersions": "2+",\n  "headerVersions": { "0-1": "1", "2+": "2" },'),
    Slip("header map on a record", RECORD, '"flexibleVersions": "0+",', '"flexibleVersions": "0+",\n  "headerVersions": { "0+": "1" },'),
)
WORDS = (
    Slip("description forgotten", SASL, ',\n      "about": "How the client would like to authenticate."', ""),
    Slip("description copied", FIND, "All the things to find coordinators for.", "The one group or transaction to find a coordinator for."),
    Slip("ignore without a reason", SASL, '    { "name": "Mechanism"', '    // kiplint: ignore[style/about-missing]\n    { "name": "Mechanism"'),
    Slip("ignore of nothing", SASL, '    { "name": "Mechanism"', '    // kiplint: ignore[style/about-missing] said elsewhere\n    { "name": "Mechanism"'),
)

SLIPS = (*TEXT, *SHAPE, *VERSIONS, *TYPES, *DEFAULTS, *TAGS, *STRUCTS, *PAIRS, *KIPS, *WORDS)
