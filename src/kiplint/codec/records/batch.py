"""Record batches (magic 2) and the message sets of older versions (magic 0 and 1)."""

from __future__ import annotations

import struct
import zlib
from typing import Any

from kiplint.codec.cursor import MOST_PROBLEMS
from kiplint.codec.problems import Problem
from kiplint.codec.records.compression import CODECS, Unpackable, read_together, unpack
from kiplint.codec.records.record import Damaged, Records
from kiplint.codec.wire import base64_text
from kiplint.text.words import in_bytes

HEADER = struct.Struct(">qiibIhiqqqhii")
"""Offset, length, leader epoch, magic, CRC, attributes, last offset delta, two times, producer id and epoch, sequence,
count: 61 bytes."""
OLD_HEADER = 18
"""Of magic 0 and 1: offset, length, CRC, magic, attributes."""
START, COVERED = 12, 21
"""Where the length of a batch counts from, and where the checksum of magic 2 does."""
MOST_BATCHES = MOST_RECORDS = 100_000
"""How many batches of a field, and records of a batch, are read."""


def read_batches(data: bytes, offset: int = 0) -> tuple[list[dict[str, Any]], tuple[Problem, ...]]:
    """The batches of a records field, or of a log segment, and what is wrong; `offset` is where the bytes stand.

    The last batch of a fetch may be cut off: that is Kafka's way to fill a response, and no problem.
    """
    with read_together():
        return _read(data, offset)


def _read(data: bytes, offset: int) -> tuple[list[dict[str, Any]], tuple[Problem, ...]]:
    batches: list[dict[str, Any]] = []
    problems: list[Problem] = []
    pos = 0
    while len(data) - pos > START + 4 and len(batches) < MOST_BATCHES:
        size = int.from_bytes(data[pos + 8 : pos + START], "big", signed=True)
        end = pos + START + size
        magic = data[pos + 16]
        if magic > 2 or size < (HEADER.size if magic == 2 else OLD_HEADER) - START:
            text = f"a batch of {in_bytes(size)}" if magic <= 2 else f"a batch of magic {magic}; 2 is the newest"
            problems.append(Problem("codec/batch-invalid", offset + pos, text))
            break
        if end > len(data):
            break
        read = _batch if magic == 2 else _old
        batch, found = read(data[pos:end], offset + pos)
        batches.append(batch)
        problems += found
        pos = end
    if len(batches) == MOST_BATCHES and pos < len(data):
        text = f"{MOST_BATCHES} batches are read at most"
        problems.append(Problem("codec/too-many-elements", offset + pos, text))
    return batches, tuple(problems)


def _batch(data: bytes, offset: int) -> tuple[dict[str, Any], list[Problem]]:
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
    found = _crc32c(data[COVERED:])
    if found is not None and found != crc:
        text = f"the batch's checksum is 0x{crc:08x}, its bytes have 0x{found:08x}"
        problems.append(Problem("codec/crc-mismatch", offset + 17, text))
    problems += _fill(batch, data[HEADER.size :], offset + HEADER.size)
    return batch, problems


def _fill(batch: dict[str, Any], data: bytes, offset: int) -> list[Problem]:
    """Read the records into the batch. Offsets of packed records are that of the first packed byte."""
    codec = batch["compression"]
    if codec not in CODECS:
        return [Problem("codec/batch-invalid", offset, f"the batch has a compression of {codec}")]
    try:
        plain = unpack(codec, data)
    except Unpackable as error:
        return [Problem("codec/records-packed", offset, str(error))]
    if not 0 <= batch["count"] <= MOST_RECORDS:
        text = f"the batch has {batch['count']} records; {MOST_RECORDS} are read at most"
        return [Problem("codec/too-many-elements", offset - 4, text)]
    reader = Records(plain, batch["baseOffset"], batch["baseTimestamp"])
    try:
        for _ in range(batch["count"]):
            batch["records"].append(reader.record())
        reader.finish()
    except Damaged as error:
        place = offset + error.offset if codec == "none" else offset
        return [Problem("codec/record-invalid", place, str(error))]
    return []


def _old(data: bytes, offset: int, depth: int = 0) -> tuple[dict[str, Any], list[Problem]]:
    """One message of magic 0 or 1; a packed one holds a message set."""
    base, _, crc, magic, flags = struct.unpack_from(">qiIbb", data)
    codec = CODECS[flags & 7] if flags & 7 < 4 else f"unknown {flags & 7}"
    batch: dict[str, Any] = {"baseOffset": base, "magic": magic, "crc": crc, "compression": codec, "records": []}
    problems = []
    if zlib.crc32(data[16:]) != crc:
        text = f"the message's checksum is 0x{crc:08x}, its bytes have 0x{zlib.crc32(data[16:]):08x}"
        problems.append(Problem("codec/crc-mismatch", offset + START, text))
    pos, time = 18, -1
    try:
        if magic == 1:
            (time,) = struct.unpack_from(">q", data, 18)
            pos = 26
        key, pos = _sized(data, pos)
        value, pos = _sized(data, pos)
    except (struct.error, Damaged):
        problems.append(Problem("codec/record-invalid", offset + pos, "the message ends inside a value"))
        return batch, problems
    if codec == "none":
        batch["records"] = [{"offset": base, "timestamp": time, "key": _shown(key), "value": _shown(value)}]
        return batch, problems
    if codec not in CODECS or depth:
        problems.append(Problem("codec/batch-invalid", offset + 17, f"the message has a compression of {codec}"))
        return batch, problems
    try:
        inner, found = _inner(unpack(codec, value or b""), offset + pos - len(value or b""))
    except Unpackable as error:
        return batch, [*problems, Problem("codec/records-packed", offset, str(error))]
    batch["records"] = inner
    return batch, [*problems, *found]


def _inner(data: bytes, offset: int) -> tuple[list[dict[str, Any]], list[Problem]]:
    """The messages of an unpacked message set, all told to stand where the packed bytes do."""
    records: list[dict[str, Any]] = []
    problems: list[Problem] = []
    pos = 0
    while len(data) - pos >= 26:
        size = int.from_bytes(data[pos + 8 : pos + START], "big", signed=True)
        if size < 14 or pos + START + size > len(data):
            problems.append(Problem("codec/record-invalid", offset, "the packed messages end inside one"))
            break
        if len(records) == MOST_RECORDS or len(problems) >= MOST_PROBLEMS:
            text = f"{MOST_RECORDS} packed messages are read at most, and {MOST_PROBLEMS} problems of them told"
            problems.append(Problem("codec/too-many-elements", offset, text))
            break
        batch, found = _old(data[pos : pos + START + size], offset, depth=1)
        records += batch["records"]
        problems += [Problem(one.rule, offset, one.message) for one in found]
        pos += START + size
    return records, problems


def _sized(data: bytes, pos: int) -> tuple[bytes | None, int]:
    (size,) = struct.unpack_from(">i", data, pos)
    if size < 0:
        return None, pos + 4
    if pos + 4 + size > len(data):
        raise Damaged("", pos)
    return data[pos + 4 : pos + 4 + size], pos + 4 + size


def _shown(data: bytes | None) -> str | None:
    return None if data is None else base64_text(data)


def _crc32c(data: bytes) -> int | None:
    """The checksum of Kafka's batches; None where the package for it is missing."""
    try:
        from crc32c import crc32c
    except ImportError:
        return None
    return int(crc32c(data))
