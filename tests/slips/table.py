"""Realistic slips in the small broker set, each a single edit, and the findings that a reviewer wants of it.

`find` stands once in `file`; `findings` are written as `rule` for the file of the slip or `File: rule` for another,
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
    findings: tuple[str, ...] = ()


API = "clients/ApiVersionsRequest"
ANSWER = "clients/ApiVersionsResponse"
FIND = "clients/FindCoordinatorRequest"
FIND_RESPONSE = "clients/FindCoordinatorResponse"
DELETE = "clients/DeleteGroupsRequest"
DELETE_RESPONSE = "clients/DeleteGroupsResponse"
META = "clients/MetadataRequest"
METAS = "clients/MetadataResponse"
TOPICS = "clients/DescribeTopicPartitionsRequest"
PAGES = "clients/DescribeTopicPartitionsResponse"
GROUPS = "clients/ConsumerGroupDescribeResponse"
HEADER = "clients/RequestHeader"
SASL = "clients/SaslHandshakeRequest"
SASL_RESPONSE = "clients/SaslHandshakeResponse"
OFFSETS = "clients/OffsetDeleteRequest"
PUSH = "clients/PushTelemetryRequest"
DEAD = "clients/LeaderAndIsrRequest"
RECORD = "metadata/PartitionRecord"
KEY = "group-coordinator/ConsumerGroupMetadataKey"


TEXT = (
    Slip(
        "trailing comma after the last field",
        DELETE,
        '"The groups to remove." }',
        '"The groups to remove." },',
        ("syntax/trailing-comma @ ,",),
    ),
    Slip(
        "comma missing between fields",
        OFFSETS,
        '"The group whose offsets are to be forgotten." },',
        '"The group whose offsets are to be forgotten." }',
        ("syntax/invalid-json @ }",),
    ),
    Slip(
        "single quotes around a name",
        DELETE,
        '"name": "DeleteGroupsRequest"',
        "'name': \"DeleteGroupsRequest\"",
        ("syntax/json5-only @ 'name'",),
    ),
    Slip(
        "bare property name",
        DELETE,
        '"listeners": ["broker"]',
        'listeners: ["broker"]',
        ("syntax/json5-only @ listeners",),
    ),
    Slip(
        "property given twice",
        DELETE,
        '"apiKey": 42,',
        '"apiKey": 42,\n  "apiKey": 43,',
        ('syntax/duplicate-key @ "apiKey"',),
    ),
    Slip(
        "merge conflict",
        DELETE,
        '  "validVersions": "0-2",',
        '<<<<<<< HEAD\n  "validVersions": "0-2",\n=======\n  "validVersions": "0-3",\n>>>>>>> branch',
        ("syntax/invalid-json @ <<<<<<< HEAD",),
    ),
    Slip("curly quotes", DELETE, '"name": "GroupsNames"', "“name”: “GroupsNames”", ("syntax/invalid-json @ “",)),
    Slip("no-break spaces", DELETE, '"apiKey": 42', '"apiKey":\xa042', ("syntax/json5-only @ \xa0",)),
    Slip(
        "closing bracket missing",
        DELETE,
        '"The groups to remove." }\n  ]\n}',
        '"The groups to remove." }\n  ]\n',
        ("syntax/invalid-json @ ]",),
    ),
    Slip(
        "second definition behind the first",
        DELETE,
        '"The groups to remove." }\n  ]\n}',
        '"The groups to remove." }\n  ]\n}\n{}',
        ("syntax/trailing-content @ {}",),
    ),
    Slip("hash comment", DELETE, '"apiKey": 42,', '"apiKey": 42,  # the key', ("syntax/invalid-json @ #",)),
    Slip(
        "block comment",
        DELETE,
        '"apiKey": 42,',
        '"apiKey": 42,  /* the key */',
        (),
    ),
    Slip("quote not closed", DELETE, '"type": "request"', '"type": "request', ('syntax/invalid-json @ "request,',)),
)
SHAPE = (
    Slip(
        "property misspelt",
        DELETE,
        '"flexibleVersions"',
        '"flexibleVersion"',
        ('shape/unknown-property @ "flexibleVersion": "2+"',),
    ),
    Slip(
        "tagged versions of a field misspelt",
        RECORD,
        '"taggedVersions": "0+"',
        '"tagedVersions": "0+"',
        ('shape/unknown-property @ "tagedVersions": "0+"',),
    ),
    Slip("tag misspelt", RECORD, '"tag": 2', '"tagg": 2', ('shape/unknown-property @ "tagg": 2',)),
    Slip(
        "nullable versions of a field misspelt",
        RECORD,
        '"type": "[]int32", "versions": "2+", "nullableVersions": "2+",\n      "default": "null", "entityType": "brokerId", "taggedVersions": "2+", "tag": 1',
        '"type": "[]int32", "versions": "2+", "nullableVersion": "2+",\n      "default": "null", "entityType": "brokerId", "taggedVersions": "2+", "tag": 1',
        ('shape/unknown-property @ "nullableVersion": "2+"',),
    ),
    Slip(
        "ignorable misspelt",
        API,
        '"name": "ClientSoftwareVersion", "type": "string", "versions": "3+", "ignorable": true',
        '"name": "ClientSoftwareVersion", "type": "string", "versions": "3+", "ignoreable": true',
        ('shape/unknown-property @ "ignoreable": true',),
    ),
    Slip(
        "message type misspelt",
        DELETE,
        '"type": "request"',
        '"type": "reqest"',
        ('shape/unknown-enum-value @ "type": "reqest"',),
    ),
    Slip(
        "message type property misspelt",
        DELETE,
        '"type": "request"',
        '"typ": "request"',
        ('shape/unknown-property @ "typ": "request"',),
    ),
    Slip("message name missing", DELETE, '  "name": "DeleteGroupsRequest",\n', "", ("shape/missing-property @ {",)),
    Slip("field type missing", DELETE, '"type": "[]string", ', "", ('shape/missing-property @ "name": "GroupsNames"',)),
    Slip(
        "field versions missing", DELETE, '"versions": "0+", ', "", ('shape/missing-property @ "name": "GroupsNames"',)
    ),
    Slip("field name missing", DELETE, '"name": "GroupsNames", ', "", ("shape/missing-property @ {",)),
    Slip(
        "ignorable as text",
        API,
        '"name": "ClientSoftwareVersion", "type": "string", "versions": "3+", "ignorable": true',
        '"name": "ClientSoftwareVersion", "type": "string", "versions": "3+", "ignorable": "true"',
        ('shape/coerced-value @ "ignorable": "true"',),
    ),
    Slip("tag as text", RECORD, '"tag": 0', '"tag": "0"', ('shape/coerced-value @ "tag": "0"',)),
    Slip("api key as text", DELETE, '"apiKey": 42', '"apiKey": "42"', ('shape/coerced-value @ "apiKey": "42"',)),
    Slip(
        "default as a number",
        RECORD,
        '"name": "PartitionId", "type": "int32", "versions": "0+", "default": "-1"',
        '"name": "PartitionId", "type": "int32", "versions": "0+", "default": -1',
        (),
    ),
    Slip("versions as a number", DELETE, '"versions": "0+"', '"versions": 0', ('shape/coerced-value @ "versions": 0',)),
    Slip(
        "listeners as text",
        DELETE,
        '"listeners": ["broker"]',
        '"listeners": "broker"',
        ('shape/coerced-value @ "listeners": "broker"',),
    ),
    Slip(
        "entity type misspelt",
        DELETE,
        '"entityType": "groupId"',
        '"entityType": "groupID"',
        ('shape/unknown-enum-value @ "entityType": "groupID"',),
    ),
    Slip(
        "fields as an object",
        SASL,
        '"fields": [\n    { "name": "Mechanism", "type": "string", "versions": "0+",\n      "about": "How the client would like to authenticate." }\n  ]',
        '"fields": { "name": "Mechanism", "type": "string", "versions": "0+",\n      "about": "How the client would like to authenticate." }',
        ('shape/coerced-value @ "fields"',),
    ),
    Slip(
        "response type in a request file",
        DELETE,
        '"type": "request"',
        '"type": "response"',
        ('rpc/name-suffix @ "type": "response"',),
    ),
)
VERSIONS = (
    Slip(
        "valid versions inverted",
        DELETE,
        '"validVersions": "0-2"',
        '"validVersions": "2-0"',
        ('versions/invalid-range @ "validVersions": "2-0"',),
    ),
    Slip(
        "valid versions with two dots",
        DELETE,
        '"validVersions": "0-2"',
        '"validVersions": "0..2"',
        ('versions/invalid-range @ "validVersions": "0..2"',),
    ),
    Slip(
        "valid versions without end",
        DELETE,
        '"validVersions": "0-2"',
        '"validVersions": "0+"',
        ('versions/valid-open @ "validVersions": "0+"',),
    ),
    Slip(
        "valid versions empty",
        DELETE,
        '"validVersions": "0-2"',
        '"validVersions": ""',
        ('versions/invalid-range @ "validVersions": ""',),
    ),
    Slip(
        "flexible versions forgotten",
        DELETE,
        '  "flexibleVersions": "2+",\n',
        "",
        ('versions/flexible-missing @ "name": "DeleteGroupsRequest"',),
    ),
    Slip(
        "flexible versions closed",
        DELETE,
        '"flexibleVersions": "2+"',
        '"flexibleVersions": "2"',
        ('versions/flexible-not-open @ "flexibleVersions": "2"',),
    ),
    Slip(
        "flexible versions differ",
        DELETE,
        '"flexibleVersions": "2+"',
        '"flexibleVersions": "1+"',
        ('DeleteGroupsResponse: rpc/flexible-differ @ "flexibleVersions": "2+"',),
    ),
    Slip(
        "plus in front", DELETE, '"versions": "0+"', '"versions": "+0"', ('versions/invalid-range @ "versions": "+0"',)
    ),
    Slip(
        "leading zero", DELETE, '"versions": "0+"', '"versions": "00+"', ('versions/invalid-range @ "versions": "00+"',)
    ),
    Slip(
        "field above the valid versions",
        FIND,
        '"name": "CoordinatorKeys", "type": "[]string", "versions": "4+"',
        '"name": "CoordinatorKeys", "type": "[]string", "versions": "7+"',
        ('versions/field-above-valid @ "versions": "7+"',),
    ),
    Slip(
        "field above the only version",
        TOPICS,
        '"name": "ResponsePartitionLimit", "type": "int32", "versions": "0+"',
        '"name": "ResponsePartitionLimit", "type": "int32", "versions": "1+"',
        ('versions/field-above-valid @ "versions": "1+"',),
    ),
    Slip(
        "field ends above the valid versions",
        FIND,
        '"name": "Key", "type": "string", "versions": "0-3"',
        '"name": "Key", "type": "string", "versions": "0-9"',
        ('versions/closed-above-valid @ "versions": "0-9"',),
    ),
    Slip(
        "plus forgotten",
        META,
        '"name": "IncludeTopicAuthorizedOperations", "type": "bool", "versions": "8+"',
        '"name": "IncludeTopicAuthorizedOperations", "type": "bool", "versions": "8"',
        ('versions/only-one-version @ "versions": "8"',),
    ),
    Slip(
        "child never there",
        FIND_RESPONSE,
        '"name": "Key", "type": "string", "versions": "4+"',
        '"name": "Key", "type": "string", "versions": "0-3"',
        ('versions/never-present @ "versions": "0-3"',),
    ),
    Slip(
        "nullable outside versions",
        METAS,
        '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "2+"',
        '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "0+"',
        ('versions/nullable-outside-versions @ "nullableVersions": "0+"',),
    ),
    Slip(
        "deprecated beyond valid",
        DELETE,
        '"validVersions": "0-2",',
        '"validVersions": "0-2",\n  "deprecatedVersions": "0-4",',
        ('versions/deprecated-invalid @ "deprecatedVersions": "0-4"',),
    ),
    Slip(
        "request bumped alone",
        DELETE,
        '"validVersions": "0-2"',
        '"validVersions": "0-3"',
        (
            'style/version-undocumented @ "validVersions": "0-3"',
            'DeleteGroupsResponse: rpc/versions-differ @ "validVersions": "0-2"',
        ),
    ),
    Slip(
        "response bumped alone",
        DELETE_RESPONSE,
        '"validVersions": "0-2"',
        '"validVersions": "0-3"',
        (
            'DeleteGroupsRequest: rpc/versions-differ @ "validVersions": "0-2"',
            'style/version-undocumented @ "validVersions": "0-3"',
        ),
    ),
    Slip(
        "flexible override on a number",
        FIND,
        '"name": "KeyType", "type": "int8", "versions": "1+"',
        '"name": "KeyType", "type": "int8", "versions": "1+", "flexibleVersions": "none"',
        ('versions/flexible-override-type @ "flexibleVersions": "none"',),
    ),
)
TYPES = (
    Slip(
        "array brackets behind",
        DELETE,
        '"type": "[]string"',
        '"type": "string[]"',
        ('fields/unknown-type @ "type": "string[]"',),
    ),
    Slip(
        "array in brackets",
        DELETE,
        '"type": "[]string"',
        '"type": "[string]"',
        ('fields/unknown-type @ "type": "[string]"',),
    ),
    Slip(
        "generic list",
        DELETE,
        '"type": "[]string"',
        '"type": "List<string>"',
        ('fields/unknown-type @ "type": "List<string>"',),
    ),
    Slip(
        "generic array of numbers",
        METAS,
        '"name": "ReplicaNodes", "type": "[]int32"',
        '"name": "ReplicaNodes", "type": "array<int32>"',
        ('fields/unknown-type @ "type": "array<int32>"',),
    ),
    Slip("type capitalised", SASL, '"type": "string"', '"type": "String"', ('fields/unknown-type @ "type": "String"',)),
    Slip(
        "array of a capitalised type",
        DELETE,
        '"type": "[]string"',
        '"type": "[]String"',
        ('fields/unknown-type @ "type": "[]String"',),
    ),
    Slip("type misspelt", SASL, '"type": "string"', '"type": "strnig"', ('fields/unknown-type @ "type": "strnig"',)),
    Slip(
        "boolean",
        META,
        '"name": "AllowAutoTopicCreation", "type": "bool"',
        '"name": "AllowAutoTopicCreation", "type": "boolean"',
        ('fields/unknown-type @ "type": "boolean"',),
    ),
    Slip(
        "int",
        FIND,
        '"name": "KeyType", "type": "int8"',
        '"name": "KeyType", "type": "int"',
        ('fields/unknown-type @ "type": "int"',),
    ),
    Slip(
        "nested array",
        DELETE,
        '"type": "[]string"',
        '"type": "[][]string"',
        ('fields/unknown-type @ "type": "[][]string"',),
    ),
    Slip(
        "struct misspelt",
        GROUPS,
        '"name": "TargetAssignment", "type": "Assignment"',
        '"name": "TargetAssignment", "type": "Asignment"',
        ('structs/undefined @ "type": "Asignment"',),
    ),
    Slip(
        "struct in lower case",
        META,
        '"type": "[]MetadataRequestTopic"',
        '"type": "[]metadataRequestTopic"',
        ('structs/lowercase-name @ "type": "[]metadataRequestTopic"',),
    ),
    Slip(
        "fields under a primitive",
        META,
        '"type": "[]MetadataRequestTopic"',
        '"type": "[]string"',
        ('fields/children-on-primitive @ "fields"',),
    ),
    Slip(
        "fields forgotten",
        TOPICS,
        '"name": "Topics", "type": "[]TopicRequest"',
        '"name": "Others", "type": "[]OtherRequest", "versions": "0+", "about": "More." },\n    { "name": "Topics", "type": "[]TopicRequest"',
        ('structs/undefined @ "type": "[]OtherRequest"',),
    ),
    Slip(
        "nullable number",
        FIND,
        '"name": "KeyType", "type": "int8", "versions": "1+"',
        '"name": "KeyType", "type": "int8", "versions": "1+", "nullableVersions": "1+"',
        ('fields/nullable-type @ "nullableVersions": "1+"',),
    ),
    Slip(
        "field named twice",
        FIND,
        '"name": "CoordinatorKeys"',
        '"name": "Key"',
        ('fields/duplicate-name @ "name": "Key"',) * 2,
    ),
    Slip(
        "field named like another but for the case",
        FIND,
        '"name": "CoordinatorKeys"',
        '"name": "keyType"',
        (
            'fields/duplicate-name @ "name": "KeyType"',
            'fields/duplicate-name @ "name": "keyType"',
        ),
    ),
    Slip(
        "underscore in a name",
        FIND,
        '"name": "CoordinatorKeys"',
        '"name": "coordinator_keys"',
        ('fields/invalid-name @ "name": "coordinator_keys"',),
    ),
    Slip(
        "name with a blank",
        FIND,
        '"name": "CoordinatorKeys"',
        '"name": "Coordinator Keys"',
        ('fields/invalid-name @ "name": "Coordinator Keys"',),
    ),
    Slip(
        "name that Java keeps",
        FIND,
        '"name": "CoordinatorKeys"',
        '"name": "Class"',
        ('fields/reserved-name @ "name": "Class"',),
    ),
    Slip(
        "nullable records in an array",
        PUSH,
        '"name": "Metrics", "type": "bytes", "versions": "0+", "zeroCopy": true',
        '"name": "Metrics", "type": "[]records", "versions": "0+", "nullableVersions": "0+"',
        ('fields/array-of-records @ "type": "[]records"',),
    ),
    Slip(
        "zero copy on a string",
        SASL,
        '"name": "Mechanism", "type": "string", "versions": "0+"',
        '"name": "Mechanism", "type": "string", "versions": "0+", "zeroCopy": true',
        ('fields/zero-copy-type @ "zeroCopy": true',),
    ),
    Slip(
        "map key at the top",
        SASL,
        '"name": "Mechanism", "type": "string", "versions": "0+"',
        '"name": "Mechanism", "type": "string", "versions": "0+", "mapKey": true',
        ('fields/map-key-top-level @ "mapKey": true',),
    ),
    Slip(
        "type named like the message",
        TOPICS,
        '"type": "[]TopicRequest"',
        '"type": "[]DescribeTopicPartitionsRequest"',
        ('structs/named-like-message @ "type": "[]DescribeTopicPartitionsRequest"',),
    ),
    Slip(
        "type named like the data class",
        TOPICS,
        '"type": "[]TopicRequest"',
        '"type": "[]DescribeTopicPartitionsRequestData"',
        ('structs/named-like-message @ "type": "[]DescribeTopicPartitionsRequestData"',),
    ),
)
DEFAULTS = (
    Slip(
        "default too large", FIND, '"default": "0"', '"default": "300"', ('fields/default-invalid @ "default": "300"',)
    ),
    Slip(
        "default no number",
        FIND,
        '"default": "0"',
        '"default": "none"',
        ('fields/default-invalid @ "default": "none"',),
    ),
    Slip(
        "default of a boolean",
        META,
        '"default": "true"',
        '"default": "yes"',
        ('fields/default-invalid @ "default": "yes"',),
    ),
    Slip(
        "default null of what is not nullable",
        FIND,
        '"name": "Key", "type": "string", "versions": "0-3"',
        '"name": "Key", "type": "string", "versions": "0-3", "default": "null"',
        ('fields/default-not-nullable @ "default": "null"',),
    ),
    Slip(
        "default JSON null",
        METAS,
        '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "2+", "default": "null"',
        '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "2+", "default": null',
        ('fields/default-json-null @ "default": null',),
    ),
    Slip(
        "default of an array",
        DELETE,
        '"type": "[]string", "versions": "0+"',
        '"type": "[]string", "versions": "0+", "default": "a"',
        ('fields/default-unsupported @ "default": "a"',),
    ),
    Slip(
        "default of a struct",
        TOPICS,
        '"name": "Cursor", "type": "Cursor", "versions": "0+", "nullableVersions": "0+", "default": "null"',
        '"name": "Cursor", "type": "Cursor", "versions": "0+", "nullableVersions": "0+", "default": "{}"',
        ('fields/default-unsupported @ "default": "{}"',),
    ),
    Slip("default octal", FIND, '"default": "0"', '"default": "010"', ('fields/default-octal @ "default": "010"',)),
    Slip(
        "entity type of another kind",
        METAS,
        '"name": "Port", "type": "int32", "versions": "0+"',
        '"name": "Port", "type": "int32", "versions": "0+", "entityType": "groupId"',
        ('fields/entity-type-mismatch @ "entityType": "groupId"',),
    ),
    Slip(
        "entity type forgotten",
        OFFSETS,
        '"name": "GroupId", "type": "string", "versions": "0+", "entityType": "groupId"',
        '"name": "GroupId", "type": "string", "versions": "0+"',
        ('fields/entity-type-missing @ "name": "GroupId"',),
    ),
)
TAGS = (
    Slip("tag already taken", RECORD, '"tag": 2', '"tag": 1', ('tags/duplicate @ "tag": 1',)),
    Slip("tag of the next field", RECORD, '"tag": 1', '"tag": 2', ('tags/duplicate @ "tag": 2',)),
    Slip("tag leaves a gap", RECORD, '"tag": 2', '"tag": 3', ('tags/gap @ "tag": 3',)),
    Slip("tag negative", RECORD, '"tag": 0', '"tag": -1', ('tags/negative @ "tag": -1',)),
    Slip(
        "tag without tagged versions",
        RECORD,
        '"default": "0",\n      "taggedVersions": "0+", "tag": 0',
        '"default": "0",\n      "tag": 0',
        ('tags/tag-without-versions @ "tag": 0',),
    ),
    Slip(
        "tagged versions without tag",
        RECORD,
        '"taggedVersions": "0+", "tag": 0',
        '"taggedVersions": "0+"',
        ('tags/versions-without-tag @ "taggedVersions": "0+"',),
    ),
    Slip(
        "tagged versions closed",
        RECORD,
        '"taggedVersions": "0+", "tag": 0',
        '"taggedVersions": "0-2", "tag": 0',
        ('tags/not-open @ "taggedVersions": "0-2"',),
    ),
    Slip(
        "tagged where not flexible",
        FIND,
        '"name": "KeyType", "type": "int8", "versions": "1+"',
        '"name": "KeyType", "type": "int8", "versions": "1+", "tag": 0, "taggedVersions": "1+"',
        ('tags/outside-flexible @ "taggedVersions": "1+"',),
    ),
    Slip(
        "tagged outside versions",
        RECORD,
        '"name": "LastKnownElr", "type": "[]int32", "versions": "2+", "nullableVersions": "2+",\n      "default": "null", "entityType": "brokerId", "taggedVersions": "2+"',
        '"name": "LastKnownElr", "type": "[]int32", "versions": "2+", "nullableVersions": "2+",\n      "default": "null", "entityType": "brokerId", "taggedVersions": "1+"',
        ('tags/outside-versions @ "taggedVersions": "1+"',),
    ),
    Slip(
        "tagged map key",
        PAGES,
        '"name": "PartitionIndex", "type": "int32", "versions": "0+",\n          "about": "The number of this partition',
        '"name": "PartitionIndex", "type": "int32", "versions": "0+", "mapKey": true, "tag": 0, "taggedVersions": "0+",\n          "about": "The number of this partition',
        ('fields/map-key-tagged @ "mapKey": true',),
    ),
)
STRUCTS = (
    Slip(
        "common struct without a name",
        GROUPS,
        '{ "name": "TopicPartitions", "versions": "0+", "fields": [\n      { "name": "TopicId"',
        '{ "name": "", "versions": "0+", "fields": [\n      { "name": "TopicId"',
        ('structs/name-missing @ "name": ""',),
    ),
    Slip(
        "common struct with about",
        GROUPS,
        '{ "name": "Assignment", "versions": "0+", "fields"',
        '{ "name": "Assignment", "about": "x", "versions": "0+", "fields"',
        ('shape/unknown-property @ "about": "x"',),
    ),
    Slip(
        "common struct that ends early",
        GROUPS,
        '{ "name": "Assignment", "versions": "0+", "fields"',
        '{ "name": "Assignment", "versions": "0", "fields"',
        (
            'structs/common-ends @ "versions": "0+"',
            'structs/common-ends @ "versions": "0+"',
        ),
    ),
    Slip(
        "common struct with deprecated versions",
        GROUPS,
        '{ "name": "Assignment", "versions": "0+", "fields"',
        '{ "name": "Assignment", "versions": "0+", "deprecatedVersions": "0", "fields"',
        (),
    ),
    Slip(
        "common struct twice",
        GROUPS,
        '"commonStructs": [',
        '"commonStructs": [\n    { "name": "Assignment", "versions": "0+", "fields": [\n      { "name": "A", "type": "int32", "versions": "0+", "about": "One." } ]},',
        ('structs/duplicate @ "name": "Assignment"',) * 2,
    ),
    Slip(
        "common struct inside itself",
        GROUPS,
        '{ "name": "Partitions", "type": "[]int32", "versions": "0+"',
        '{ "name": "Partitions", "type": "[]TopicPartitions", "versions": "0+"',
        ('structs/recursive @ "name": "TopicPartitions"',),
    ),
    Slip(
        "struct defined twice",
        TOPICS,
        '"type": "Cursor", "versions": "0+"',
        '"type": "TopicRequest", "versions": "0+"',
        ('structs/duplicate @ "type": "[]TopicRequest"', 'structs/duplicate @ "type": "TopicRequest"'),
    ),
)
PAIRS = (
    Slip(
        "api key taken",
        DELETE,
        '"apiKey": 42',
        '"apiKey": 47',
        ('rpc/api-key-duplicate @ "apiKey": 47', 'OffsetDeleteRequest: rpc/api-key-duplicate @ "apiKey": 47'),
    ),
    Slip("api key missing", DELETE, '  "apiKey": 42,\n', "", ('rpc/api-key-missing @ "name": "DeleteGroupsRequest"',)),
    Slip("api key mistyped", DELETE, '"apiKey": 42', '"apiKey": 24', ('rpc/response-missing @ "apiKey": 24',)),
    Slip("api key negative", DELETE, '"apiKey": 42', '"apiKey": -42', ('rpc/api-key-negative @ "apiKey": -42',)),
    Slip(
        "listeners forgotten",
        DELETE,
        '  "listeners": ["broker"],\n',
        "",
        ('rpc/listeners-missing @ "name": "DeleteGroupsRequest"',),
    ),
    Slip(
        "listener misspelt",
        DELETE,
        '"listeners": ["broker"]',
        '"listeners": ["brokers"]',
        ('rpc/listeners-unknown @ "listeners": ["brokers"]',),
    ),
    Slip(
        "listener of ZooKeeper",
        DELETE,
        '"listeners": ["broker"]',
        '"listeners": ["zkBroker", "broker"]',
        ('rpc/listeners-unknown @ "listeners": ["zkBroker", "broker"]',),
    ),
    Slip(
        "listeners on a response",
        DELETE_RESPONSE,
        '"type": "response",',
        '"type": "response",\n  "listeners": ["broker"],',
        ('rpc/listeners-on-non-request @ "listeners": ["broker"]',),
    ),
    Slip(
        "unstable on a response",
        DELETE_RESPONSE,
        '"type": "response",',
        '"type": "response",\n  "latestVersionUnstable": true,',
        ('rpc/unstable-on-non-request @ "latestVersionUnstable": true',),
    ),
    Slip(
        "suffix forgotten",
        DELETE,
        '"name": "DeleteGroupsRequest"',
        '"name": "DeleteGroups"',
        ('rpc/name-suffix @ "name": "DeleteGroups"',),
    ),
    Slip(
        "name of the other half",
        DELETE,
        '"name": "DeleteGroupsRequest"',
        '"name": "DeleteGroupRequest"',
        ('rpc/names-differ @ "name": "DeleteGroupRequest"',),
    ),
    Slip(
        "name of another message",
        DELETE,
        '"name": "DeleteGroupsRequest"',
        '"name": "OffsetDeleteRequest"',
        ('rpc/message-name-duplicate @ "name": "OffsetDeleteRequest"',),
    ),
    Slip(
        "dead but with a body",
        DEAD,
        '"validVersions": "none"',
        '"validVersions": "none",\n  "flexibleVersions": "none",\n  "fields": []',
        ('rpc/dead-message-properties @ "validVersions": "none"',),
    ),
    Slip(
        "coordinator key bumped",
        KEY,
        '"validVersions": "0"',
        '"validVersions": "0-1"',
        ('rpc/coordinator-key-shape @ "validVersions": "0-1"',),
    ),
    Slip(
        "coordinator key flexible",
        KEY,
        '"flexibleVersions": "none"',
        '"flexibleVersions": "0+"',
        ('rpc/coordinator-key-shape @ "flexibleVersions": "0+"',),
    ),
    Slip(
        "unstable",
        DELETE,
        '"validVersions": "0-2",',
        '"latestVersionUnstable": true,\n  "validVersions": "0-2",',
        ('style/latest-unstable @ "latestVersionUnstable": true',),
    ),
)
KIPS = (
    Slip(
        "ApiVersions retires version 0",
        API,
        '"validVersions": "0-5"',
        '"validVersions": "1-5"',
        (
            'kip-35/api-versions-never-retired @ "validVersions": "1-5"',
            'ApiVersionsResponse: rpc/versions-differ @ "validVersions": "0-5"',
        ),
    ),
    Slip(
        "ApiVersions deprecates",
        API,
        '"validVersions": "0-5"',
        '"validVersions": "0-5",\n  "deprecatedVersions": "0-2"',
        ('kip-35/api-versions-never-retired @ "deprecatedVersions": "0-2"',),
    ),
    Slip(
        "ApiVersions request flexible too early",
        API,
        '"flexibleVersions": "3+"',
        '"flexibleVersions": "2+"',
        (
            'kip-511/first-flexible @ "flexibleVersions": "2+"',
            'ApiVersionsResponse: rpc/flexible-differ @ "flexibleVersions": "3+"',
        ),
    ),
    Slip(
        "ApiVersions request not empty in 2",
        API,
        '"name": "ClientSoftwareName", "type": "string", "versions": "3+"',
        '"name": "ClientSoftwareName", "type": "string", "versions": "2+"',
        ('kip-511/client-software-fields @ "versions": "2+"',),
    ),
    Slip(
        "client software nullable",
        API,
        '"name": "ClientSoftwareName", "type": "string", "versions": "3+"',
        '"name": "ClientSoftwareName", "type": "string", "versions": "3+", "nullableVersions": "3+"',
        (
            'fields/later-nullable-without-default @ "name": "ClientSoftwareName"',
            'kip-511/client-software-fields @ "nullableVersions": "3+"',
        ),
    ),
    Slip(
        "ClusterId renamed",
        API,
        '"name": "ClusterId", "type": "string"',
        '"name": "Other", "type": "string"',
        ('kip-1242/misrouting-fields @ "fields"',),
    ),
    Slip(
        "NodeId with default 0",
        API,
        '"default": "-1"',
        '"default": "0"',
        ('kip-1242/misrouting-fields @ "default": "0"',),
    ),
    Slip(
        "error code behind",
        ANSWER,
        '"name": "ErrorCode", "type": "int16", "versions": "0+"',
        '"name": "ErrorCode", "type": "int16", "versions": "1+"',
        (
            'conventions/informative-not-ignorable @ "name": "ErrorCode"',
            'kip-35/error-code-first @ "versions": "1+"',
        ),
    ),
    Slip(
        "throttle time in version 0",
        ANSWER,
        '"name": "ThrottleTimeMs", "type": "int32", "versions": "1+"',
        '"name": "ThrottleTimeMs", "type": "int32", "versions": "0+"',
        (
            "notes/note-version @ Version 1 adds ThrottleTimeMs.",
            'kip-35/response-zero @ "versions": "0+"',
        ),
    ),
    Slip(
        "lowest and highest version swapped",
        ANSWER,
        '"name": "MinVersion", "type": "int16", "versions": "0+",\n        "about": "The oldest version that is served." },\n      { "name": "MaxVersion"',
        '"name": "MaxVersion", "type": "int16", "versions": "0+",\n        "about": "The oldest version that is served." },\n      { "name": "MinVersion"',
        ('kip-35/api-keys-order @ "name": "MinVersion"',),
    ),
    Slip(
        "api key of four bytes",
        ANSWER,
        '"name": "ApiKey", "type": "int16"',
        '"name": "ApiKey", "type": "int32"',
        ('kip-35/api-keys-shape @ "type": "int32"',),
    ),
    Slip(
        "cluster id not nullable",
        METAS,
        '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "2+", "default": "null"',
        '"name": "ClusterId", "type": "string", "versions": "2+"',
        ('kip-78/cluster-id @ "name": "ClusterId"',),
    ),
    Slip(
        "cluster id from 3 on",
        METAS,
        '"name": "ClusterId", "type": "string", "versions": "2+", "nullableVersions": "2+"',
        '"name": "ClusterId", "type": "string", "versions": "3+", "nullableVersions": "3+"',
        ("notes/note-version @ Version 2 adds ClusterId (KIP-78).", 'kip-78/cluster-id @ "versions": "3+"'),
    ),
    Slip(
        "SaslHandshake bumped",
        SASL,
        '"validVersions": "0-1"',
        '"validVersions": "0-2"',
        ('kip-1313/frozen-rpc @ "validVersions": "0-2"',),
    ),
    Slip(
        "SaslHandshake flexible",
        SASL_RESPONSE,
        '"flexibleVersions": "none"',
        '"flexibleVersions": "1+"',
        ('kip-1313/frozen-rpc @ "flexibleVersions": "1+"',),
    ),
    Slip(
        "client id compact",
        HEADER,
        '"nullableVersions": "1+", "flexibleVersions": "none"',
        '"nullableVersions": "1+"',
        ('kip-511/client-id-encoding @ "name": "ClientId"',),
    ),
    Slip(
        "client id not nullable",
        HEADER,
        '"versions": "1+", "nullableVersions": "1+"',
        '"versions": "1+"',
        ('kip-1313/request-header-order @ "name": "ClientId"',),
    ),
    Slip(
        "client id gone",
        HEADER,
        '"name": "ClientId", "type": "string", "versions": "1+", "nullableVersions": "1+"',
        '"name": "ClientId", "type": "string", "versions": "1", "nullableVersions": "1"',
        ('kip-1313/request-header-order @ "versions": "1"',),
    ),
    Slip(
        "correlation id of eight bytes",
        HEADER,
        '"name": "CorrelationId", "type": "int32"',
        '"name": "CorrelationId", "type": "int64"',
        ('kip-1313/request-header-order @ "type": "int64"',),
    ),
    Slip(
        "header 1 removed",
        HEADER,
        '"validVersions": "1-2"',
        '"validVersions": "2"',
        ('kip-1313/request-header-order @ "validVersions": "2"',),
    ),
    Slip(
        "header 3 without the instance id",
        HEADER,
        '"validVersions": "1-2"',
        '"validVersions": "1-3"',
        ('kip-1313/request-header-v3 @ "fields"',),
    ),
    Slip(
        "field added to the header",
        HEADER,
        '"about": "The name that the application was configured with, for logs and quotas." }',
        '"about": "The name that the application was configured with, for logs and quotas." },\n    { "name": "Extra", "type": "int32", "versions": "2+", "about": "More." }',
        ('kip-1313/request-header-added @ "name": "Extra"',),
    ),
    Slip(
        "one header map only",
        DELETE,
        '"flexibleVersions": "2+",',
        '"flexibleVersions": "2+",\n  "headerVersions": { "0-1": "1", "2+": "2" },',
        ('ApiVersionsRequest: kip-1313/header-missing @ "name": "ApiVersionsRequest"',),
    ),
    Slip(
        "an answer that changes with KIP-1242's version",
        ANSWER,
        '"name": "ThrottleTimeMs", "type": "int32", "versions": "1+"',
        '"name": "ThrottleTimeMs", "type": "int32", "versions": "1-4"',
        ('kip-1242/response-unchanged @ "versions": "1-4"',),
    ),
    Slip(
        "header map on a record",
        RECORD,
        '"flexibleVersions": "0+",',
        '"flexibleVersions": "0+",\n  "headerVersions": { "0+": "1" },',
        ('kip-1313/header-forbidden @ "headerVersions": { "0+": "1" }',),
    ),
)
WORDS = (
    Slip(
        "description forgotten",
        SASL,
        ',\n      "about": "How the client would like to authenticate."',
        "",
        ('style/about-missing @ "name": "Mechanism"',),
    ),
    Slip(
        "ignore without a reason",
        SASL,
        '    { "name": "Mechanism"',
        '    // kiplint: ignore[style/about-missing]\n    { "name": "Mechanism"',
        ("style/malformed-ignore @ // kiplint: ignore[style/about-missing]",),
    ),
    Slip(
        "ignore of nothing",
        SASL,
        '    { "name": "Mechanism"',
        '    // kiplint: ignore[style/about-missing] said elsewhere\n    { "name": "Mechanism"',
        ("style/unused-ignore @ // kiplint: ignore[style/about-missing] said elsewhere",),
    ),
)

SLIPS = (*TEXT, *SHAPE, *VERSIONS, *TYPES, *DEFAULTS, *TAGS, *STRUCTS, *PAIRS, *KIPS, *WORDS)
