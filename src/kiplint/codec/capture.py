"""Captures, pcap or pcapng: their TCP segments, and the Kafka connections among them."""

from __future__ import annotations

import socket
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from kiplint.codec.catalog import Catalog
from kiplint.codec.conversation import Captured, conversations, number_frames
from kiplint.codec.state import ConnectionState
from kiplint.codec.tcp import Address, Segment, connections
from kiplint.limits import END_PACKETS, PACKETS, PAYLOAD, RECORDS
from kiplint.limits import Counter as Budget

PCAPNG = b"\x0a\x0d\x0d\x0a"
CAPTURES = (
    PCAPNG, b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1",
)  # fmt: skip
"""The magic numbers of pcapng, and of pcap in both byte orders, with times in micro- or nanoseconds."""


def is_capture(data: bytes) -> bool:
    """Whether bytes begin with the magic number of a capture."""
    return data[:4] in CAPTURES


class UnreadableCapture(Exception):  # noqa: N818
    """The file is not a capture; the message states why."""


class Packets(NamedTuple):
    """The TCP segments of a capture and the times of all packets, both in its order, and what the other packets are.

    `limited` is whether packets at the end were left out.
    """

    segments: Sequence[Segment]
    times: Sequence[float]
    unread: Counter[str]
    limited: bool = False


class Capture(msgspec.Struct, frozen=True):
    """The contents of a capture.

    `frames` are in the order in which they came; `states` has the state of each connection of Kafka by its number,
    `others` those of connections of other protocols, `protocols` their numbers by protocol; `unclear` counts
    connections that do not show which end is the client; `payload` counts the bytes of all segments, `retransmissions`
    the segments that were sent again; `seconds` is from the first packet to the last; `unpaired` counts responses whose
    requests were not captured, so that nobody can read them; `unread` counts packets without TCP by protocol.
    """

    frames: tuple[Captured, ...]
    packets: int
    payload: int
    retransmissions: int
    states: tuple[ConnectionState, ...]
    others: tuple[ConnectionState, ...]
    protocols: Counter[str]
    unclear: int
    seconds: float
    unpaired: int
    unread: Counter[str]
    limited: bool = False


def read_capture(catalog: Catalog, data: bytes, limit: int = RECORDS) -> Capture:
    """The Kafka frames of a capture. Reads as many packets as `limit` frames may need. Raises UnreadableCapture."""
    capture = read_segments(catalog, read_packets(data, limit), limit)
    return replace(capture, frames=capture.frames[:limit], limited=capture.limited or len(capture.frames) > limit)


def read_segments(catalog: Catalog, packets: Packets, limit: int = RECORDS) -> Capture:
    """The Kafka frames of TCP segments. If frames are left out, more than `limit` frames are returned."""
    streams = connections(packets.segments)
    talks = conversations(catalog, streams, limit)
    frames = [frame for conversation in talks.spoken for frame in conversation.frames]
    frames.sort(key=lambda frame: frame.time)  # at the same time by connection, its requests first
    first, last = min(packets.times, default=0.0), max(packets.times, default=0.0)
    return Capture(
        frames=tuple(number_frames(frames, first)),
        packets=len(packets.times),
        payload=sum(len(segment.data) for segment in packets.segments),
        retransmissions=sum(stream.retransmissions for connection in streams for stream in connection.directions),
        states=tuple(conversation.state for conversation in talks.spoken),
        others=tuple(talks.others),
        protocols=talks.protocols,
        unclear=talks.unclear,
        seconds=last - first,
        unpaired=sum(conversation.unpaired for conversation in talks.spoken),
        unread=packets.unread,
        limited=packets.limited,
    )


def read_packets(data: bytes, limit: int = RECORDS) -> Packets:
    """The packets of a capture, as many as `limit` frames need. Raises UnreadableCapture."""
    segments: list[Segment] = []
    times: list[float] = []
    unread: Counter[str] = Counter()
    packets, payload = (Budget(max(most * limit // RECORDS, most // 40)) for most in (PACKETS, PAYLOAD))
    directions: set[tuple[Address, Address]] = set()
    read = _pcapng if data[:4] == PCAPNG else _pcap
    for link, time, packet in read(data):
        try:
            content = read_packet(link, time, packet)
        except (struct.error, IndexError):
            content = "packets that are cut off"
        cost = 1
        if isinstance(content, Segment) and (ends := (content.source, content.target)) not in directions:
            directions.add(ends)
            cost += END_PACKETS
        if not packets.take(cost) or not payload.take(len(packet)):
            return Packets(segments, times, unread, limited=True)
        times.append(time)
        if isinstance(content, Segment):
            segments.append(content)
        else:
            unread[content] += 1
    return Packets(segments, times, unread)


Packet = tuple[int, float, bytes]
"""The link type of a packet, its time in seconds, and its bytes."""


def _pcap(data: bytes) -> Iterator[Packet]:
    """The packets of a pcap file, as far as it goes."""
    if len(data) < 24 or data[:4] not in CAPTURES:
        raise UnreadableCapture("cannot read the capture: its header is cut off")
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    fraction = 1e9 if b"\x3c" in data[1:3] else 1e6
    (link,) = struct.unpack_from(order + "I", data, 20)
    head, pos = struct.Struct(order + "IIII"), 24
    while pos + 16 <= len(data):
        seconds, rest, size, _ = head.unpack_from(data, pos)
        pos += 16 + size
        if pos > len(data):
            return
        yield link & 0xFFFF, seconds + rest / fraction, data[pos - size : pos]


SECTION, INTERFACE, SIMPLE, ENHANCED = 0x0A0D0D0A, 1, 3, 6
"""The types of blocks in pcapng."""
RESOLUTION, OFFSET = 9, 14
"""The options of an interface for its times: units in a second, as a power of 10 or 2, and seconds to add."""


def _pcapng(data: bytes) -> Iterator[Packet]:
    """The packets of a pcapng file, as far as it goes; each interface has its own link type and unit of time."""
    order, pos = "<", 0
    interfaces: list[tuple[int, float, int]] = []
    while pos + 12 <= len(data):
        if data[pos : pos + 4] == PCAPNG:
            order, interfaces = "<" if data[pos + 8 : pos + 12] == b"\x4d\x3c\x2b\x1a" else ">", []
        kind, size = struct.unpack_from(order + "II", data, pos)
        body = data[pos + 8 : pos + size - 4]
        pos += size
        if size < 12 or size % 4 or pos > len(data):
            return
        if kind == INTERFACE and len(body) >= 8:
            interfaces.append((int(struct.unpack_from(order + "H", body)[0]), *_clock(body[8:], order)))
        elif kind == ENHANCED and len(body) >= 20:
            number, high, low, length = struct.unpack_from(order + "IIII", body)
            if number < len(interfaces):
                link, unit, offset = interfaces[number]
                yield link, offset + (high << 32 | low) * unit, body[20 : 20 + length]
        elif kind == SIMPLE and interfaces:
            yield interfaces[0][0], 0.0, body[4:]


def _clock(options: bytes, order: str) -> tuple[float, int]:
    """The unit of an interface's times, in seconds, and the seconds to add."""
    unit, offset, pos = 1e-6, 0, 0
    while pos + 4 <= len(options):
        kind, size = struct.unpack_from(order + "HH", options, pos)
        value = options[pos + 4 : pos + 4 + size]
        if kind == RESOLUTION and size == 1:
            unit = 2.0 ** -(value[0] & 0x7F) if value[0] & 0x80 else 10.0 ** -value[0]
        elif kind == OFFSET and size == 8:
            (offset,) = struct.unpack(order + "q", value)
        pos += 4 + size + -size % 4
    return unit, offset


ETHERNET, SLL, SLL2 = 1, 113, 276
LINKS = {ETHERNET: (14, 12), SLL: (16, 14), SLL2: (20, 0), 0: (4, -1), 108: (4, -1)}
"""By link type: the bytes before IP, and where the type of the packet stands among them; other links have none."""
TAGS = (0x8100, 0x88A8)
"""The types of VLAN tags, which stand before the type of the packet."""
EXTENSIONS = (0, 43, 60)
"""The headers that may stand between IPv6 and TCP."""
TCP, UDP = 6, 17
PROTOCOLS = {1: "ICMP", UDP: "UDP", 47: "GRE", 50: "IPsec", 58: "ICMPv6", 132: "SCTP"}
VXLAN = (4789, 8472)
_PORTS = struct.Struct(">HH")
_IPV4 = struct.Struct(">2xH2xHxB2x8s")
_IPV6 = struct.Struct(">4xHBx32s")
_TCP = struct.Struct(">4xIIBB")


def read_packet(link: int, time: float, packet: bytes) -> Segment | str:
    """The TCP segment in a packet of a link, or what the packet has instead. Raises struct.error if it is cut off."""
    pos, place = LINKS.get(link, (0, -1))
    if place >= 0:
        kind = int.from_bytes(packet[place : place + 2], "big")
        while kind in TAGS and link == ETHERNET:
            kind, pos = int.from_bytes(packet[pos + 2 : pos + 4], "big"), pos + 4
        if kind not in (0x0800, 0x86DD):
            return "ARP" if kind == 0x0806 else "other protocols than IP"
    first = packet[pos]
    if first >> 4 == 4:
        size, fragment, protocol, hosts = _IPV4.unpack_from(packet, pos)
        if fragment & 0x1FFF:
            return "fragments of IP"
        end = pos + size if size else len(packet)  # 0 where the network card cuts the segment later
        pos += 4 * (first & 0x0F)
    elif first >> 4 == 6:
        size, protocol, hosts = _IPV6.unpack_from(packet, pos)
        pos += 40
        end = pos + size if size else len(packet)
        while protocol in EXTENSIONS:
            protocol, pos = packet[pos], pos + 8 * (packet[pos + 1] + 1)
    else:
        return "other protocols than IP"
    if protocol != TCP:
        tunnel = protocol == UDP and _PORTS.unpack_from(packet, pos)[1] in VXLAN
        return "VXLAN" if tunnel else PROTOCOLS.get(protocol, f"IP protocol {protocol}")
    sequence, ack, offset, flags = _TCP.unpack_from(packet, pos)
    source, target = _ends(hosts + packet[pos : pos + 4])
    return Segment(time, source, target, sequence, flags, packet[pos + (offset >> 4) * 4 : end], ack)


@lru_cache(maxsize=2**16)
def _ends(data: bytes) -> tuple[Address, Address]:
    """The source and target in the addresses and ports of a packet; packets of a connection share them."""
    family, size = (socket.AF_INET, 4) if len(data) == 12 else (socket.AF_INET6, 16)
    source, target = (socket.inet_ntop(family, host) for host in (data[:size], data[size:-4]))
    ports = _PORTS.unpack(data[-4:])
    return (source, ports[0]), (target, ports[1])
