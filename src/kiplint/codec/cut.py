"""The frames of one direction of a connection, read from its bytes, including frames with missing bytes."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import NamedTuple

from kiplint.codec.catalog import Catalog
from kiplint.codec.frames import decode_request, decode_response
from kiplint.codec.problems import ByteProblem
from kiplint.codec.tcp import Run
from kiplint.limits import FRAME_BYTES

HIGHEST_VERSION = 60
"""Above every version of Kafka: a higher version marks a frame of another protocol."""
MOST_TRIED = 2**20
"""How many bytes of candidates are read in a search, beside 16 times the bytes that are searched."""


class Cut(NamedTuple):
    """A frame of one direction: the offset and time of its length, its bytes, and whether all were captured.

    `acknowledged` is the sequence number up to which its sender had the bytes of the other direction, 0 if unknown.
    """

    offset: int
    time: float
    acknowledged: int
    data: bytes
    whole: bool = True
    problem: ByteProblem | None = None


class Sign(NamedTuple):
    """How to recognise the frames of one direction.

    `pattern` matches the possible beginnings of a frame: its length and first bytes. `test` takes bytes, the position
    after a length, and this length; it returns whether a frame may start there. `reads` returns whether a frame can be
    decoded to its last byte, `linked` whether frames at two positions may belong to the same stream.
    """

    pattern: re.Pattern[bytes]
    test: Callable[[bytes, int, int], bool]
    reads: Callable[[bytes], bool]
    linked: Callable[[bytes, int, int], bool]


def request_sign(catalog: Catalog) -> Sign:
    """Requests have a known API key, a version, and a client id that is text and equal in the next request."""
    api_keys = frozenset(catalog.api_keys)

    def test(data: bytes, pos: int, size: int) -> bool:
        available = min(size, len(data) - pos)
        if available < 8:
            return False
        api_key, version = struct.unpack_from(">hh", data, pos)
        if api_key not in api_keys or not 0 <= version <= HIGHEST_VERSION:
            return False
        if available < 10:
            return size == 8
        (length,) = struct.unpack_from(">h", data, pos + 8)
        name = data[pos + 10 : pos + 10 + max(length, 0)]
        return -1 <= length <= size - 10 and all(byte >= 0x20 for byte in name)

    def is_linked(data: bytes, pos: int, following: int) -> bool:
        size = 2 + int.from_bytes(data[pos + 8 : pos + 10], "big", signed=True)
        return size > 2 and data[pos + 8 : pos + 8 + size] == data[following + 8 : following + 8 + size]

    pattern = re.compile(rb"(?=(?!\0\0\0[\0-\x07])[\0-\x06][\s\S]{5}\0[\0-\x3c])")
    return Sign(pattern, test, lambda frame: not decode_request(catalog, frame).problems, is_linked)


def response_sign(catalog: Catalog, requests: Mapping[int, Sequence[tuple[int, int, int]]]) -> Sign:
    """Responses have the correlation id of a captured request, and come in the order of the requests.

    `requests` are by their correlation ids: their places, API keys and versions.
    """

    def test(data: bytes, pos: int, size: int) -> bool:
        return min(size, len(data) - pos) >= 4 and struct.unpack_from(">i", data, pos)[0] in requests

    def reads(frame: bytes) -> bool:
        calls = requests.get(int.from_bytes(frame[:4], "big", signed=True), ())
        kinds = {(api_key, version) for _, api_key, version in calls}
        return any(not decode_response(catalog, *kind, frame).problems for kind in kinds)

    def is_linked(data: bytes, pos: int, following: int) -> bool:
        first, second = (requests[struct.unpack_from(">i", data, start)[0]] for start in (pos, following))
        return first[0][0] < second[-1][0]

    starts = re.escape(b"".join(sorted({struct.pack(">i", number)[:1] for number in requests})))
    pattern = rb"(?=(?!\0\0\0[\0-\x03])[\0-\x06][\s\S]{3}[" + starts + rb"])" if starts else rb"(?!)"
    return Sign(re.compile(pattern), test, reads, is_linked)


def cut(runs: Sequence[Run], sign: Sign, *, synchronized: bool) -> Iterator[Cut]:
    """The frames of one direction. Where the start of a frame is not known, the bytes are searched for it."""
    expected = 0 if synchronized else -1
    for run in runs:
        if expected <= run.offset + len(run.data):  # else it lies inside a frame whose beginning was captured
            expected = yield from _cut_run(run, expected - run.offset, sign)


def _cut_run(run: Run, pos: int, sign: Sign) -> Generator[Cut, None, int]:
    """The frames of one run from a position on, below 0 to search; returns where the next begins, -1 when unknown."""
    data = run.data
    if pos < 0:
        pos = _search(data, 0, sign)
    while 0 <= pos <= len(data) - 4:
        size = int.from_bytes(data[pos : pos + 4], "big", signed=True)
        _, time, ack = run.arrival_at(run.offset + pos)
        if 0 <= size <= FRAME_BYTES:
            chunk = data[pos + 4 : pos + 4 + size]
            yield Cut(run.offset + pos, time, ack, chunk, len(chunk) == size)
            pos += 4 + size
        else:
            rule = "codec/length-negative" if size < 0 else "codec/too-large"
            problem = ByteProblem(rule, 0, f"the length of the frame is {size}")
            yield Cut(run.offset + pos, time, ack, b"", problem=problem)
            pos = _search(data, pos + 1, sign)
    return run.offset + pos if pos >= len(data) else -1


def _search(data: bytes, pos: int, sign: Sign) -> int:
    """The first position from `pos` on that is certainly a frame, -1 if there is none."""
    budget = 16 * len(data) + MOST_TRIED
    for place in (match.start() for match in sign.pattern.finditer(data, pos)):
        size = int.from_bytes(data[place : place + 4], "big")
        after = place + 4 + size
        if after > len(data) or not sign.test(data, place + 4, size):
            continue
        following = sign.test(data, after + 4, int.from_bytes(data[after : after + 4], "big"))
        if following and sign.linked(data, place + 4, after + 4):
            return place
        budget -= size
        if budget < 0:
            break
        if (following or len(data) - after < 12) and sign.reads(data[place + 4 : after]):
            return place
    return -1
