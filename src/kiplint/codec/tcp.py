"""TCP connections of a capture: the bytes of both directions, and how each connection was opened and closed."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import NamedTuple

WRAP = 2**32
FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
LATE = 2**20
"""How many bytes of a stream may come before the SYN that opens it, where segments are out of order."""

Address = tuple[str, int]


@lru_cache(maxsize=4096)
def address_text(address: Address) -> str:
    """HOST:PORT."""
    return f"{address[0]}:{address[1]}"


class Segment(NamedTuple):
    """The relevant parts of a captured TCP segment; `time` is in seconds, `acknowledged` the next byte it expects."""

    time: float
    source: Address
    target: Address
    sequence: int
    flags: int
    data: bytes
    acknowledged: int = 0


class Arrival(NamedTuple):
    """Where the bytes of a segment begin in their direction, when they came, and what they acknowledge (0: nothing)."""

    offset: int
    time: float
    acknowledged: int


class Run(NamedTuple):
    """Bytes of one direction without a hole: their offset in the direction, and the segments that they came in."""

    offset: int
    data: bytes
    arrivals: tuple[Arrival, ...]

    def arrival_at(self, offset: int) -> Arrival:
        """The segment with the byte at an offset of the direction."""
        return self.arrivals[max(bisect_right(self.arrivals, (offset, math.inf)) - 1, 0)]


class SegmentStream:
    """One direction of a connection: its segments by their place after the first byte."""

    def __init__(self) -> None:
        self._origin: int | None = None
        self._newest = 0
        self._segments: list[tuple[int, bytes, float, int]] = []
        self._places: set[tuple[int, int]] = set()
        self._lowest, self._highest = math.inf, -math.inf
        self.synchronized = False
        self.retransmissions = 0

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
        place, size = self._place(sequence), len(segment.data)
        if (place, size) in self._places:
            self.retransmissions += 1
            return
        self._places.add((place, size))
        end = place + size
        self._newest = end if end > self._newest else self._newest
        self._highest = end if end > self._highest else self._highest
        ack = segment.acknowledged if segment.flags & ACK else 0
        self._segments.append((place, segment.data, segment.time, ack))

    def reaches(self, sequence: int) -> None:
        """Note that bytes were sent up to a sequence number, and no further at that time."""
        place = self._place(sequence)
        self._lowest = place if place < self._lowest else self._lowest
        self._highest = place if place > self._highest else self._highest

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
        self._segments = [(place + shift, data, time, ack) for place, data, time, ack in self._segments]
        self._places = {(place + shift, size) for place, size in self._places}
        self._newest += shift
        self._lowest += shift
        self._highest += shift
        self._origin, self.synchronized = sequence % WRAP, True

    @property
    def _first(self) -> float:
        """The place where offsets begin: after the SYN, or at the first byte that a segment has or acknowledges."""
        return 0 if self.synchronized else min(self._lowest, min(self._segments)[0] if self._segments else math.inf)

    @property
    def has_beginning(self) -> bool:
        """Whether no byte after the first request can be missing before the first that was captured."""
        return self.synchronized or self._lowest == self._first

    @property
    def reach(self) -> float:
        """The offset up to which bytes were sent, as other segments show too; below 0 if none shows it.

        A FIN, which takes a sequence number as a byte does, counts as one.
        """
        return self._highest - self._first

    def is_acknowledged(self, offset: int, ack: int) -> bool:
        """Whether the bytes before an offset are acknowledged by a sequence number."""
        ahead = ack - (self._origin or 0) - int(self._first) - offset
        return (ahead + WRAP // 2) % WRAP - WRAP // 2 >= 0

    def runs(self) -> list[Run]:
        """The bytes as runs without holes, in order; offsets begin after the SYN, or at the first byte known of."""
        segments = sorted(self._segments, key=lambda segment: (segment[0], -len(segment[1])))
        first = int(self._first) if segments else 0
        runs: list[tuple[int, list[bytes], list[Arrival]]] = []
        end = -1
        for place, data, time, ack in segments:
            if place < 0 and self.synchronized:
                continue  # a keep-alive repeats the byte before the stream
            offset = place - first
            if not runs or offset > end:
                runs.append((offset, [data], [Arrival(offset, time, ack)]))
            elif offset + len(data) > end:
                runs[-1][2].append(Arrival(end, time, ack))
                runs[-1][1].append(data[end - offset :])
            end = max(end, offset + len(data))
        return [Run(offset, b"".join(parts), tuple(arrivals)) for offset, parts, arrivals in runs]


class Ending(NamedTuple):
    """The first FIN or RST of a connection: when it came, the end that sent it (0 or 1), and whether it was a RST."""

    time: float
    side: int
    is_reset: bool


class TcpConnection:
    """Both directions between two addresses; the end that sent the first captured segment comes first."""

    def __init__(self, first: Address, second: Address) -> None:
        self.ends = (first, second)
        self.directions = (SegmentStream(), SegmentStream())
        self.first, self.last = math.inf, -math.inf
        """When the first and the latest segment came."""
        self.is_established = False
        """Whether an end acknowledged anything, other than by RST."""
        self.ending: Ending | None = None
        self._openers: set[int] = set()
        self._closers: set[int] = set()
        self._resetters: set[int] = set()
        self._latest = -1
        """The end that sent the latest segment other than a reset, if that has data."""
        self._latest_time = -math.inf

    def add(self, segment: Segment) -> None:
        """Add one segment of either direction."""
        time, source, _, _, flags, data, ack = segment
        side = int(source != self.ends[0])
        self.first = time if time < self.first else self.first
        self.last = time if time > self.last else self.last
        if flags & SYN:
            self._openers.add(1 - side if flags & ACK else side)
        if flags & (FIN | RST):
            self._closers.add(side)
            if self.ending is None or time < self.ending.time:
                self.ending = Ending(time, side, bool(flags & RST))
        if flags & RST:
            self._resetters.add(side)
        else:
            self.is_established = self.is_established or bool(flags & ACK or data)
            if time >= self._latest_time:
                self._latest_time, self._latest = time, side if data else -1
        self.directions[side].add(segment)
        if flags & ACK and ack:  # captures that a program wrote may have 0
            self.directions[1 - side].reaches(ack)

    def has_finished(self, side: int) -> bool:
        """Whether a FIN or RST of an end was captured."""
        return side in self._closers

    @property
    def opener(self) -> int | None:
        """The end that opened the connection; known only if its SYN or the answer to the SYN was captured."""
        return next(iter(self._openers)) if len(self._openers) == 1 else None

    def closed_by(self, side: int) -> bool:
        """Whether an end closed the connection, or the other end reset it because of data that was captured."""
        return side in self._closers or (1 - side in self._resetters and self._latest == side)

    @cached_property
    def runs(self) -> tuple[list[Run], list[Run]]:
        """The bytes of both directions, once all segments are there."""
        return self.directions[0].runs(), self.directions[1].runs()


def connections(segments: Iterable[Segment]) -> list[TcpConnection]:
    """The connections that segments belong to, in the order of their first segments."""
    current: dict[tuple[Address, Address], TcpConnection] = {}
    tcp_connections: list[TcpConnection] = []
    for segment in segments:
        source, target = segment.source, segment.target
        connection = current.get((source, target))
        if connection is None or (
            segment.flags & SYN and connection.directions[source != connection.ends[0]].opens_again(segment)
        ):
            connection = TcpConnection(source, target)
            current[source, target] = current[target, source] = connection
            tcp_connections.append(connection)
        connection.add(segment)
    return tcp_connections
