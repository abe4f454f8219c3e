"""Where frames begin in the bytes of one direction, also behind holes and when the beginning was not captured."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple

from kiplint.codec.problems import Problem
from kiplint.codec.tcp import Run
from kiplint.codec.wire import MOST_BYTES

HIGHEST_VERSION = 60
"""Above every version there is: what a frame of another protocol is told by."""


class Cut(NamedTuple):
    """A frame of one direction: where its length stands, when that came, its bytes, and whether all were captured."""

    offset: int
    time: float
    data: bytes
    whole: bool = True
    problem: Problem | None = None


class Sign(NamedTuple):
    """What frames of one direction look like.

    `pattern` finds where one may begin, its length included; `test` says of bytes from a position on, behind a length
    that has been read, whether they look like a frame.
    """

    pattern: re.Pattern[bytes]
    test: Callable[[bytes, int, int], bool]


def request_sign(keys: Sequence[int]) -> Sign:
    """Requests have a known API key, a version, and a client id that is text."""
    known = frozenset(keys)

    def test(data: bytes, pos: int, size: int) -> bool:
        if size < 8 or len(data) - pos < 8:
            return False
        key, version = struct.unpack_from(">hh", data, pos)
        if key not in known or not 0 <= version <= HIGHEST_VERSION:
            return False
        if size < 10 or len(data) - pos < 10:
            return size == 8
        (length,) = struct.unpack_from(">h", data, pos + 8)
        name = data[pos + 10 : pos + 10 + max(length, 0)]
        return -1 <= length <= size - 10 and all(byte >= 0x20 for byte in name)

    return Sign(re.compile(rb"(?=[\0-\x06][\s\S]{3}[\s\S]{2}\0[\0-\x3c])"), test)


def response_sign(correlation_ids: frozenset[int]) -> Sign:
    """Responses answer one of the requests that were seen."""

    def test(data: bytes, pos: int, size: int) -> bool:
        return size >= 4 and len(data) - pos >= 4 and struct.unpack_from(">i", data, pos)[0] in correlation_ids

    first = b"".join(sorted({re.escape(struct.pack(">i", one)[:1]) for one in correlation_ids} or {b"\0"}))
    return Sign(re.compile(rb"(?=[\0-\x06][\s\S]{3}[" + first + rb"])"), test)


def cut(runs: Sequence[Run], sign: Sign, *, synchronized: bool) -> Iterator[Cut]:
    """The frames of one direction. Where it is not known how one begins, the bytes are searched for one."""
    expected = 0 if synchronized else -1
    for run in runs:
        if expected <= run.offset + len(run.data):  # else it lies inside a frame whose beginning was captured
            expected = yield from _cut_run(run, expected - run.offset, sign)


def _cut_run(run: Run, pos: int, sign: Sign) -> Generator[Cut, None, int]:
    """The frames of one run from a position on, below 0 to search; gives where the next begins, -1 when unknown."""
    data = run.data
    if pos < 0:
        pos = _search(run, 0, sign)
    while 0 <= pos <= len(data) - 4:
        size = int.from_bytes(data[pos : pos + 4], "big", signed=True)
        offset = run.offset + pos
        if 0 <= size <= MOST_BYTES:
            chunk = data[pos + 4 : pos + 4 + size]
            yield Cut(offset, run.time_at(offset), chunk, whole=len(chunk) == size)
            pos += 4 + size
        else:
            rule = "codec/length-negative" if size < 0 else "codec/too-large"
            problem = Problem(rule, offset, f"the length of the frame is {size}")
            yield Cut(offset, run.time_at(offset), b"", problem=problem)
            pos = _search(run, pos + 1, sign)
    return run.offset + pos if pos >= len(data) else -1


def _search(run: Run, pos: int, sign: Sign) -> int:
    """The first place that looks like a frame with another behind it, else one that may reach behind the run; or -1."""
    possible = -1
    for found in sign.pattern.finditer(run.data, pos):
        place = found.start()
        size = int.from_bytes(run.data[place : place + 4], "big")
        if size > MOST_BYTES or not sign.test(run.data, place + 4, size):
            continue
        after = place + 4 + size
        following = int.from_bytes(run.data[after : after + 4], "big")
        if after == len(run.data) or sign.test(run.data, after + 4, following):
            return place
        if possible < 0 and after + 12 > len(run.data):
            possible = place
    return possible
