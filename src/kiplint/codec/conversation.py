"""The conversation on a captured connection: its requests, and the responses that belong to them."""

from __future__ import annotations

import itertools
import math
import re
import struct
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from kiplint.codec.catalog import Catalog
from kiplint.codec.frames import Direction, Frame, decode_request, decode_response
from kiplint.codec.problems import ByteProblem
from kiplint.limits import FRAME_BYTES, RECORDS

WRAP = 2**32
FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
LATE = 2**20
"""How many bytes of a stream may come before the SYN that opens it, where segments are out of order."""

Address = tuple[str, int]


class Segment(NamedTuple):
    """The relevant parts of a captured TCP segment; `time` is in seconds, `acknowledged` the next byte it expects."""

    time: float
    source: Address
    target: Address
    sequence: int
    flags: int
    data: bytes
    acknowledged: int = 0


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
        self._seen: set[tuple[int, int]] = set()
        self._lowest, self._highest = math.inf, -math.inf
        self.synchronized = False
        self.repeated = 0

    def opens_again(self, segment: Segment) -> bool:
        """Whether a SYN begins another connection with the same addresses."""
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
            self.reaches(sequence)
            return
        place = self._place(sequence)
        if (place, len(segment.data)) in self._seen:
            self.repeated += 1
            return
        self._seen.add((place, len(segment.data)))
        self._newest = max(self._newest, place + len(segment.data))
        self._highest = max(self._highest, place + len(segment.data))
        self._segments.append((place, segment.data, segment.time))

    def reaches(self, sequence: int) -> None:
        """Note that bytes were sent up to a sequence number, and no further at that time."""
        place = self._place(sequence)
        self._lowest, self._highest = min(self._lowest, place), max(self._highest, place)

    def _place(self, sequence: int) -> int:
        """The place that is nearest to the newest data: sequence numbers wrap around in a long stream."""
        if self._origin is None:
            self._origin = sequence
        return self._newest + (sequence - self._origin - self._newest + WRAP // 2) % WRAP - WRAP // 2

    def _open(self, sequence: int) -> None:
        """Note where the stream begins, also when bytes of it came before."""
        shift = ((self._origin if self._origin is not None else sequence) - sequence) % WRAP
        if not shift and self.synchronized:
            return  # the same SYN again, perhaps thousands of times
        self._segments = [(place + shift, data, time) for place, data, time in self._segments]
        self._seen = {(place + shift, size) for place, size in self._seen}
        self._newest += shift
        self._lowest += shift
        self._highest += shift
        self._origin, self.synchronized = sequence % WRAP, True

    @property
    def _first(self) -> float:
        """The place where offsets begin: behind the SYN, or at the first byte that a segment has or names."""
        return 0 if self.synchronized else min(self._lowest, min(self._segments)[0] if self._segments else math.inf)

    @property
    def begun(self) -> bool:
        """Whether no byte after the first request can be missing before the first that was captured."""
        return self.synchronized or self._lowest == self._first

    @property
    def reach(self) -> float:
        """The offset up to which bytes were sent, as other segments show too; below 0 if none shows it."""
        return self._highest - self._first

    def runs(self) -> list[Run]:
        """The bytes as runs without holes, in order; offsets begin behind the SYN, or at the first byte known of."""
        ordered = sorted(self._segments, key=lambda segment: (segment[0], -len(segment[1])))
        first = int(self._first) if ordered else 0
        runs: list[tuple[int, list[bytes], list[tuple[int, float]]]] = []
        end = -1
        for place, data, time in ordered:
            if place < 0 and self.synchronized:
                continue  # a keep-alive repeats the byte before the stream
            offset = place - first
            if not runs or offset > end:
                runs.append((offset, [data], [(offset, time)]))
            elif offset + len(data) > end:
                runs[-1][2].append((end, time))
                runs[-1][1].append(data[end - offset :])
            end = max(end, offset + len(data))
        return [Run(offset, b"".join(parts), tuple(times)) for offset, parts, times in runs]


class CapturedConnection:
    """Both directions between two addresses; the end that sent the first captured segment comes first."""

    def __init__(self, first: Address, second: Address) -> None:
        self.ends = (first, second)
        self.directions = (SegmentStream(), SegmentStream())
        self._openers: set[int] = set()
        self._closers: set[int] = set()
        self._resetters: set[int] = set()
        self._latest = (-math.inf, -1)
        """The time of the latest segment but resets, and its end if it has data."""

    def add(self, segment: Segment) -> None:
        """Take one segment of either direction."""
        side = int(segment.source != self.ends[0])
        if segment.flags & SYN:
            self._openers.add(1 - side if segment.flags & ACK else side)
        if segment.flags & (FIN | RST):
            self._closers.add(side)
        if segment.flags & RST:
            self._resetters.add(side)
        else:
            self._latest = max(self._latest, (segment.time, side if segment.data else -1))
        self.directions[side].add(segment)
        if segment.flags & ACK and segment.acknowledged:  # captures that a program wrote may have 0
            self.directions[1 - side].reaches(segment.acknowledged)

    @property
    def opener(self) -> int | None:
        """The end that opened the connection; known only if its SYN or the answer to the SYN was captured."""
        return next(iter(self._openers)) if len(self._openers) == 1 else None

    def closed_by(self, side: int) -> bool:
        """Whether an end closed the connection, or the other end reset it because of data that was captured."""
        return side in self._closers or (1 - side in self._resetters and self._latest[1] == side)

    @cached_property
    def runs(self) -> tuple[list[Run], list[Run]]:
        """The bytes of both directions, once all segments are there."""
        return self.directions[0].runs(), self.directions[1].runs()


def connections(segments: Iterable[Segment]) -> list[CapturedConnection]:
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
    """How to recognise the frames of one direction.

    `pattern` matches the possible beginnings of a frame: its length and first bytes. `test` takes bytes, the position
    after a length, and this length; it returns whether a frame may start there, and `header` whether a broken frame
    may. `reads` returns whether a frame can be decoded to its last byte, `linked` whether frames at two positions may
    belong to the same stream.
    """

    pattern: re.Pattern[bytes]
    header: Callable[[bytes, int, int], bool]
    test: Callable[[bytes, int, int], bool]
    reads: Callable[[bytes], bool]
    linked: Callable[[bytes, int, int], bool]


def request_sign(catalog: Catalog) -> Sign:
    """Requests have a known API key, a version, and a client id that is text and equal in the next request."""
    known = frozenset(catalog.api_keys)

    def header(data: bytes, pos: int, size: int) -> bool:
        # In a frame whose length was lost, the correlation id may be read as a length, and the client id as a version.
        return min(size, len(data) - pos) >= 8 and 0 <= struct.unpack_from(">h", data, pos + 2)[0] <= HIGHEST_VERSION

    def test(data: bytes, pos: int, size: int) -> bool:
        if not header(data, pos, size) or struct.unpack_from(">h", data, pos)[0] not in known:
            return False
        if size < 10 or len(data) - pos < 10:
            return size == 8
        (length,) = struct.unpack_from(">h", data, pos + 8)
        name = data[pos + 10 : pos + 10 + max(length, 0)]
        return -1 <= length <= size - 10 and all(byte >= 0x20 for byte in name)

    def linked(data: bytes, pos: int, following: int) -> bool:
        size = 2 + int.from_bytes(data[pos + 8 : pos + 10], "big", signed=True)
        return size > 2 and data[pos + 8 : pos + 8 + size] == data[following + 8 : following + 8 + size]

    pattern = re.compile(rb"(?=(?!\0\0\0[\0-\x07])[\0-\x06][\s\S]{5}\0[\0-\x3c])")
    return Sign(pattern, header, test, lambda frame: not decode_request(catalog, frame).problems, linked)


def response_sign(catalog: Catalog, requests: Sequence[Captured]) -> Sign:
    """Responses have the correlation id of a captured request, and come in the order of the requests."""
    order: dict[int, list[int]] = {}
    for place, request in enumerate(requests):
        order.setdefault(request.correlation_id, []).append(place)

    def header(data: bytes, pos: int, size: int) -> bool:
        return min(size, len(data) - pos) >= 4

    def test(data: bytes, pos: int, size: int) -> bool:
        return header(data, pos, size) and struct.unpack_from(">i", data, pos)[0] in order

    def reads(frame: bytes) -> bool:
        places = order.get(int.from_bytes(frame[:4], "big", signed=True), ())
        kinds = {(requests[place].api_key, requests[place].api_version) for place in places}
        return any(not decode_response(catalog, *kind, frame).problems for kind in kinds)

    def linked(data: bytes, pos: int, following: int) -> bool:
        places, others = (order[struct.unpack_from(">i", data, start)[0]] for start in (pos, following))
        return places[0] < others[-1]

    first = b"".join(sorted({re.escape(struct.pack(">i", number)[:1]) for number in order}))
    known = rb"(?=(?!\0\0\0[\0-\x03])[\0-\x06][\s\S]{3}[" + first + rb"])"
    pattern = re.compile(known if first else rb"(?!)")
    return Sign(pattern, header, test, reads, linked)


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
        if 0 <= size <= FRAME_BYTES:
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
    """The first offset that is certainly a frame, -1 if there is none. If lengths lead from the start of the run to
    that frame, the run begins with a frame. Reading candidates may take a few times as many bytes as the run has.
    """
    data, budget = run.data, 16 * len(run.data) + MOST_WALKED
    walk = list(itertools.islice(_walk(data, sign), ENOUGH)) if pos == 0 else []
    matches = (match.start() for match in sign.pattern.finditer(data, pos))
    for place, start in itertools.chain(((place, 0) for place in walk), ((place, place) for place in matches)):
        size = int.from_bytes(data[place : place + 4], "big")
        after = place + 4 + size
        if after > len(data) or not sign.test(data, place + 4, size):
            continue
        following = sign.test(data, after + 4, int.from_bytes(data[after : after + 4], "big"))
        if following and sign.linked(data, place + 4, after + 4):
            return start
        budget -= size
        if budget < 0:
            break
        if (following or len(data) - after < 12) and sign.reads(data[place + 4 : after]):
            return start
    return -1


def _walk(data: bytes, sign: Sign) -> Iterator[int]:
    """Where frames begin if the bytes begin with a frame."""
    pos = 0
    while pos <= len(data) - 4:
        size = int.from_bytes(data[pos : pos + 4], "big", signed=True)
        if size > FRAME_BYTES or not sign.header(data, pos + 4, size):
            return
        yield pos
        pos += 4 + size


SASL_HANDSHAKE = 17
ENOUGH = 16
"""How many frames of a direction decide whether it has requests, or where its frames begin."""
MOST_WALKED = 2**20


class Captured(msgspec.Struct, frozen=True):
    """One frame of a connection. `stream_offset` is where its length stands in the bytes of its direction.

    `answered` is true for a request whose response was captured, and None where the capture lacks the bytes that would
    show it. A request that is not answered is `pending` if the capture ended first: no later request is answered, and
    the connection was open. `whole` is false where the capture lacks bytes of the frame. `exchange` is the place of the
    request among those of the connection, for the request and its response; -1 where it is not known. `opening` marks
    the first request of a connection that was captured from its beginning.

    In a capture `number` counts the frames from 1 on, `elapsed` is in seconds since the first packet; a response has
    the number of its `request`, and the `latency` since then in milliseconds.
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
    answered: bool | None = False
    pending: bool = False
    problem: ByteProblem | None = None
    exchange: int = -1
    opening: bool = False
    number: int = 0
    elapsed: float = 0.0
    request: int | None = None
    latency: float | None = None

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
    stream: SegmentStream
    """The stream of the responses."""
    closed: bool
    """Whether the server closed the connection."""


class Conversation(NamedTuple):
    """The frames of a connection, requests first, then responses; `unpaired` counts responses without their requests.

    These have no version, and cannot be read. Where the beginning of a connection was not captured, those before the
    first response that has its request are not counted separately.
    """

    frames: list[Captured]
    unpaired: int


class Conversations(NamedTuple):
    """The conversations of Kafka's connections, and the number of other or undecided connections."""

    spoken: list[Conversation]
    others: int
    unclear: int


def conversations(catalog: Catalog, streams: Sequence[CapturedConnection], limit: int = RECORDS) -> Conversations:
    """The requests and responses of every connection.

    Which end is the client is shown by who opened the connection, else by what reads and is answered, else by an
    address that serves other connections. A connection has the frames that the first `limit` of all can be; where
    there are more than twice as many, the last connections have fewer.
    """
    left = 2 * limit + 2
    sign = request_sign(catalog)
    verdicts = [_verdict(catalog, connection, sign) for connection in streams]
    served = {connection.ends[1 - verdict.client] for connection, verdict in zip(streams, verdicts, strict=True)
              if verdict.sure and verdict.client is not None}  # fmt: skip
    spoken: list[Conversation] = []
    others = unclear = 0
    for connection, verdict in zip(streams, verdicts, strict=True):
        client = verdict.client
        serving = [end in served for end in connection.ends]
        if not verdict.sure and serving[0] != serving[1] and not connection.directions[serving[0]].synchronized:
            client = int(serving[0])
        if client is not None:
            most = min(limit + 1, left)
            spoken.append(_conversation(catalog, len(spoken), _roles(connection, client), sign, most))
            left = max(left - len(spoken[-1].frames), 0)
        elif verdict.alike:
            unclear += 1
        else:
            others += 1
    return Conversations(spoken, others, unclear)


class _Verdict(NamedTuple):
    client: int | None
    sure: bool
    alike: bool


def _verdict(catalog: Catalog, connection: CapturedConnection, sign: Sign) -> _Verdict:
    """The end that is the client: its frames decode as requests, and the other end answers them."""
    first = [list(itertools.islice(_requests(_roles(connection, side), 0, sign), ENOUGH)) for side in (0, 1)]
    alike = [[request for request in requests if _looks(request, sign)] for requests in first]
    if connection.opener is not None:
        return _Verdict(connection.opener if alike[connection.opener] else None, any(alike), any(alike))
    weights = [_weight(catalog, _roles(connection, side), alike[side], sign) for side in (0, 1)]
    client = 0 if weights[0] > weights[1] else 1
    strong, weak = weights[client], weights[1 - client]
    if strong == weak or (weak and strong < 3 * weak):
        return _Verdict(None, False, any(alike))
    return _Verdict(client, strong > 1, True)


def _looks(request: Captured, sign: Sign) -> bool:
    return request.whole and not request.problem and sign.test(request.data, 0, len(request.data))


def _weight(catalog: Catalog, roles: _Roles, requests: list[Captured], sign: Sign) -> int:
    """How many requests read to the last byte, or are answered, if some read or several are answered."""
    answers = response_sign(catalog, requests)
    cuts = itertools.islice(cut(roles.responses, answers, synchronized=roles.synchronized[1]), ENOUGH)
    answered = sum(frame.whole and answers.reads(frame.data) for frame in cuts)
    reading = sum(sign.reads(request.data) for request in requests)
    return reading + answered if reading or answered > 1 else 0


def _roles(connection: CapturedConnection, client: int) -> _Roles:
    ends, server, streams = connection.ends, 1 - client, connection.directions
    known = (streams[client].synchronized, streams[server].synchronized)
    runs = connection.runs
    closed = connection.closed_by(server)
    return _Roles(ends[client], ends[server], runs[client], runs[server], known, streams[server], closed)


def _conversation(catalog: Catalog, number: int, roles: _Roles, sign: Sign, most: int) -> Conversation:
    requests = list(itertools.islice(_requests(roles, number, sign), most))
    responses = cut(roles.responses, response_sign(catalog, requests), synchronized=roles.synchronized[1])
    return _paired(roles, number, requests, list(itertools.islice(responses, most)))


def _blind_until(responses: list[Cut], stream: SegmentStream) -> float:
    """Until when responses may be lost: the time of the frame after the last bytes that are in none."""
    pos, until = 0 if stream.begun else -1, -math.inf
    for frame in responses:
        until = until if frame.offset == pos else frame.time
        pos = frame.offset + 4 + len(frame.data) if frame.whole else -1
    return until if pos >= max(stream.reach, 0) else math.inf


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
        requests[place] = replace(request, answered=True)
        named = request.api_key, request.api_version, correlation
        answers.append(replace(_captured(sides, number, "response", frame, named), exchange=place))
    blind = _blind_until(responses, sides.stream)
    latest = len(requests) if sides.closed else max((answer.exchange for answer in answers), default=-1)
    known = (
        replace(
            request,
            exchange=place,
            opening=place == request.stream_offset == 0 and sides.synchronized[0],
            answered=request.answered or (None if request.time < blind else False),
            pending=place > latest,
        )
        for place, request in enumerate(requests)
    )
    return Conversation([*known, *answers], unpaired)


def numbered(frames: Sequence[Captured], start: float) -> Iterator[Captured]:
    """The frames of a capture, in their order, with their numbers; `start` is the time of the first packet."""
    requests = {
        (frame.connection, frame.exchange): (number, frame.time)
        for number, frame in enumerate(frames, 1)
        if frame.direction == "request"
    }
    for number, frame in enumerate(frames, 1):
        elapsed = round(frame.time - start, 6)
        request = requests.get((frame.connection, frame.exchange)) if frame.direction == "response" else None
        if request is None:
            yield replace(frame, number=number, elapsed=elapsed)
        else:
            latency = round(max(frame.time - request[1], 0) * 1000, 3)
            yield replace(frame, number=number, elapsed=elapsed, request=request[0], latency=latency)


def _captured(sides: _Roles, number: int, direction: Direction, frame: Cut, named: tuple[int, int, int]) -> Captured:
    return Captured(
        number, sides.client, sides.server, direction, frame.time, frame.offset, *named, frame.data, frame.whole,
        problem=frame.problem,
    )  # fmt: skip
