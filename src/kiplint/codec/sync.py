"""Where frames begin in the bytes of one direction, also behind holes and when the beginning was not captured."""

from __future__ import annotations

import itertools
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


Plausible = Callable[[bytes, int, int], bool]
"""Whether bytes from a position on, behind a length that has been read, look like a frame."""


def request_test(keys: Sequence[int]) -> Plausible:
    """Whether something looks like a request header: a known API key, a version, and a client id that is text."""
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

    return test


def response_test(correlation_ids: frozenset[int]) -> Plausible:
    """Whether something looks like a response to one of the requests that were seen."""

    def test(data: bytes, pos: int, size: int) -> bool:
        return size >= 4 and len(data) - pos >= 4 and struct.unpack_from(">i", data, pos)[0] in correlation_ids

    return test


def cut(runs: Sequence[Run], plausible: Plausible, *, synchronized: bool) -> Iterator[Cut]:
    """The frames of one direction. Where it is not known how one begins, the bytes are searched for one."""
    expected = 0 if synchronized else -1
    for run in runs:
        if expected <= run.offset + len(run.data):  # else it lies inside a frame whose beginning was captured
            expected = yield from _cut_run(run, expected - run.offset, plausible)


def _cut_run(run: Run, pos: int, plausible: Plausible) -> Generator[Cut, None, int]:
    """The frames of one run from a position on, below 0 to search; gives where the next begins, -1 when unknown."""
    data = run.data
    if pos < 0:
        pos = _search(run, 0, plausible)
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
            pos = _search(run, pos + 1, plausible)
    return run.offset + pos if pos >= len(data) else -1


def _search(run: Run, pos: int, plausible: Plausible) -> int:
    """The first place that looks like a frame whose next one does too: beginnings of segments come first; else -1."""
    segments = (place - run.offset for place, _ in run.times if place - run.offset >= pos)
    places = itertools.chain(segments, range(pos, len(run.data) - 8))
    return next((place for place in places if _fits(run.data, place, plausible)), -1)


def _fits(data: bytes, pos: int, plausible: Plausible) -> bool:
    size = int.from_bytes(data[pos : pos + 4], "big", signed=True)
    if not 0 < size <= MOST_BYTES or not plausible(data, pos + 4, size):
        return False
    after = pos + 4 + size
    if after + 12 > len(data):
        return True
    return plausible(data, after + 4, int.from_bytes(data[after : after + 4], "big", signed=True))
