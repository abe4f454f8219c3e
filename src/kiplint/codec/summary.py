"""The summary of a capture: why connections and requests failed, its connections, RPCs, errors and latencies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.codec.capture import Capture
from kiplint.codec.catalog import Catalog
from kiplint.codec.conversation import Captured
from kiplint.codec.frames import API_VERSIONS, Frame
from kiplint.codec.problems import RULES
from kiplint.codec.state import CLIENT, ConnectionState, connection_problem
from kiplint.codec.tcp import Address, address_text
from kiplint.model.error_codes import ErrorCode

NAME, VERSION = "clientSoftwareName", "clientSoftwareVersion"
USER_PORTS = 1024
"""The first port that is not one of the system; brokers listen on such ports."""
LOOPBACK = ("127.0.0.1", "::1")
MOST_NUMBERS = 10
"""The maximum number of frames that are listed for a cause."""
Pairs = Sequence[tuple[Captured, Frame]]
"""The frames of a capture, each with its place in the conversation and its problems."""


class ConnectionFailure(NamedTuple):
    """A connection that failed before a request was answered: the rule, how, and its ends."""

    rule: str
    message: str
    client: Address
    server: Address


def connection_failures(capture: Capture, pairs: Pairs) -> list[ConnectionFailure]:
    """The connections that failed: to servers that the capture shows or names as Kafka's, and of hosts of its clients.

    Where the capture has no request of Kafka, all that failed.
    """
    hosts = {state.client[0] for state in capture.states}
    addresses = {state.server for state in capture.states} | set(_find_addresses(pairs))
    servers = {state.server for state in capture.states if state.is_established}
    failures = []
    for state in (*capture.states, *capture.others):
        host, port = state.server
        is_kafka = not capture.states or state.server in addresses or ("", port) in addresses
        is_kafka = is_kafka or (not state.is_established and state.client[0] in hosts and port >= USER_PORTS)
        is_other_loopback = host in LOOPBACK and any((other, port) in servers for other in LOOPBACK if other != host)
        if is_kafka and not is_other_loopback and (problem := connection_problem(state)):
            failures.append(ConnectionFailure(f"connection/{problem[0]}", problem[1], state.client, state.server))
    return failures


def _find_addresses(pairs: Pairs) -> Iterator[Address]:
    """The addresses that answers name; those of host names have an empty host."""
    for raw_frame, frame in pairs:
        if raw_frame.direction == "response" and frame.value:
            value = frame.value
            nodes = (*(value.get("brokers") or ()), *(value.get("coordinators") or ()), value)
            for node in (node for node in nodes if isinstance(node, dict)):
                host, port = node.get("host"), node.get("port")
                if isinstance(host, str) and isinstance(port, int):
                    yield (host if re.fullmatch(r"[0-9.]+|.*:.*", host) else ""), port


class Latency(msgspec.Struct, frozen=True):
    """How long answers took, in milliseconds, as percentiles (nearest rank)."""

    answers: int
    p50: float
    p95: float
    max: float

    @classmethod
    def of(cls, times: Iterable[float]) -> Latency | None:
        """The latency of answers, None without any."""
        latencies = sorted(times)
        p50, p95 = (latencies[-(-percent * len(latencies) // 100) - 1] if latencies else 0.0 for percent in (50, 95))
        return cls(len(latencies), p50, p95, latencies[-1]) if latencies else None


class Cause(msgspec.Struct, frozen=True):
    """What is wrong, once for all frames or connections of which it is true."""

    rule: str
    severity: str
    subject: Annotated[str, Meta(description="The RPC or message and its version, or the address of the server.")]
    message: Annotated[str, Meta(description="Its numbers are those of the median.")]
    count: Annotated[int, Meta(description="How many frames, or connections of which no frame was read.")]
    connections: int
    servers: list[str]
    frames: Annotated[list[int], Meta(description=f"The numbers of the first {MOST_NUMBERS} frames.")]


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
    problems: Annotated[int, Meta(description="The frames with problems.")]
    closed_by: Annotated[str | None, Meta(description="`client` or `broker`, whoever closed first; null if open.")]
    reset: Annotated[bool, Meta(description="It was closed by RST, not by FIN.")]


class ErrorTraffic(ErrorCode, frozen=True):
    """The number of times that an error code was sent, and of the responses with it."""

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
    """The contents of a capture, or of the frames of it that were selected."""

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
    causes: Annotated[list[Cause], Meta(description="What is wrong, errors first, then by count.")]
    connections: list[ConnectionTraffic]
    by_api: list[ApiTraffic]
    errors: list[ErrorTraffic]
    latency: Latency | None
    client_ids: Annotated[dict[str, int], Meta(description="The number of requests by client id.")]
    unanswered: list[UnansweredRequest]
    problems: list[BrokenFrame]


def summarize(
    catalog: Catalog,
    capture: Capture,
    pairs: Pairs,
    offers: Mapping[int, str],
    failures: Sequence[ConnectionFailure] = (),
) -> CaptureSummary:
    """The summary of a capture; `pairs` are its frames, or some of them, in their order; see `offered_versions`."""
    requests = sum(raw_frame.direction == "request" for raw_frame, _ in pairs)
    unanswered_frames = sorted((raw_frame for raw_frame, _ in pairs if raw_frame.is_unanswered), key=_api)
    servers = sorted({address_text(raw_frame.server) for raw_frame, _ in pairs})
    is_whole = len(pairs) == len(capture.frames)
    return CaptureSummary(
        packets=capture.packets,
        payload_bytes=capture.payload,
        retransmitted_segments=capture.retransmissions,
        seconds=round(capture.seconds, 1),
        tcp_connections=len(capture.states if is_whole else {raw_frame.connection for raw_frame, _ in pairs}),
        other_connections=capture.protocols.total(),
        unclear_connections=capture.unclear,
        server=servers[0] if len(servers) == 1 else None,
        servers=servers,
        frames=len(pairs),
        requests=requests,
        responses=len(pairs) - requests,
        unpaired_responses=capture.unpaired,
        incomplete=sum(not raw_frame.whole for raw_frame, _ in pairs),
        causes=_causes(pairs, failures),
        connections=[*_connections(pairs, capture.states)],
        by_api=[*_by_api(catalog, pairs, offers)],
        errors=_errors([frame for _, frame in pairs]),
        latency=Latency.of(raw_frame.latency for raw_frame, _ in pairs if raw_frame.latency is not None),
        client_ids=_client_ids(pairs),
        unanswered=[UnansweredRequest(*_key(raw_frame), raw_frame.pending or UNSET) for raw_frame in unanswered_frames],
        problems=[_broken_frame(raw_frame, frame) for raw_frame, frame in pairs if frame.problems],
    )


def _api(raw_frame: Captured) -> tuple[int, int, float]:
    return raw_frame.api_key, raw_frame.api_version, raw_frame.time


class _Occurrence(NamedTuple):
    message: str
    connection: object
    server: str
    number: int = 0


def _causes(pairs: Pairs, failures: Sequence[ConnectionFailure]) -> list[Cause]:
    """What is wrong: the same rule, subject and text but for numbers is the same cause."""
    groups: dict[tuple[str, str, str], list[_Occurrence]] = {}
    for raw_frame, frame in (pair for pair in pairs if pair[1].problems):
        of_bytes = [problem for problem in frame.problems if not problem.rule.startswith("connection/")]
        for problem in (*of_bytes[:1], *(problem for problem in frame.problems if problem not in of_bytes)):
            name = frame.message
            if problem.rule.startswith("connection/"):
                name = name.removesuffix("Request").removesuffix("Response")
            subject = f"{name} {raw_frame.api_version}" if name else "unknown frame"
            server = address_text(raw_frame.server)
            occurrence = _Occurrence(problem.message, raw_frame.connection, server, raw_frame.number)
            groups.setdefault((problem.rule, subject, _pattern(problem.message)), []).append(occurrence)
    for failure in failures:
        server = address_text(failure.server)
        occurrence = _Occurrence(failure.message, failure.client, server)
        groups.setdefault((failure.rule, server, _pattern(failure.message)), []).append(occurrence)
    causes = [_cause(rule, subject, occurrences) for (rule, subject, _), occurrences in groups.items()]
    return sorted(causes, key=lambda cause: (cause.severity != "error", -cause.count))


def _pattern(message: str) -> str:
    return re.sub(r"\d+", "#", message)


def _cause(rule: str, subject: str, occurrences: Sequence[_Occurrence]) -> Cause:
    messages = sorted((occurrence.message for occurrence in occurrences), key=lambda text: (len(text), text))
    return Cause(
        rule=rule,
        severity=RULES[rule].severity,
        subject=subject,
        message=messages[len(messages) // 2],
        count=len(occurrences),
        connections=len({occurrence.connection for occurrence in occurrences}),
        servers=sorted({occurrence.server for occurrence in occurrences}),
        frames=[occurrence.number for occurrence in occurrences if occurrence.number][:MOST_NUMBERS],
    )


def _connections(pairs: Pairs, states: Sequence[ConnectionState]) -> Iterator[ConnectionTraffic]:
    by_number: dict[int, list[tuple[Captured, Frame]]] = {}
    for pair in pairs:
        by_number.setdefault(pair[0].connection, []).append(pair)
    for number, frames in sorted(by_number.items()):
        state = states[number]
        requests = [pair for pair in frames if pair[0].direction == "request"]
        handshakes = [(request, frame.value or {}) for request, frame in requests if request.api_key == API_VERSIONS]
        software = (f"{value.get(NAME)} {value.get(VERSION)}" for _, value in handshakes if value.get(NAME))
        yield ConnectionTraffic(
            connection=number,
            client=address_text(state.client),
            server=address_text(state.server),
            requests=len(requests),
            responses=len(frames) - len(requests),
            unanswered=sum(request.answered is False for request, _ in requests),
            client_ids=list(_client_ids(requests)),
            software=next(software, ""),
            api_versions=[request.api_version for request, _ in handshakes],
            problems=sum(bool(frame.problems) for _, frame in frames),
            closed_by=None if state.ended_by is None else "client" if state.ended_by == CLIENT else "broker",
            reset=state.is_reset,
        )


def _errors(frames: Sequence[Frame]) -> list[ErrorTraffic]:
    errors = {error.code: error for frame in frames for error in frame.errors}
    counts = Counter(error.code for frame in frames for error in frame.errors)
    carriers = Counter(code for frame in frames if frame.errors for code in {error.code for error in frame.errors})
    return [
        ErrorTraffic(code, errors[code].name, errors[code].retriable, count, carriers[code])
        for code, count in counts.most_common()
    ]


def offered_versions(pairs: Pairs) -> dict[int, str]:
    """By API key: the ranges of versions that servers offered."""
    answers = (frame.value or {} for raw_frame, frame in pairs if raw_frame.api_key == API_VERSIONS)
    different = {id(value): value for value in answers}.values()  # equal answers are often the same object
    rows = (row for value in different for row in value.get("apiKeys") or [])
    ranges: dict[int, dict[str, None]] = {}
    for row in rows:
        if "maxVersion" in row:
            low, high = row["minVersion"], row["maxVersion"]
            ranges.setdefault(row["apiKey"], {})[f"{low}-{high}" if low != high else str(low)] = None
    return {key: ", ".join(texts) for key, texts in ranges.items()}


def _by_api(catalog: Catalog, pairs: Pairs, offers: Mapping[int, str]) -> Iterator[ApiTraffic]:
    by_api: dict[tuple[int, int], list[tuple[Captured, Frame]]] = {}
    for pair in pairs:
        by_api.setdefault((pair[0].api_key, pair[0].api_version), []).append(pair)
    for (api_key, version), frames in sorted(by_api.items()):
        requests = [raw_frame for raw_frame, _ in frames if raw_frame.direction == "request"]
        responses = [pair for pair in frames if pair[0].direction == "response"]
        yield ApiTraffic(
            api_key=api_key,
            api_version=version,
            name=next((message.base_name for message in catalog.with_key("request", api_key)), ""),
            requests=len(requests),
            responses=len(responses),
            request_bytes=sum(len(raw_frame.data) + 4 for raw_frame in requests),
            response_bytes=sum(len(raw_frame.data) + 4 for raw_frame, _ in responses),
            offered=offers.get(api_key, ""),
            failed=sum(bool(frame.errors) for _, frame in responses),
            latency=Latency.of(raw_frame.latency for raw_frame, _ in responses if raw_frame.latency is not None),
        )


def _client_ids(pairs: Pairs) -> dict[str, int]:
    headers = [frame.header for raw_frame, frame in pairs if raw_frame.direction == "request" and frame.header]
    counts = Counter(header["clientId"] for header in headers if header.get("clientId") is not None)
    return dict(sorted(counts.items()))


def _key(raw_frame: Captured) -> tuple[int, int, int, int]:
    """The values of a `FrameKey`."""
    return raw_frame.api_key, raw_frame.api_version, raw_frame.client[1], raw_frame.correlation_id


def _broken_frame(raw_frame: Captured, frame: Frame) -> BrokenFrame:
    place, problem = (raw_frame.direction, raw_frame.stream_offset), frame.problems[0]
    return BrokenFrame(*_key(raw_frame), *place, problem.rule, problem.offset, problem.message, raw_frame.number)
