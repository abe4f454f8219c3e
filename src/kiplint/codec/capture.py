"""Captures, pcap or pcapng: their TCP segments, and the Kafka connections among them (dpkt)."""

from __future__ import annotations

import io
import socket
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from kiplint.codec.catalog import Catalog
from kiplint.codec.conversation import Address, Captured, Segment, connections, conversations, numbered
from kiplint.codec.frames import API_VERSIONS, Frame
from kiplint.limits import PACKETS, PAYLOAD, RECORDS
from kiplint.limits import Counter as Budget
from kiplint.model.error_codes import ErrorCode

NAME, VERSION = "clientSoftwareName", "clientSoftwareVersion"
NULL, ETHERNET, RAW, SLL, SLL2 = (0, 108), (1,), (12, 14, 101, 228, 229), (113,), (276,)


class Capture(msgspec.Struct, frozen=True):
    """The contents of a capture.

    `frames` are in the order in which they came; `others` counts connections of other protocols, `unclear` those that
    do not show which end is the client; `payload` counts the bytes of all segments, `repeated` the retransmitted
    segments; `seconds` is from the first packet to the last; `unpaired` counts responses whose requests were not
    captured, so that nobody can read them; `limited` is whether packets at the end were left out.
    """

    frames: tuple[Captured, ...]
    packets: int
    payload: int
    repeated: int
    connections: int
    others: int
    unclear: int
    seconds: float
    unpaired: int
    limited: bool = False


CAPTURES = (
    b"\x0a\x0d\x0d\x0a", b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1",
)  # fmt: skip
"""How pcapng begins, and pcap in both orders of bytes, with times in micro- or nanoseconds."""


def is_capture(data: bytes) -> bool:
    """Whether bytes begin as a capture."""
    return data[:4] in CAPTURES


class UnreadableCapture(Exception):  # noqa: N818
    """The file is not a capture, or the package that reads captures is missing; the message states which."""


def read_capture(catalog: Catalog, data: bytes, limit: int = RECORDS) -> Capture:
    """The Kafka frames of a capture. Reads as many packets as `limit` frames may need. Raises UnreadableCapture."""
    segments, times, limited = captured_segments(data, limit)
    capture = read_segments(catalog, segments, times, limit)
    return replace(capture, frames=capture.frames[:limit], limited=limited or len(capture.frames) > limit)


def read_segments(
    catalog: Catalog, segments: Sequence[Segment], times: Sequence[float], limit: int = RECORDS
) -> Capture:
    """The Kafka frames of TCP segments; `times` are those of all packets.

    If frames are left out, more than `limit` frames are returned.
    """
    streams = connections(segments)
    known = conversations(catalog, streams, limit)
    frames = [frame for conversation in known.spoken for frame in conversation.frames]
    repeated = sum(stream.repeated for connection in streams for stream in connection.directions)
    frames.sort(key=lambda frame: (frame.time, frame.connection, frame.direction != "request", frame.stream_offset))
    payload = sum(len(segment.data) for segment in segments)
    unpaired = sum(conversation.unpaired for conversation in known.spoken)
    return Capture(
        frames=tuple(numbered(frames, min(times, default=0.0))),
        packets=len(times),
        payload=payload,
        repeated=repeated,
        connections=len(known.spoken),
        others=known.others,
        unclear=known.unclear,
        seconds=max(times) - min(times) if times else 0.0,
        unpaired=unpaired,
    )


def captured_segments(data: bytes, limit: int = RECORDS) -> tuple[list[Segment], list[float], bool]:
    """The TCP segments, the times of all packets, and whether packets were left out, as `limit` frames need fewer.

    Segments and times are in the order of the capture.
    """
    try:
        import dpkt
    except ImportError:
        raise UnreadableCapture("captures are read by dpkt: pip install 'kiplint[bytes]'") from None
    try:
        reader = dpkt.pcap.UniversalReader(io.BytesIO(data))
    except (ValueError, LookupError, ArithmeticError, struct.error, dpkt.Error) as error:
        raise UnreadableCapture(f"cannot read the capture: {error}") from None
    link = reader.datalink()
    segments: list[Segment] = []
    times: list[float] = []
    packets, payload = (Budget(max(most * limit // RECORDS, most // 40)) for most in (PACKETS, PAYLOAD))
    ends: set[tuple[Address, Address]] = set()
    packet_reader = iter(reader)
    while True:
        try:
            time, packet = next(packet_reader)
        except StopIteration:
            break
        except MemoryError:
            raise
        except Exception:  # a capture that was cut off: what came before is read
            break
        segment = _segment(dpkt, link, float(time), packet)
        count = len(ends)
        if segment:
            ends.add((segment.source, segment.target))
        if not packets.take(1 + 10 * (len(ends) - count)) or not payload.take(len(packet)):
            return segments, times, True
        times.append(float(time))
        if segment:
            segments.append(segment)
    return segments, times, False


def _segment(dpkt: Any, link: int, time: float, packet: bytes) -> Segment | None:
    try:
        network = _network(dpkt, link, packet)
        tcp = network.data
        if not isinstance(tcp, dpkt.tcp.TCP):
            return None
        family = socket.AF_INET if len(network.src) == 4 else socket.AF_INET6
        source, target = (socket.inet_ntop(family, address) for address in (network.src, network.dst))
        return Segment(time, (source, tcp.sport), (target, tcp.dport), tcp.seq, tcp.flags, bytes(tcp.data), tcp.ack)
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


class Latency(msgspec.Struct, frozen=True):
    """How long answers took, in milliseconds, as percentiles (nearest rank)."""

    answers: int
    p50: float
    p95: float
    max: float

    @classmethod
    def of(cls, times: Iterable[float]) -> Latency | None:
        """The latency of answers, None without any."""
        ranked = sorted(times)
        p50, p95 = (ranked[-(-percent * len(ranked) // 100) - 1] if ranked else 0.0 for percent in (50, 95))
        return cls(len(ranked), p50, p95, ranked[-1]) if ranked else None


class ConnectionTraffic(msgspec.Struct, frozen=True):
    """The ends and frames of a connection."""

    connection: int
    client: Annotated[str, Meta(description="HOST:PORT.")]
    server: Annotated[str, Meta(description="HOST:PORT.")]
    requests: int
    responses: int
    unanswered: int
    client_ids: list[str]
    software: Annotated[str, Meta(description="The client's software and its version, from ApiVersions.")]
    api_versions: Annotated[list[int], Meta(description="The versions of ApiVersions that the client tried, in order.")]


class ErrorTraffic(ErrorCode, frozen=True):
    """How often an error code was sent, and in how many responses."""

    count: int
    frames: int


class ApiTraffic(msgspec.Struct, frozen=True):
    """The frames of one version of an RPC."""

    api_key: int
    api_version: int
    name: Annotated[str, Meta(description="Empty where no set has the RPC.")]
    requests: int
    responses: int
    request_bytes: int
    response_bytes: int
    offered: Annotated[str, Meta(description="The versions that servers offered in ApiVersions, empty if unknown.")]
    failed: Annotated[int, Meta(description="The responses with an error code that is not 0.")]
    latency: Latency | None


class FrameKey(msgspec.Struct, frozen=True):
    """What identifies a frame."""

    api_key: int
    api_version: int
    client_port: int
    correlation_id: int


class UnansweredRequest(FrameKey, frozen=True):
    """A request without a captured response."""

    pending: Annotated[
        bool | UnsetType,
        Meta(description="True if the capture ended first: no later request is answered, and the connection is open."),
    ] = UNSET


class BrokenFrame(FrameKey, frozen=True):
    """The first problem of a frame."""

    direction: str
    stream_offset: Annotated[int, Meta(description="In bytes from the start of the direction's stream.")]
    rule: str
    offset: Annotated[int, Meta(description="In bytes from the start of the frame.")]
    message: str
    number: Annotated[int, Meta(description="The place of the frame in the capture, from 1 on.")]


class CaptureSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a capture."""

    packets: int
    payload_bytes: int
    retransmitted_segments: int
    seconds: float
    tcp_connections: int
    other_connections: Annotated[int, Meta(description="TCP connections of other protocols.")]
    unclear_connections: Annotated[int, Meta(description="Connections that do not show which end is the client.")]
    server: Annotated[str | None, Meta(description="HOST:PORT, null unless there is exactly one.")]
    servers: list[str]
    frames: int
    requests: int
    responses: int
    unpaired_responses: Annotated[int, Meta(description="Responses without a captured request.")]
    incomplete: Annotated[int, Meta(description="Frames that were not captured to their end.")]
    connections: list[ConnectionTraffic]
    by_api: list[ApiTraffic]
    errors: list[ErrorTraffic]
    latency: Latency | None
    client_ids: Annotated[dict[str, int], Meta(description="The number of requests by client id.")]
    unanswered: list[UnansweredRequest]
    problems: list[BrokenFrame]


def summarize(catalog: Catalog, capture: Capture, frames: Sequence[Frame]) -> CaptureSummary:
    """The summary of a capture; `frames` are its frames, decoded, in their order."""
    pairs = list(zip(capture.frames, frames, strict=True))
    requests = sum(captured.direction == "request" for captured in capture.frames)
    servers = sorted({f"{captured.server[0]}:{captured.server[1]}" for captured in capture.frames})
    return CaptureSummary(
        packets=capture.packets,
        payload_bytes=capture.payload,
        retransmitted_segments=capture.repeated,
        seconds=round(capture.seconds, 1),
        tcp_connections=capture.connections,
        other_connections=capture.others,
        unclear_connections=capture.unclear,
        server=servers[0] if len(servers) == 1 else None,
        servers=servers,
        frames=len(capture.frames),
        requests=requests,
        responses=len(capture.frames) - requests,
        unpaired_responses=capture.unpaired,
        incomplete=sum(not captured.whole for captured in capture.frames),
        connections=[*_connections(pairs)],
        by_api=_by_api(catalog, pairs),
        errors=_errors(frames),
        latency=Latency.of(captured.latency for captured in capture.frames if captured.latency is not None),
        client_ids=_client_ids(pairs),
        unanswered=[_unanswered(captured) for captured in _in_order(capture.frames) if _is_unanswered(captured)],
        problems=[_broken(captured, frame) for captured, frame in pairs if frame.problems and captured.whole],
    )


def _connections(pairs: Sequence[tuple[Captured, Frame]]) -> Iterator[ConnectionTraffic]:
    by_number: dict[int, list[tuple[Captured, Frame]]] = {}
    for pair in pairs:
        by_number.setdefault(pair[0].connection, []).append(pair)
    for number, frames in sorted(by_number.items()):
        first = frames[0][0]
        requests = [pair for pair in frames if pair[0].direction == "request"]
        handshakes = [(captured, frame.value or {}) for captured, frame in requests if captured.api_key == API_VERSIONS]
        software = (f"{value.get(NAME)} {value.get(VERSION)}" for _, value in handshakes if value.get(NAME))
        yield ConnectionTraffic(
            connection=number,
            client=f"{first.client[0]}:{first.client[1]}",
            server=f"{first.server[0]}:{first.server[1]}",
            requests=len(requests),
            responses=len(frames) - len(requests),
            unanswered=sum(_is_unanswered(captured) for captured, _ in requests),
            client_ids=list(_client_ids(requests)),
            software=next(software, ""),
            api_versions=[captured.api_version for captured, _ in handshakes],
        )


def _errors(frames: Iterable[Frame]) -> list[ErrorTraffic]:
    counts: Counter[int] = Counter()
    carriers: Counter[int] = Counter()
    known: dict[int, ErrorCode] = {}
    for frame in frames:
        counts.update(error.code for error in frame.errors)
        carriers.update({error.code for error in frame.errors})
        known |= {error.code: error for error in frame.errors}
    entries = ((known[code], count) for code, count in counts.most_common())
    return [
        ErrorTraffic(error.code, error.name, error.retriable, count, carriers[error.code]) for error, count in entries
    ]


def _offered(pairs: Sequence[tuple[Captured, Frame]]) -> dict[int, str]:
    """By API key: the ranges of versions that servers offered."""
    ranges: dict[int, dict[str, None]] = {}
    for captured, frame in pairs:
        if captured.api_key == API_VERSIONS and captured.direction == "response" and not frame.problems:
            for row in (frame.value or {}).get("apiKeys") or []:
                low, high = row["minVersion"], row["maxVersion"]
                ranges.setdefault(row["apiKey"], {})[f"{low}-{high}" if low != high else str(low)] = None
    return {key: ", ".join(texts) for key, texts in ranges.items()}


def _by_api(catalog: Catalog, pairs: Sequence[tuple[Captured, Frame]]) -> list[ApiTraffic]:
    counts: Counter[tuple[int, int, str]] = Counter()
    sizes: Counter[tuple[int, int, str]] = Counter()
    failed: Counter[tuple[int, int]] = Counter()
    times: dict[tuple[int, int], list[float]] = {}
    for captured, frame in pairs:
        api = captured.api_key, captured.api_version
        counts[*api, captured.direction] += 1
        sizes[*api, captured.direction] += len(captured.data) + 4
        failed[api] += bool(frame.errors)
        if captured.latency is not None:
            times.setdefault(api, []).append(captured.latency)
    offered = _offered(pairs)
    traffic = []
    for api_key, version in sorted({(api_key, version) for api_key, version, _ in counts}):
        requests = catalog.keyed("request", api_key)
        traffic.append(
            ApiTraffic(
                api_key=api_key,
                api_version=version,
                name=requests[0].base_name if requests else "",
                requests=counts[api_key, version, "request"],
                responses=counts[api_key, version, "response"],
                request_bytes=sizes[api_key, version, "request"],
                response_bytes=sizes[api_key, version, "response"],
                offered=offered.get(api_key, ""),
                failed=failed[api_key, version],
                latency=Latency.of(times.get((api_key, version), ())),
            )
        )
    return traffic


def _client_ids(pairs: Sequence[tuple[Captured, Frame]]) -> dict[str, int]:
    headers = [frame.header for captured, frame in pairs if captured.direction == "request" and frame.header]
    counts = Counter(header["clientId"] for header in headers if header.get("clientId") is not None)
    return dict(sorted(counts.items()))


def _is_unanswered(captured: Captured) -> bool:
    return captured.direction == "request" and captured.answered is False


def _in_order(frames: Sequence[Captured]) -> list[Captured]:
    return sorted(frames, key=lambda captured: (captured.api_key, captured.api_version, captured.time))


def _unanswered(captured: Captured) -> UnansweredRequest:
    key = captured.api_key, captured.api_version, captured.client[1], captured.correlation_id
    return UnansweredRequest(*key, captured.pending or UNSET)


def _broken(captured: Captured, frame: Frame) -> BrokenFrame:
    problem = frame.problems[0]
    return BrokenFrame(
        captured.api_key,
        captured.api_version,
        captured.client[1],
        captured.correlation_id,
        captured.direction,
        captured.stream_offset,
        problem.rule,
        problem.offset,
        problem.message,
        captured.number,
    )
