"""What Kafka's own topics keep in their records: the metadata log, offsets and groups, transactions, share state."""

from __future__ import annotations

import binascii
import struct
from typing import Any

from kiplint.codec.catalog import Catalog, having
from kiplint.codec.codec import Codec, UnusableLayout
from kiplint.codec.problems import ByteProblem, Malformed
from kiplint.codec.records import read_batches
from kiplint.codec.secrets import masked_record
from kiplint.codec.values import join_path, key_of
from kiplint.codec.wire import ValueSpan, read_varint
from kiplint.model.layout import Layout
from kiplint.model.message import Message

METADATA = "__cluster_metadata"
METADATA_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
COORDINATORS = {
    "__consumer_offsets": ("OffsetCommitKey", "GroupMetadataKey"),
    "__transaction_state": ("TransactionLogKey",),
    "__share_group_state": ("ShareSnapshotKey", "ShareUpdateKey"),
}
"""The topics whose keys identify the kind of a record, and names of keys that identify the set with their schemas."""
CONTROL = {
    0: "EndTxnMarker",
    1: "EndTxnMarker",
    2: "LeaderChangeMessage",
    3: "SnapshotHeaderRecord",
    4: "SnapshotFooterRecord",
    5: "KRaftVersionRecord",
    6: "VotersRecord",
}
"""The messages of control records by the type in their keys (abort, commit, leader change ...)."""
FAILURES = (Malformed, UnusableLayout, IndexError, struct.error)


class Meaning:
    """Decodes the records of Kafka's own topics; a record that it does not understand is left as it is."""

    def __init__(self, catalog: Catalog, *, secrets: bool = True) -> None:
        self._catalog = catalog
        self._secrets = secrets

    def explain(self, topic: str, batches: list[dict[str, Any]]) -> None:
        """Add to each record its `keyMessage` and `valueMessage`: `{"message", "version", "value"}`."""
        for batch in batches:
            for record in batch["records"]:
                try:
                    meaning = self._meaning(topic, batch, record)
                except FAILURES:
                    continue
                record.update(meaning if self._secrets else masked_record(meaning))

    def _meaning(self, topic: str, batch: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
        if batch.get("isControl"):
            return self._control(record)
        if topic in (METADATA, METADATA_ID):
            return self._metadata(record)
        return self._coordinator(topic, record) if topic in COORDINATORS else {}

    def _control(self, record: dict[str, Any]) -> dict[str, Any]:
        _, kind = struct.unpack(">hh", _bytes(record["key"]))
        data = _bytes(record["value"])
        (version,) = struct.unpack_from(">h", data)
        # Most control records begin with their version, which is a field of the message where the schema has it.
        message = having(self._catalog.with_name(CONTROL.get(kind, "")), version)
        if message is None:
            raise Malformed
        codec = self._catalog.codec(message, version)
        own = bool(message.fields) and message.fields[0].name == "Version"
        return {"valueMessage": _decode(codec, data if own else data[2:])}

    def _metadata(self, record: dict[str, Any]) -> dict[str, Any]:
        """A frame version (1), the record's type and its version, as varints, and the message."""
        data = _bytes(record["value"])
        frame, pos = read_varint(data, 0)
        kind, pos = read_varint(data, pos)
        version, pos = read_varint(data, pos)
        message = having(self._catalog.with_key("metadata", kind), version)
        if frame != 1 or message is None:
            raise Malformed
        return {"valueMessage": _decode(self._catalog.codec(message, version), data[pos:])}

    def _coordinator(self, topic: str, record: dict[str, Any]) -> dict[str, Any]:
        """The key begins with the record's type, the value with its version; older keys have versions for types."""
        data = _bytes(record["key"])
        (kind,) = struct.unpack_from(">h", data)
        for message in self._keys(topic):
            version = 0 if message.type == "coordinator-key" else kind
            if (message.api_key == kind or message.type == "data") and version in message.valid:
                key_message = {"keyMessage": _decode(self._catalog.codec(message, version), data[2:])}
                return key_message | self._coordinator_value(message, record)
        raise Malformed

    def _coordinator_value(self, key: Message, record: dict[str, Any]) -> dict[str, Any]:
        if record["value"] is None:
            return {}
        data = _bytes(record["value"])
        (version,) = struct.unpack_from(">h", data)
        name = key.name.removesuffix("Key") + "Value"
        value = next((message for message in self._catalog.beside(key) if message.name == name), None)
        if value is None or version not in value.valid:
            return {}
        return {"valueMessage": _decode(self._catalog.codec(value, version), data[2:])}

    def _keys(self, topic: str) -> list[Message]:
        """The keys of the set that has the topic's schemas."""
        for name in COORDINATORS[topic]:
            for key in self._catalog.with_name(name):
                return [message for message in self._catalog.beside(key) if message.name.endswith("Key")]
        return []


def _decode(codec: Codec, data: bytes) -> dict[str, Any]:
    return {"message": codec.message.name, "version": codec.version, "value": codec.read(data)}


def _bytes(text: str | None) -> bytes:
    if text is None:
        raise Malformed
    return binascii.a2b_base64(text)


TOPIC_NAMES = ("topic", "name", "topicId", "topicName")


def with_records(
    meaning: Meaning, body: Layout, value: dict[str, Any], spans: tuple[ValueSpan, ...]
) -> tuple[dict[str, Any], tuple[ByteProblem, ...]]:
    """The value with each `records` field, where it is not null, as a list of batches, and the problems of these.

    `spans` are the places of the fields.
    """
    places = {span.path: span.offset + span.length for span in spans if "records" in span.type.split()}
    problems: list[ByteProblem] = []
    return _body(meaning, body, value, "", "", places, problems), tuple(problems)


def _body(
    meaning: Meaning,
    body: Layout,
    value: dict[str, Any],
    path: str,
    topic: str,
    places: dict[str, int],
    problems: list[ByteProblem],
) -> dict[str, Any]:
    topic = next((value[name] for name in TOPIC_NAMES if isinstance(value.get(name), str)), topic)
    new_value = dict(value)
    for slot in body.all_slots:
        key = key_of(slot)
        inner = value.get(key)
        where = join_path(path, key)
        if inner is None:
            continue
        if slot.kind == "records" and not slot.array:
            data = binascii.a2b_base64(inner)
            new_value[key], wrong = read_batches(data, places.get(where, len(data)) - len(data))
            meaning.explain(topic, new_value[key])
            problems += [ByteProblem(problem.rule, problem.offset, problem.message, where) for problem in wrong]
        elif slot.body is not None and slot.array:
            new_value[key] = [
                _body(meaning, slot.body, element, f"{where}[{index}]", topic, places, problems)
                for index, element in enumerate(inner)
            ]
        elif slot.body is not None:
            new_value[key] = _body(meaning, slot.body, inner, where, topic, places, problems)
    return new_value
