"""TCP streams out of the segments of a capture, which may be lost, repeated, out of order, or begin in the middle."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

WRAP = 2**32
SYN = 0x02
LATE = 2**20
"""How many bytes of a stream may be seen before the SYN that opens it, where segments are out of order."""

Address = tuple[str, int]


class Segment(NamedTuple):
    """What counts of one captured segment; `time` is in seconds."""

    time: float
    source: Address
    target: Address
    sequence: int
    flags: int
    data: bytes


class Run(NamedTuple):
    """Bytes of one direction without a hole: where they stand in it, and when each segment of them came."""

    offset: int
    data: bytes
    times: tuple[tuple[int, float], ...]

    def time_at(self, offset: int) -> float:
        """When the byte at an offset of the direction came."""
        at = bisect_right(self.times, offset, key=lambda one: one[0])
        return self.times[max(at - 1, 0)][1]


class Direction:
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
        # The place nearest to the newest one, so that streams may be longer than sequence numbers.
        place = self._newest + (sequence - self._origin - self._newest + WRAP // 2) % WRAP - WRAP // 2
        if (place, len(segment.data)) in self._seen:
            self.repeated += 1
            return
        self._seen.add((place, len(segment.data)))
        self._newest = max(self._newest, place + len(segment.data))
        self._segments.append((place, segment.data, segment.time))

    def _open(self, sequence: int) -> None:
        """Note where the stream begins, also when bytes of it were seen before."""
        shift = ((self._origin if self._origin is not None else sequence) - sequence) % WRAP
        if not shift and self.synchronized:
            return  # the same SYN again, perhaps thousands of times
        self._segments = [(place + shift, data, time) for place, data, time in self._segments]
        self._seen = {(place + shift, size) for place, size in self._seen}
        self._newest += shift
        self._origin, self.synchronized = sequence % WRAP, True

    def runs(self) -> list[Run]:
        """The bytes as runs without holes, in order; offsets begin behind the SYN, or at the first byte seen."""
        ordered = sorted(self._segments, key=lambda one: (one[0], -len(one[1])))
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


class Connection:
    """Both directions between two addresses, told by who is first seen to send."""

    def __init__(self, one: Address, other: Address) -> None:
        self.ends = (one, other)
        self.directions = (Direction(), Direction())

    def add(self, segment: Segment) -> None:
        """Take one segment of either direction."""
        self.directions[segment.source != self.ends[0]].add(segment)


def connections(segments: list[Segment]) -> list[Connection]:
    """The connections that segments belong to, in the order of their first segments."""
    current: dict[frozenset[Address], Connection] = {}
    found: list[Connection] = []
    for segment in segments:
        key = frozenset((segment.source, segment.target))
        known = current.get(key)
        if known is None or (
            segment.flags & SYN and known.directions[segment.source != known.ends[0]].opens_again(segment)
        ):
            known = current[key] = Connection(segment.source, segment.target)
            found.append(known)
        known.add(segment)
    return found
