"""What can be wrong with bytes, or with values to be written."""

from __future__ import annotations

from typing import Literal

import msgspec


class ByteProblem(msgspec.Struct, frozen=True):
    """A problem of bytes or values. `offset` counts bytes from the start of the input; `path` names the field."""

    rule: str
    offset: int
    message: str
    path: str = ""


class Malformed(Exception):  # noqa: N818
    """The bytes, or the value, do not match the layout. The fast functions raise it without a reason."""


class CodecRule(msgspec.Struct, frozen=True):
    """What a problem's rule id means, and what follows from it."""

    title: str
    why: str
    severity: Literal["error", "warning"] = "error"
    source: str = "Kafka's protocol"


RULES = {
    "codec/truncated": CodecRule(
        "The bytes end inside a value", "A field is missing, or an earlier field was written with another width."
    ),
    "codec/length-beyond-end": CodecRule(
        "A length or count beyond the end of the bytes",
        "The bytes were cut off, or something else stands where the length should be.",
    ),
    "codec/length-negative": CodecRule(
        "A length or count below -1", "Only -1 has a meaning, null; readers fail on anything lower."
    ),
    "codec/null-not-allowed": CodecRule(
        "Null where the version has none", "Readers generated from the schema refuse it; others may crash."
    ),
    "codec/trailing-bytes": CodecRule(
        "Bytes after the end of the message",
        "A field of another version was written, or an earlier field with another width.",
    ),
    "codec/varint-overlong": CodecRule(
        "A varint with more bytes than its number needs", "Equal messages no longer have equal bytes.", source="KIP-482"
    ),
    "codec/varint-too-large": CodecRule(
        "A varint above 32 bits", "Every varint of the protocol is an unsigned number of 32 bits."
    ),
    "codec/boolean-invalid": CodecRule(
        "A boolean that is neither 0 nor 1", "Readers take it for true; often it is the byte of another field."
    ),
    "codec/marker-invalid": CodecRule(
        "A nullable struct's first byte is neither 1 nor -1", "KIP-893 knows only these two.", source="KIP-893"
    ),
    "codec/utf8-invalid": CodecRule("A string that is not UTF-8", "Readers replace the bytes or fail."),
    "codec/tag-order": CodecRule("Tags that do not rise", "KIP-482 requires ascending tags.", source="KIP-482"),
    "codec/tag-duplicate": CodecRule(
        "A duplicate tag", "Readers keep one of the two values, or refuse both.", source="KIP-482"
    ),
    "codec/tag-size": CodecRule(
        "A tagged value that does not fill its size",
        "Readers that trust the size and readers that ignore it read different values.",
        source="KIP-482",
    ),
    "codec/too-many-elements": CodecRule(
        "Too many elements or records",
        "Such a count can make a reader allocate any amount of memory.",
    ),
    "codec/too-large": CodecRule("More bytes than a frame may have", "Brokers refuse more than 100 MiB by default."),
    "codec/header-unknown": CodecRule(
        "No header for this version",
        "Neither headerVersions nor the set's header messages determine the header.",
        source="KIP-1313",
    ),
    "codec/layout-unusable": CodecRule(
        "A definition that has no layout",
        "A struct contains itself, or unfolds into too many fields, or the type of a field is unknown.",
    ),
    "codec/unknown-message": CodecRule("A message that no set has", "Give the set of a release that has it."),
    "codec/unknown-api-key": CodecRule("An API key that no set has", "Give the set of a release that has it."),
    "codec/unknown-version": CodecRule(
        "A version that no set has", "Versions removed later are read with the set of an older release."
    ),
    "codec/batch-invalid": CodecRule("An invalid record batch", "Its length, magic or compression is unknown."),
    "codec/crc-mismatch": CodecRule("A record batch whose checksum is wrong", "Bytes changed after it was written."),
    "codec/records-packed": CodecRule("Records that cannot be unpacked", "The packed bytes are damaged or too many."),
    "codec/record-invalid": CodecRule("A record that is damaged", "A length in it does not fit."),
    "codec/fallback-version": CodecRule(
        "UNSUPPORTED_VERSION not answered in version 0",
        "KIP-511: a client that requested an unsupported version can read the answer in version 0 only.",
        source="KIP-511",
    ),
    "codec/unknown-field": CodecRule("A field that the message does not have", "The name is misspelt or was changed."),
    "codec/field-not-in-version": CodecRule(
        "A field that this version does not have", "A writer may leave out only fields that are ignorable."
    ),
    "codec/value-invalid": CodecRule("A value that the field's type does not have", "It has no bytes."),
    "codec/input-invalid": CodecRule("Input that cannot be read as bytes", "Nothing can be read from it."),
    "connection/unanswered": CodecRule(
        "A request without an answer",
        "A broker closes a connection on a request that it cannot read, or may not serve; its log states the reason.",
    ),
    "connection/refused": CodecRule(
        "A connection that the server refuses",
        "Nothing listens at this address and port: the broker is down, or advertises another listener than it has.",
    ),
    "connection/no-connection": CodecRule(
        "A connection that the server does not answer",
        "A firewall drops the packets, or the address is wrong; compare it with advertised.listeners.",
    ),
    "connection/protocol": CodecRule(
        "Client and server that speak different protocols",
        "A client needs security.protocol SSL or SASL_SSL for a listener with TLS, and for no other.",
    ),
    "connection/closed-early": CodecRule(
        "A connection that the server closes before any request",
        "The broker has too many connections, or lets this address or user not in; its log states the reason.",
    ),
    "connection/authentication": CodecRule(
        "SASL that fails", "The mechanism, the user or the password is not what the listener expects."
    ),
    "connection/before-authentication": CodecRule(
        "A request before SASL has ended", "A broker takes it for a part of the authentication, and closes."
    ),
    "connection/correlation-id": CodecRule(
        "An answer with a correlation id that no request has",
        "A client cannot know which request it answers, and closes the connection.",
    ),
    "connection/answered-twice": CodecRule(
        "A second answer to a request", "A client takes it for the answer to the next request, or closes."
    ),
    "connection/answer-order": CodecRule(
        "Answers in another order than the requests",
        "A broker answers the requests of a connection in their order; many clients depend on it.",
    ),
    "connection/answer-early": CodecRule(
        "An answer before its request", "The server guesses the correlation id, or a proxy answers for it."
    ),
    "connection/id-in-flight": CodecRule(
        "A correlation id of two requests that wait", "Their answers cannot be told apart."
    ),
    "connection/controller": CodecRule(
        "A controller that is not among the brokers",
        "A client sends requests for the controller to that node, and does not find it.",
        "warning",
    ),
    "connection/instance-id-zero": CodecRule(
        "A client instance id that is zero",
        "KIP-1313: a request with header 3 has a client instance id that is not zero.",
        source="KIP-1313",
    ),
    "connection/instance-id-changed": CodecRule(
        "Two client instance ids on one connection",
        "KIP-1313: all requests of a connection have the same id; a broker rejects another with INVALID_REQUEST.",
        source="KIP-1313",
    ),
    "connection/instance-id-missing": CodecRule(
        "A request without the client instance id that the connection began with",
        "KIP-1313: after a first request with header 3, all but SaslHandshake have the id, or get INVALID_REQUEST.",
        source="KIP-1313",
    ),
    "connection/instance-id-late": CodecRule(
        "A client instance id that comes after the first request",
        "KIP-1313: a broker remembers the id of the first request and compares the others with it. Here it has none.",
        "warning",
        source="KIP-1313",
    ),
    "connection/telemetry-id": CodecRule(
        "Telemetry with another client instance id than the connection",
        "KIP-1313: telemetry has the id of the headers; without one, the id of GetTelemetrySubscriptions, never zero.",
        source="KIP-1313",
    ),
    "connection/software-name": CodecRule(
        "A client's software name or version with other characters than allowed",
        "KIP-511: it has letters, digits, dots and hyphens. A broker rejects others with INVALID_REQUEST.",
        source="KIP-511",
    ),
    "connection/fallback-request": CodecRule(
        "A client that repeats ApiVersions in a version that the broker does not support",
        "KIP-511: after UNSUPPORTED_VERSION a client uses a version that the answer names, or version 0.",
        source="KIP-511",
    ),
    "connection/versions-missing": CodecRule(
        "UNSUPPORTED_VERSION without the versions of ApiVersions",
        "KIP-511: the answer names them, so that clients need not fall back to version 0. Brokers before 2.4 did not.",
        "warning",
        source="KIP-511",
    ),
    "connection/misrouting-ids": CodecRule(
        "Only one of ClusterId and NodeId",
        "KIP-1242: a client sends both or none. A broker answers one of them with INVALID_REQUEST.",
        source="KIP-1242",
    ),
    "connection/rebootstrap": CodecRule(
        "REBOOTSTRAP_REQUIRED that is missing, or not due",
        "KIP-1242: it answers a ClusterId or NodeId that is not the broker's, and nothing else.",
        source="KIP-1242",
    ),
    "connection/versions-inverted": CodecRule(
        "A broker offers an inverted range of versions",
        "KIP-35: all versions from the lowest to the highest are supported; an inverted range has none.",
        source="KIP-35",
    ),
    "connection/api-key-twice": CodecRule(
        "A broker offers an API twice", "Clients differ in which of the two they take.", source="KIP-35"
    ),
    "connection/api-versions-not-from-0": CodecRule(
        "A broker does not offer ApiVersions from version 0",
        "KIP-35: its versions are never removed; version 0 is what a client falls back to.",
        source="KIP-35",
    ),
    "connection/answered-not-offered": CodecRule(
        "A broker answers a version of ApiVersions that it does not offer",
        "A client that goes by the offer no longer uses the version that was just answered.",
        "warning",
        source="KIP-35",
    ),
    "connection/version-not-offered": CodecRule(
        "A request in a version that the broker did not offer",
        "KIP-35: a client uses what the broker offered on this connection. A broker closes it on another version.",
        source="KIP-35",
    ),
    "connection/sasl-handshake-version": CodecRule(
        "A version of SaslHandshake above 1",
        "KIP-1313: SaslHandshake cannot be bumped, because clients negotiated its version wrongly in the past.",
        source="KIP-1313",
    ),
    "connection/cluster-id": CodecRule(
        "A malformed cluster id",
        "KIP-78: a cluster id has letters, digits, underscores and hyphens, as URL-safe base64 has.",
        source="KIP-78",
    ),
    "connection/two-clusters": CodecRule(
        "One client, or one address, with two clusters",
        "KIP-78: the cluster id tells clusters apart. A bootstrap list that leads to two of them mixes their data.",
        "warning",
        source="KIP-78",
    ),
}
