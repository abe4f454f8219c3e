"""Record batches of all compressions and ages, what is wrong in them, and what Kafka's own topics keep in them."""

from __future__ import annotations

import base64
import gzip
import random
import struct
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import cramjam
import pytest
from crc32c import crc32c

from codec.support import encode, load_catalog, random_body
from kiplint.codec import records
from kiplint.codec.capture import read_capture
from kiplint.codec.catalog import Catalog, having
from kiplint.codec.explain import MOST_PROBLEMS
from kiplint.codec.records import XERIAL, Unpackable, read_batches, read_together, unpack
from kiplint.codec.topics import Meaning, with_records
from kiplint.codec.wire import varint
from kiplint.limits import UNPACKED_BYTES, Limit


def signed(value: int) -> bytes:
    return varint((value << 1) ^ (value >> 63))


def pack(data: bytes | None) -> bytes:
    return signed(-1) if data is None else signed(len(data)) + data


def record(
    offset: int, key: bytes | None, value: bytes | None, headers: dict[str, bytes | None] | None = None
) -> bytes:
    own = b"".join(pack(name.encode()) + pack(header) for name, header in (headers or {}).items())
    body = b"\0" + signed(5 * offset) + signed(offset) + pack(key) + pack(value) + signed(len(headers or {})) + own
    return signed(len(body)) + body


def compress(codec: int, data: bytes) -> bytes:
    if codec == 2:
        raw = bytes(cramjam.snappy.compress_raw(data))
        return XERIAL + struct.pack(">iii", 1, 1, len(raw)) + raw
    makers: list[Any] = [bytes, gzip.compress, None, cramjam.lz4.compress, cramjam.zstd.compress]
    return bytes(makers[codec](data))


def batch(records: list[bytes], codec: int = 0, flags: int = 0, crc: int | None = None) -> bytes:
    data = compress(codec, b"".join(records))
    body = struct.pack(">hiqqqhii", codec | flags, len(records) - 1, 1000, 2000, -1, -1, -1, len(records)) + data
    check = crc32c(body) if crc is None else crc
    return struct.pack(">qiibI", 40, len(body) + 9, 3, 2, check) + body


def to_base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


@pytest.mark.parametrize("codec", range(5))
def test_batches_of_all_compressions(codec: int) -> None:
    data = batch([record(0, b"k", b"v" * 100, {"h": b"x", "n": None}), record(1, None, None)], codec)
    (first,), problems = read_batches(data + data[:30])
    assert problems == ()
    assert first["compression"] == ("none", "gzip", "snappy", "lz4", "zstd")[codec]
    assert (first["baseOffset"], first["lastOffset"], first["maxTimestamp"], first["count"]) == (40, 41, 2000, 2)
    assert first["records"] == [
        {
            "offset": 40,
            "timestamp": 1000,
            "key": "aw==",
            "value": to_base64(b"v" * 100),
            "headers": [{"key": "h", "value": "eA=="}, {"key": "n", "value": None}],
        },
        {"offset": 41, "timestamp": 1005, "key": None, "value": None, "headers": []},
    ]


def test_a_damaged_batch_has_its_offset() -> None:
    good = batch([record(0, b"k", b"v")])
    bad = batch([record(0, b"k", b"v")], crc=7)
    batches, problems = read_batches(good + bad, 100)
    assert len(batches) == 2
    assert [(problem.rule, problem.offset) for problem in problems] == [("codec/crc-mismatch", 100 + len(good) + 17)]
    assert "checksum is 0x00000007" in problems[0].message


@pytest.mark.parametrize(
    ("data", "rule", "offset"),
    [
        (batch([record(0, b"k", b"v")[:-1]]), "codec/record-invalid", 61),
        (batch([record(0, b"k", b"v"), b"\x80"]), "codec/record-invalid", 61 + 9),
        (batch([record(0, b"k", b"v") + b"\0"]), "codec/record-invalid", 61 + 9),
        (batch([record(0, b"k", b"v")], 0, 5), "codec/batch-invalid", 61),
        (batch([record(0, b"k", b"v")])[:16] + b"\x07" + batch([record(0, b"k", b"v")])[17:], "codec/batch-invalid", 0),
        (struct.pack(">qi", 0, -5) + b"\0" * 20, "codec/batch-invalid", 0),
        (batch([])[:57] + b"\x7f\xff\xff\xff", "codec/too-many-elements", 57),
    ],
    ids=["short", "cut-varint", "surplus", "compression", "magic", "length", "count"],
)
def test_records_that_are_damaged(data: bytes, rule: str, offset: int) -> None:
    assert (rule, offset) in [(problem.rule, problem.offset) for problem in read_batches(data)[1]]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_bombs_are_not_unpacked(codec: str) -> None:
    bomb = b"\0" * (UNPACKED_BYTES + 1)
    number = ("none", "gzip", "snappy", "lz4", "zstd").index(codec)
    for data in (compress(number, bomb), compress(number, b"abc" * 100)[:-7]):
        with read_together(), pytest.raises(Unpackable):
            unpack(codec, data)


def test_many_small_bombs_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "GROWN_BYTES", Limit(100_000, "bytes of growth", "a run"))
    data = batch([record(0, b"k", b"0" * 60_000)], codec=1)
    batches, problems = read_batches(data * 5)
    assert [len(batch["records"]) for batch in batches] == [1, 1, 0, 0, 0]
    assert {problem.rule for problem in problems} == {"codec/records-packed"}
    assert "no more are unpacked" in problems[0].message
    assert [len(batch["records"]) for batch in read_batches(data)[0]] == [1]


def test_a_message_set_of_very_many_messages() -> None:
    inner = old_message(0, b"", 0)[:12] + b"\0" * 4 + old_message(0, b"", 0)[16:]
    _, problems = read_batches(old_message(6, gzip.compress(inner * 2_000), 0, 1))
    assert len(problems) == MOST_PROBLEMS + 1
    assert problems[-1].rule == "codec/too-many-elements"


def old_message(offset: int, value: bytes, magic: int, flags: int = 0) -> bytes:
    time = struct.pack(">q", 77) if magic else b""
    body = struct.pack(">bb", magic, flags) + time + struct.pack(">i", -1) + struct.pack(">i", len(value)) + value
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_of_old_versions(magic: int) -> None:
    inner = old_message(0, b"a", magic) + old_message(1, b"b", magic)
    batches, problems = read_batches(old_message(5, b"v", magic) + old_message(6, gzip.compress(inner), magic, 1))
    assert problems == ()
    assert [[record["value"] for record in batch["records"]] for batch in batches] == [["dg=="], ["YQ==", "Yg=="]]
    assert batches[0]["records"][0]["timestamp"] == (77 if magic else -1)


def test_random_bytes_are_not_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        records, "UNPACKED_BYTES", Limit(2**18, "bytes", "a batch")
    )  # as much room is cleared for each that is damaged
    rng = random.Random(3)
    for _ in range(2000):
        data = bytearray(batch([record(0, b"k", b"v" * 50), record(1, None, b"")], rng.randrange(5)))
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        read_batches(bytes(data))


def test_records_of_the_real_capture(corpus: Path, shared_bytes: Path) -> None:
    catalog = load_catalog(str(corpus / "kafka-trunk-2026-08"))
    packings: Counter[str] = Counter()
    for raw_frame in read_capture(catalog, (shared_bytes / "capture.pcapng").read_bytes()).frames:
        frame = raw_frame.decode(catalog, spans=True)
        message = having(catalog.with_key(raw_frame.direction, raw_frame.api_key), frame.version)
        assert message is not None and frame.value is not None
        body = catalog.codec(message, frame.version).body
        value, problems = with_records(Meaning(catalog), body, frame.value, frame.spans)
        assert problems == ()
        packings.update(batch["compression"] for batch in batches_in(value))
    assert packings == {"none": 58, "gzip": 20, "lz4": 20, "zstd": 12, "snappy": 12}


def batches_in(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [batch for item in value for batch in batches_in(item)]
    if not isinstance(value, dict):
        return []
    own = [value] if "lastOffset" in value and "records" in value else []
    return own + [batch for item in value.values() for batch in batches_in(item)]


def explain(catalog: Catalog, topic: str, key: bytes | None, value: bytes | None, flags: int = 0) -> dict[str, Any]:
    batches, problems = read_batches(batch([record(0, key, value)], flags=flags))
    assert problems == ()
    Meaning(catalog).explain(topic, batches)
    only: dict[str, Any] = batches[0]["records"][0]
    return only


def encode_random(catalog: Catalog, name: str, version: int) -> tuple[bytes, dict[str, Any]]:
    message = having(catalog.with_name(name), version)
    assert message is not None
    codec = catalog.codec(message, version)
    value = random_body(codec.body, random.Random(1))
    return encode(codec, value), {"message": name, "version": version, "value": codec.read(encode(codec, value))}


def test_records_of_the_metadata_log(corpus: Path) -> None:
    catalog = load_catalog(str(corpus / "kafka-trunk-2026-08"))
    data, expected = encode_random(catalog, "TopicRecord", 0)
    kind = catalog.with_name("TopicRecord")[0].api_key or 0
    prefix = varint(1) + varint(kind) + varint(0)
    assert explain(catalog, "__cluster_metadata", None, prefix + data)["valueMessage"] == expected
    assert "valueMessage" not in explain(catalog, "__cluster_metadata", None, prefix + data + b"\0")
    assert "valueMessage" not in explain(catalog, "plain", None, prefix + data)


@pytest.mark.parametrize(
    ("topic", "name", "version"),
    [
        ("__consumer_offsets", "OffsetCommit", 4),
        ("__consumer_offsets", "GroupMetadata", 3),
        ("__consumer_offsets", "ConsumerGroupMemberMetadata", 0),
        ("__transaction_state", "TransactionLog", 1),
        ("__share_group_state", "ShareUpdate", 0),
    ],
)
def test_records_of_coordinators(corpus: Path, topic: str, name: str, version: int) -> None:
    catalog = load_catalog(str(corpus / "kafka-trunk-2026-08"))
    key, wanted_key = encode_random(catalog, f"{name}Key", 0)
    value, expected = encode_random(catalog, f"{name}Value", version)
    kind = struct.pack(">h", catalog.with_name(f"{name}Key")[0].api_key or 0)
    result = explain(catalog, topic, kind + key, struct.pack(">h", version) + value)
    assert (result["keyMessage"], result["valueMessage"]) == (wanted_key, expected)
    assert explain(catalog, topic, kind + key, None)["keyMessage"] == wanted_key


def test_records_of_coordinators_before_keys_had_types(corpus: Path) -> None:
    catalog = load_catalog("3.3.2:", corpus / "kafka-schema-history.bundle")
    key, expected = encode_random(catalog, "GroupMetadataKey", 2)
    value, wanted_value = encode_random(catalog, "GroupMetadataValue", 3)
    result = explain(catalog, "__consumer_offsets", struct.pack(">h", 2) + key, struct.pack(">h", 3) + value)
    assert (result["keyMessage"], result["valueMessage"]) == (expected, wanted_value)


def test_control_records(corpus: Path) -> None:
    catalog = load_catalog(str(corpus / "kafka-trunk-2026-08"))
    result = explain(catalog, "any", struct.pack(">hh", 0, 1), struct.pack(">hi", 0, 9), flags=32)
    assert result["valueMessage"] == {"message": "EndTxnMarker", "version": 0, "value": {"coordinatorEpoch": 9}}
    data, _ = encode_random(catalog, "LeaderChangeMessage", 0)
    result = explain(catalog, "any", struct.pack(">hh", 0, 2), b"\0\0" + data[2:], flags=32)
    assert result["valueMessage"]["message"] == "LeaderChangeMessage"
