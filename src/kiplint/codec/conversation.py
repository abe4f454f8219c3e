"""The conversation on a captured connection: its requests, and the responses that belong to them."""

from __future__ import annotations

import itertools
import re
import struct
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple

import msgspec

from kiplint.codec.catalog import Catalog
from kiplint.codec.frames import Direction, Frame, decode_request, decode_response
from kiplint.codec.problems import ByteProblem
from kiplint.codec.wire import MOST_BYTES

WRAP = 2**32
SYN = 0x02
LATE = 2**20
"""How many bytes of a stream may come before the SYN that opens it, where segments are out of order."""

Address = tuple[str, int]


class Segment(NamedTuple):
    """The relevant parts of a captured TCP segment; `time` is in seconds."""

    time: float
    source: Address
    target: Address
    sequence: int
    flags: int
    data: bytes


class Run(NamedTuple):
    """Bytes of one direction without a hole: their offset in the direction, and when each of their segments came."""

    offset: int
    data: bytes
    times: tuple[tuple[int, float], ...]

    def time_at(self, offset: int) -> float:
        """When the byte at an offset of the direction came."""
        at = bisect_right(self.times, offset, key=lambda entry: entry[0])
        return self.times[max(at - 1, 0)][1]


class SegmentStream:
    """One direction of a connection: its segments by their place after the first byte."""

    def __init__(self) -> None:
        self._origin: int | None = None
        self._newest = 0
        self._segments: list[tuple[int, bytes, float]] = []
        self.synchronized = False
        self.repeated = 0
        self._seen: set[tuple[int, int]] = set()

    def opens_again(self, segment: Segment) -> bool:
        """Whether a SYN is that of another connection with the same addresses."""
        if self._origin is None:
            return False
        ahead = (self._origin - segment.sequence - 1) % WRAP
        return ahead != 0 if self.synchronized else ahead > LATE

    def add(self, segment: Segment) -> None:
        """Take one segment."""
        sequence = segment.sequence
        if segment.flags & SYN:
            sequence += 1
            self._open(sequence)
        if not segment.data:
            return
        if self._origin is None:
            self._origin = sequence
        # The place nearest to the newest, so that streams may be longer than sequence numbers.
        place = self._newest + (sequence - self._origin - self._newest + WRAP // 2) % WRAP - WRAP // 2
        if (place, len(segment.data)) in self._seen:
            self.repeated += 1
            return
        self._seen.add((place, len(segment.data)))
        self._newest = max(self._newest, place + len(segment.data))
        self._segments.append((place, segment.data, segment.time))

    def _open(self, sequence: int) -> None:
        """Note where the stream begins, also when bytes of it came before."""
        shift = ((self._origin if self._origin is not None else sequence) - sequence) % WRAP
        if not shift and self.synchronized:
            return  # the same SYN again, perhaps thousands of times
        self._segments = [(place + shift, data, time) for place, data, time in self._segments]
        self._seen = {(place + shift, size) for place, size in self._seen}
        self._newest += shift
        self._origin, self.synchronized = sequence % WRAP, True

    def runs(self) -> list[Run]:
        """The bytes as runs without holes, in order; offsets begin behind the SYN, or at the first captured byte."""
        ordered = sorted(self._segments, key=lambda segment: (segment[0], -len(segment[1])))
        first = 0 if self.synchronized or not ordered else min(0, ordered[0][0])
        runs: list[tuple[int, bytearray, list[tuple[int, float]]]] = []
        for place, data, time in ordered:
            if place < 0 and self.synchronized:
                continue  # a keep-alive repeats the byte before the stream
            offset = place - first
            end = runs[-1][0] + len(runs[-1][1]) if runs else -1
            if not runs or offset > end:
                runs.append((offset, bytearray(data), [(offset, time)]))
            elif offset + len(data) > end:
                runs[-1][2].append((end, time))
                runs[-1][1].extend(data[end - offset :])
        return [Run(offset, bytes(data), tuple(times)) for offset, data, times in runs]


class CapturedConnection:
    """Both directions between two addresses; the end that sent the first captured segment comes first."""

    def __init__(self, first: Address, second: Address) -> None:
        self.ends = (first, second)
        self.directions = (SegmentStream(), SegmentStream())

    def add(self, segment: Segment) -> None:
        """Take one segment of either direction."""
        self.directions[segment.source != self.ends[0]].add(segment)


def connections(segments: list[Segment]) -> list[CapturedConnection]:
    """The connections that segments belong to, in the order of their first segments."""
    current: dict[frozenset[Address], CapturedConnection] = {}
    opened: list[CapturedConnection] = []
    for segment in segments:
        key = frozenset((segment.source, segment.target))
        known = current.get(key)
        if known is None or (
            segment.flags & SYN and known.directions[segment.source != known.ends[0]].opens_again(segment)
        ):
            known = current[key] = CapturedConnection(segment.source, segment.target)
            opened.append(known)
        known.add(segment)
    return opened


HIGHEST_VERSION = 60
"""Above every version of Kafka: a higher version marks a frame of another protocol."""


class Cut(NamedTuple):
    """A frame of one direction: the offset and time of its length, its bytes, and whether all were captured."""

    offset: int
    time: float
    data: bytes
    whole: bool = True
    problem: ByteProblem | None = None


class Sign(NamedTuple):
    """What frames of one direction look like.

    `pattern` matches where a frame may begin, its length included. `test` takes bytes, a position behind a length, and
    that length; it decides whether they look like a frame.
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
    """Responses have the correlation id of a captured request."""

    def test(data: bytes, pos: int, size: int) -> bool:
        return size >= 4 and len(data) - pos >= 4 and struct.unpack_from(">i", data, pos)[0] in correlation_ids

    first = b"".join(sorted({re.escape(struct.pack(">i", number)[:1]) for number in correlation_ids} or {b"\0"}))
    return Sign(re.compile(rb"(?=[\0-\x06][\s\S]{3}[" + first + rb"])"), test)


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
            problem = ByteProblem(rule, offset, f"the length of the frame is {size}")
            yield Cut(offset, run.time_at(offset), b"", problem=problem)
            pos = _search(run, pos + 1, sign)
    return run.offset + pos if pos >= len(data) else -1


def _search(run: Run, pos: int, sign: Sign) -> int:
    """The first place of a likely frame with another behind it, else of a frame that may exceed the run, else -1."""
    possible = -1
    for match in sign.pattern.finditer(run.data, pos):
        place = match.start()
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


SASL_HANDSHAKE = 17
ENOUGH = 4
"""How many frames of a direction decide whether it has requests."""


class Captured(msgspec.Struct, frozen=True):
    """One frame of a connection. `stream_offset` is where its length stands in the bytes of its direction.

    `answered` is true for a request whose response was captured. `whole` is false where the capture lacks bytes.
    """

    connection: int
    client: Address
    server: Address
    direction: Direction
    time: float
    stream_offset: int
    api_key: int
    api_version: int
    correlation_id: int
    data: bytes
    whole: bool
    answered: bool = False
    problem: ByteProblem | None = None

    def decode(self, catalog: Catalog, *, spans: bool = False) -> Frame:
        """Read the frame; an incomplete frame has a header at most."""
        if self.problem:
            return Frame("", self.api_version, None, None, None, len(self.data), (self.problem,))
        if self.direction == "request":
            return decode_request(catalog, self.data, spans=spans)
        return decode_response(catalog, self.api_key, self.api_version, self.data, spans=spans)


class _Roles(NamedTuple):
    client: Address
    server: Address
    requests: list[Run]
    responses: list[Run]
    synchronized: tuple[bool, bool]


class Conversation(NamedTuple):
    """The frames of a connection, requests first, then responses; `unpaired` counts responses without their requests.

    These have no version, and cannot be read. Where the beginning of a connection was not captured, those before the
    first response that has its request are not counted separately.
    """

    frames: list[Captured]
    unpaired: int


def conversation(catalog: Catalog, number: int, connection: CapturedConnection) -> Conversation | None:
    """The requests and responses of a connection; None when it is not Kafka's protocol."""
    sign = request_sign(catalog.api_keys)
    sides = _sides(connection, sign)
    if sides is None:
        return None
    requests = list(_requests(sides, number, sign))
    known = frozenset(request.correlation_id for request in requests)
    responses = list(cut(sides.responses, response_sign(known), synchronized=sides.synchronized[1]))
    return _paired(sides, number, requests, responses)


def _sides(connection: CapturedConnection, sign: Sign) -> _Roles | None:
    """Which end is the client: its first frames look like requests."""
    runs = [direction.runs() for direction in connection.directions]
    known = [direction.synchronized for direction in connection.directions]
    scores = [_score(*pair, sign) for pair in zip(runs, known, strict=True)]
    if not max(scores):
        return None
    client = 0 if scores[0] >= scores[1] else 1
    ends, server = connection.ends, 1 - client
    return _Roles(ends[client], ends[server], runs[client], runs[server], (known[client], known[server]))


def _score(runs: list[Run], synchronized: bool, sign: Sign) -> int:
    """How many of the first frames look like requests, up to the first that does not."""
    whole = (frame for frame in cut(runs, sign, synchronized=synchronized) if frame.whole)
    looks = (
        not frame.problem and sign.test(frame.data, 0, len(frame.data)) for frame in itertools.islice(whole, ENOUGH)
    )
    return sum(itertools.takewhile(bool, looks))


def _requests(sides: _Roles, number: int, sign: Sign) -> Iterator[Captured]:
    tokens = False
    for frame in cut(sides.requests, sign, synchronized=sides.synchronized[0]):
        if tokens and not sign.test(frame.data, 0, len(frame.data)):
            continue  # after SaslHandshake 0 the mechanism's tokens come without headers
        key, version, correlation = struct.unpack_from(">hhi", frame.data) if len(frame.data) >= 8 else (-1, -1, -1)
        tokens = tokens or (key, version) == (SASL_HANDSHAKE, 0)
        yield _captured(sides, number, "request", frame, (key, version, correlation))


def _paired(sides: _Roles, number: int, requests: list[Captured], responses: list[Cut]) -> Conversation:
    """Each response beside the oldest request with its correlation id that is not answered yet."""
    waiting: dict[int, deque[int]] = {}
    for place, request in enumerate(requests):
        waiting.setdefault(request.correlation_id, deque()).append(place)
    answers: list[Captured] = []
    unpaired = 0
    for frame in responses:
        if frame.problem:
            answers.append(_captured(sides, number, "response", frame, (-1, -1, -1)))
            continue
        correlation = struct.unpack_from(">i", frame.data)[0] if len(frame.data) >= 4 else -1
        if not waiting.get(correlation):
            unpaired += 1
            continue
        place = waiting[correlation].popleft()
        request = requests[place]
        requests[place] = msgspec.structs.replace(request, answered=True)
        answers.append(_captured(sides, number, "response", frame, (request.api_key, request.api_version, correlation)))
    return Conversation([*requests, *answers], unpaired)


def _captured(sides: _Roles, number: int, direction: Direction, frame: Cut, named: tuple[int, int, int]) -> Captured:
    return Captured(
        number, sides.client, sides.server, direction, frame.time, frame.offset, *named, frame.data, frame.whole,
        problem=frame.problem,
    )  # fmt: skip
