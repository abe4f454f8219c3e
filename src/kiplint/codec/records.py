"""Record batches: their headers, their records, and the unpacking of compressed records within bounds.

snappy, lz4 and zstd are read by cramjam, gzip by the standard library.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from kiplint.codec.explain import MOST_PROBLEMS
from kiplint.codec.problems import ByteProblem
from kiplint.codec.wire import ELEMENTS, base64_text
from kiplint.limits import BATCHES, GROWN_BYTES, RECORDS, UNPACKED_BYTES, Counter
from kiplint.text.words import in_bytes

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
HEADER = struct.Struct(">qiibIhiqqqhii")
"""Offset, length, leader epoch, magic, CRC, attributes, last offset delta, two times, producer id and epoch, sequence,
count: 61 bytes."""
OLD_HEADER = 18
"""Of magic 0 and 1: offset, length, CRC, magic, attributes."""
START, CRC_START = 12, 21
"""Where the length of a batch counts from, and where the checksum of magic 2 does."""
PER_RECORD = 10
"""How many elements of arrays, and headers of records, are read for each of these records."""


def read_batches(data: bytes, offset: int = 0) -> tuple[list[dict[str, Any]], tuple[ByteProblem, ...]]:
    """The batches of a records field, or of a log segment, and their problems; `offset` is where the bytes start.

    The last batch of a fetch may be cut off: that is Kafka's way to fill a response, and no problem.
    """
    with read_together():
        return _read(data, offset)


def _read(data: bytes, offset: int) -> tuple[list[dict[str, Any]], tuple[ByteProblem, ...]]:
    batches: list[dict[str, Any]] = []
    problems: list[ByteProblem] = []
    pos = 0
    while len(data) - pos > START + 4 and len(batches) < BATCHES and _BUDGET.get().records.left > 0:
        size = int.from_bytes(data[pos + 8 : pos + START], "big", signed=True)
        end = pos + START + size
        magic = data[pos + 16]
        if magic > 2 or size < (HEADER.size if magic == 2 else OLD_HEADER) - START:
            text = f"a batch of {in_bytes(size)}" if magic <= 2 else f"a batch of magic {magic}; 2 is the newest"
            problems.append(ByteProblem("codec/batch-invalid", offset + pos, text))
            break
        if end > len(data):
            break
        read = _batch if magic == 2 else _old
        batch, more = read(data[pos:end], offset + pos)
        batches.append(batch)
        problems += more
        pos = end
    if len(batches) == BATCHES and pos < len(data):
        text = f"{BATCHES.figure} are read at most"
        problems.append(ByteProblem("codec/too-many-elements", offset + pos, text))
    elif _BUDGET.get().records.left <= 0 and len(data) - pos > START + 4:
        problems.append(_too_many(offset + pos))
    return batches, tuple(problems)


def _batch(data: bytes, offset: int) -> tuple[dict[str, Any], list[ByteProblem]]:
    """One batch of magic 2."""
    base, _, epoch, magic, crc, flags, last, first_time, max_time, producer, producer_epoch, sequence, count = (
        HEADER.unpack_from(data)
    )
    codec = CODECS[flags & 7] if flags & 7 < len(CODECS) else f"unknown {flags & 7}"
    batch: dict[str, Any] = {
        "baseOffset": base,
        "lastOffset": base + last,
        "partitionLeaderEpoch": epoch,
        "magic": magic,
        "crc": crc,
        "compression": codec,
        "timestampType": "log-append" if flags & 8 else "create",
        "isTransactional": bool(flags & 16),
        "isControl": bool(flags & 32),
        "hasDeleteHorizon": bool(flags & 64),
        "baseTimestamp": first_time,
        "maxTimestamp": max_time,
        "producerId": producer,
        "producerEpoch": producer_epoch,
        "baseSequence": sequence,
        "count": count,
        "records": [],
    }
    problems = []
    checksum = _crc32c(data[CRC_START:])
    if checksum is not None and checksum != crc:
        text = f"the batch's checksum is 0x{crc:08x}, its bytes have 0x{checksum:08x}"
        problems.append(ByteProblem("codec/crc-mismatch", offset + 17, text))
    problems += _fill(batch, data[HEADER.size :], offset + HEADER.size)
    return batch, problems


def _fill(batch: dict[str, Any], data: bytes, offset: int) -> list[ByteProblem]:
    """Read the records into the batch. All packed records have the offset of the first packed byte."""
    codec = batch["compression"]
    if codec not in CODECS:
        return [ByteProblem("codec/batch-invalid", offset, f"the batch has a compression of {codec}")]
    try:
        plain = unpack(codec, data)
    except Unpackable as error:
        return [ByteProblem("codec/records-packed", offset, str(error))]
    if not 0 <= batch["count"] <= len(plain):
        text = f"the batch has {batch['count']} records in {in_bytes(len(plain))}"
        return [ByteProblem("codec/too-many-elements", offset - 4, text)]
    try:
        for record in _records(plain, batch["count"], batch["baseOffset"], batch["baseTimestamp"]):
            if not _BUDGET.get().records.take(1):
                return [_too_many(offset)]
            batch["records"].append(record)
    except Damaged as error:
        place = offset + error.offset if codec == "none" else offset
        return [ByteProblem("codec/record-invalid", place, str(error))]
    return []


def _too_many(offset: int) -> ByteProblem:
    counter = _BUDGET.get().records
    counter.left = -1
    text = f"more than {counter.most:,} records in all; this and what follows is not read"
    return ByteProblem("codec/too-many-elements", offset, text)


def _old(data: bytes, offset: int, depth: int = 0) -> tuple[dict[str, Any], list[ByteProblem]]:
    """One message of magic 0 or 1; a packed message holds a message set."""
    base, _, crc, magic, flags = struct.unpack_from(">qiIbb", data)
    codec = CODECS[flags & 7] if flags & 7 < 4 else f"unknown {flags & 7}"
    batch: dict[str, Any] = {"baseOffset": base, "magic": magic, "crc": crc, "compression": codec, "records": []}
    problems = []
    if zlib.crc32(data[16:]) != crc:
        text = f"the message's checksum is 0x{crc:08x}, its bytes have 0x{zlib.crc32(data[16:]):08x}"
        problems.append(ByteProblem("codec/crc-mismatch", offset + START, text))
    pos, time = 18, -1
    try:
        if magic == 1:
            (time,) = struct.unpack_from(">q", data, 18)
            pos = 26
        key, pos = _read_sized(data, pos)
        value, pos = _read_sized(data, pos)
    except (struct.error, Damaged):
        problems.append(ByteProblem("codec/record-invalid", offset + pos, "the message ends inside a value"))
        return batch, problems
    if codec == "none":
        _BUDGET.get().records.take(1)
        batch["records"] = [{"offset": base, "timestamp": time, "key": _encode(key), "value": _encode(value)}]
        return batch, problems
    if codec not in CODECS or depth:
        problems.append(ByteProblem("codec/batch-invalid", offset + 17, f"the message has a compression of {codec}"))
        return batch, problems
    try:
        inner, more = _inner(unpack(codec, value or b""), offset + pos - len(value or b""))
    except Unpackable as error:
        return batch, [*problems, ByteProblem("codec/records-packed", offset, str(error))]
    batch["records"] = inner
    return batch, [*problems, *more]


def _inner(data: bytes, offset: int) -> tuple[list[dict[str, Any]], list[ByteProblem]]:
    """The messages of an unpacked message set; their problems have the offset of the packed bytes."""
    records: list[dict[str, Any]] = []
    problems: list[ByteProblem] = []
    pos = 0
    while len(data) - pos >= 26:
        size = int.from_bytes(data[pos + 8 : pos + START], "big", signed=True)
        if size < 14 or pos + START + size > len(data):
            problems.append(ByteProblem("codec/record-invalid", offset, "the packed messages end inside a message"))
            break
        if _BUDGET.get().records.left <= 0:
            problems.append(_too_many(offset))
            break
        if len(problems) >= MOST_PROBLEMS:
            text = f"{MOST_PROBLEMS} problems of packed messages are reported at most"
            problems.append(ByteProblem("codec/too-many-elements", offset, text))
            break
        batch, more = _old(data[pos : pos + START + size], offset, depth=1)
        records += batch["records"]
        problems += [ByteProblem(problem.rule, offset, problem.message) for problem in more]
        pos += START + size
    return records, problems


def _read_sized(data: bytes, pos: int) -> tuple[bytes | None, int]:
    (size,) = struct.unpack_from(">i", data, pos)
    if size < 0:
        return None, pos + 4
    if pos + 4 + size > len(data):
        raise Damaged("", pos)
    return data[pos + 4 : pos + 4 + size], pos + 4 + size


def _crc32c(data: bytes) -> int | None:
    """The checksum of Kafka's batches; None where the package for it is missing."""
    try:
        from crc32c import crc32c
    except ImportError:
        return None
    return int(crc32c(data))


class Damaged(Exception):  # noqa: N818
    """A record that is not as it should be; `offset` counts from the first record."""

    def __init__(self, text: str, offset: int) -> None:
        super().__init__(text)
        self.offset = offset


def _records(data: bytes, count: int, base: int, base_time: int) -> Iterator[dict[str, Any]]:
    """The unpacked records of a batch, in JSON's terms. Raises Damaged."""
    pos = 0
    for _ in range(count):
        start = pos
        size, pos = _varint(data, pos)
        end = pos + size
        if size < 0 or end > len(data):
            raise Damaged(f"a record of {in_bytes(size)}; {len(data) - pos} are left", start)
        if pos >= len(data):
            raise Damaged("the bytes end inside a record", start)
        time, pos = _varint(data, pos + 1)  # after the attributes; none has a meaning yet
        offset, pos = _varint(data, pos)
        key, pos = _chunk(data, pos)
        value, pos = _chunk(data, pos)
        headers, pos = _headers(data, pos, start)
        if pos != end:
            raise Damaged(f"a record of {in_bytes(size)} that ends after {size - (end - pos)}", start)
        yield {
            "offset": base + offset,
            "timestamp": base_time + time,
            "key": _encode(key),
            "value": _encode(value),
            "headers": headers,
        }
    if pos < len(data):
        raise Damaged(f"{in_bytes(len(data) - pos, 'follows', 'follow')} after the last record", pos)


def _headers(data: bytes, pos: int, start: int) -> tuple[list[dict[str, Any]], int]:
    """The headers of a record that begins at `start`, and where they end."""
    count, pos = _varint(data, pos)
    if not 0 <= count <= len(data) - pos:
        raise Damaged(f"a record with {count} headers", start)
    if not ELEMENTS.take(count):
        raise Damaged(f"a record with {count} headers, and no more are read in all", start)
    headers = []
    for _ in range(count):
        place = pos
        key, pos = _chunk(data, pos)
        if key is None:
            raise Damaged("a header whose key is null", place)
        value, pos = _chunk(data, pos)
        headers.append({"key": key.decode(errors="replace"), "value": _encode(value)})
    return headers, pos


def _varint(data: bytes, pos: int) -> tuple[int, int]:
    """Read a signed varint of at most 64 bits: its value, and the position after it. Raises Damaged."""
    value = 0
    for place, byte in enumerate(data[pos : pos + 10]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), pos + place + 1
    raise Damaged("the bytes end inside a varint, or it is too long", pos)


def _chunk(data: bytes, pos: int) -> tuple[bytes | None, int]:
    """Bytes behind their length, None for null, and where they end."""
    size, start = _varint(data, pos)
    if size < 0:
        return None, start
    if start + size > len(data):
        raise Damaged(f"a value of {in_bytes(size)}; {len(data) - start} are left", pos)
    return data[start : start + size], start + size


def _encode(data: bytes | None) -> str | None:
    return None if data is None else base64_text(data)


MOST_TRIED_AGAIN = 100
"""How many batches of a run are tried with more room: what is damaged fails there too, and room costs time."""
XERIAL = b"\x82SNAPPY\0"


class Unpackable(Exception):  # noqa: N818
    """The bytes cannot be unpacked; the text states why."""


class _Budget(NamedTuple):
    """What batches that are read together may still take: records, bytes to grow by, and tries with more room."""

    records: Counter
    growth: Counter
    tries: Counter


_BUDGET: ContextVar[_Budget] = ContextVar("_BUDGET")


def is_exhausted() -> bool:
    """Whether there was more to read than the bounds allow."""
    return min(_BUDGET.get().records.left, ELEMENTS.left) < 0


def refill() -> None:
    """Reset the count of the elements of arrays."""
    ELEMENTS.left = PER_RECORD * _BUDGET.get().records.most


@contextmanager
def read_together(records: int = RECORDS) -> Iterator[None]:
    """Share limits between the batches that are read in this context: a thousand small ones can each be a bomb.

    `records` is how many records they may have.
    """
    if _BUDGET.get(None) is not None:
        yield
        return
    token = _BUDGET.set(_Budget(Counter(records), Counter(GROWN_BYTES), Counter(MOST_TRIED_AGAIN)))
    refill()
    try:
        yield
    finally:
        ELEMENTS.left = ELEMENTS.most
        _BUDGET.reset(token)


def unpack(codec: str, data: bytes) -> bytes:
    """The records of a batch that was packed by one of `CODECS`, within `read_together`. Raises Unpackable."""
    if codec == "none":
        return data
    growth = _BUDGET.get().growth
    if growth.left < 0:
        raise Unpackable(f"{GROWN_BYTES.exceeded('the run')}: no more are unpacked")
    content = _gzip(data) if codec == "gzip" else _unpacked_by_cramjam(codec, data)
    growth.take(max(0, len(content) - 16 * len(data)))
    return content


def _gzip(data: bytes) -> bytes:
    machine = zlib.decompressobj(wbits=31)
    try:
        content = machine.decompress(data, UNPACKED_BYTES)
    except zlib.error as error:
        raise Unpackable(f"the gzip data is damaged: {error}") from None
    if not machine.eof:
        raise Unpackable(f"the gzip data was cut off, or has more than {UNPACKED_BYTES.figure}")
    return content


def _unpacked_by_cramjam(codec: str, data: bytes) -> bytes:
    try:
        import cramjam
    except ImportError:
        raise Unpackable("snappy, lz4 and zstd are read by cramjam: pip install 'kiplint[bytes]'") from None
    try:
        if codec == "snappy":
            return _snappy(cramjam, data)
        return _unpack_into(cramjam.lz4 if codec == "lz4" else cramjam.zstd, data)
    except cramjam.DecompressionError as error:
        raise Unpackable(f"the {codec} data is damaged, or more than {UNPACKED_BYTES.figure}: {error}") from None


def _unpack_into(module: Any, data: bytes) -> bytes:
    """Unpack into room that is made larger once: most batches shrink to no less than a sixteenth."""
    for size in (min(max(16 * len(data), 2**16), UNPACKED_BYTES), UNPACKED_BYTES):
        room = bytearray(size)
        try:
            return bytes(room[: module.decompress_into(data, room)])
        except Exception:
            if size == UNPACKED_BYTES or not _BUDGET.get().tries.take(1):
                raise
    raise AssertionError


def _snappy(cramjam: Any, data: bytes) -> bytes:
    """Raw blocks, alone or in the frames of the Java library that Kafka uses (a magic, two versions, sized blocks)."""
    if not data.startswith(XERIAL):
        return _raw_snappy(cramjam, data, UNPACKED_BYTES)
    pos, content = 16, bytearray()
    while pos < len(data):
        size = int.from_bytes(data[pos : pos + 4], "big")
        if pos + 4 + size > len(data):
            raise Unpackable("the snappy data was cut off inside a block")
        content += _raw_snappy(cramjam, data[pos + 4 : pos + 4 + size], UNPACKED_BYTES - len(content))
        pos += 4 + size
    return bytes(content)


def _raw_snappy(cramjam: Any, data: bytes, most: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(data) > most:
        raise Unpackable(f"the snappy data has more than {UNPACKED_BYTES.figure}")
    return bytes(cramjam.snappy.decompress_raw(data))
