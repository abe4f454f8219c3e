"""Captures, pcap or pcapng: their TCP segments, and the Kafka connections among them (dpkt)."""

from __future__ import annotations

import io
import socket
from typing import Any

import msgspec

from kiplint.codec.catalog import Catalog
from kiplint.codec.conversation import Captured, conversation
from kiplint.codec.tcp import Segment, connections

NULL, ETHERNET, RAW, SLL, SLL2 = (0, 108), (1,), (12, 14, 101, 228, 229), (113,), (276,)


class Capture(msgspec.Struct, frozen=True):
    """What a capture has. `frames` are in the order in which they came; `others` counts connections of other protocols.

    `payload` counts the bytes of all segments, `repeated` those segments that came again; `seconds` is from the first
    packet to the last; `unpaired` counts responses whose requests were not captured, so that nobody can read them.
    """

    frames: tuple[Captured, ...]
    packets: int
    payload: int
    repeated: int
    connections: int
    others: int
    seconds: float
    unpaired: int


class UnreadableCapture(Exception):  # noqa: N818
    """The file is no capture, or the package that reads captures is not there; the text says which."""


def read_capture(catalog: Catalog, data: bytes) -> Capture:
    """The Kafka frames of a capture. Raises UnreadableCapture."""
    segments, packets, seconds = _segments(data)
    streams = connections(segments)
    frames: list[Captured] = []
    kafka = others = repeated = unpaired = 0
    for connection in streams:
        repeated += sum(one.repeated for one in connection.directions)
        found = conversation(catalog, kafka, connection)
        if found is None:
            others += 1
        else:
            kafka += 1
            frames += found.frames
            unpaired += found.unpaired
    frames.sort(key=lambda one: (one.time, one.connection, one.direction != "request", one.stream_offset))
    payload = sum(len(segment.data) for segment in segments)
    return Capture(tuple(frames), packets, payload, repeated, kafka, others, seconds, unpaired)


def _segments(data: bytes) -> tuple[list[Segment], int, float]:
    """The TCP segments in the order of the capture, how many packets there are, and how long they took."""
    try:
        import dpkt
    except ImportError:
        raise UnreadableCapture("captures are read by dpkt: pip install 'kiplint[bytes]'") from None
    try:
        reader = dpkt.pcap.UniversalReader(io.BytesIO(data))
    except (ValueError, dpkt.Error) as error:
        raise UnreadableCapture(f"no capture that dpkt can read: {error}") from None
    link = reader.datalink()
    segments, packets, times = [], 0, []
    packet_reader = iter(reader)
    while True:
        try:
            time, packet = next(packet_reader)
        except StopIteration:
            break
        except Exception:  # a capture that was cut off: what came before is read
            break
        packets += 1
        times.append(float(time))
        if found := _segment(dpkt, link, float(time), packet):
            segments.append(found)
    return segments, packets, max(times) - min(times) if times else 0.0


def _segment(dpkt: Any, link: int, time: float, packet: bytes) -> Segment | None:
    try:
        network = _network(dpkt, link, packet)
        tcp = network.data
        if not isinstance(tcp, dpkt.tcp.TCP):
            return None
        family = socket.AF_INET if len(network.src) == 4 else socket.AF_INET6
        source, target = (socket.inet_ntop(family, address) for address in (network.src, network.dst))
        return Segment(time, (source, tcp.sport), (target, tcp.dport), tcp.seq, tcp.flags, bytes(tcp.data))
    except Exception:  # packets of other protocols, or cut off: none of ours
        return None


def _network(dpkt: Any, link: int, packet: bytes) -> Any:
    """The IP packet inside a packet of the link."""
    if link in ETHERNET:
        return dpkt.ethernet.Ethernet(packet).data
    if link in SLL:
        return dpkt.sll.SLL(packet).data
    if link in SLL2:
        return dpkt.sll2.SLL2(packet).data
    inner = packet[4:] if link in NULL else packet
    return dpkt.ip6.IP6(inner) if inner[0] >> 4 == 6 else dpkt.ip.IP(inner)
