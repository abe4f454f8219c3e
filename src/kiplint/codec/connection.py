"""Checks of connections: contradictions between requests and responses (KIP-35, 78, 511, 1242 and 1313).

The rules are in `kiplint.codec.problems`. A rule judges only what was captured: a lost frame breaks none.
"""

from __future__ import annotations

import base64
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from kiplint.codec.conversation import Captured
from kiplint.codec.explain import MOST_PROBLEMS
from kiplint.codec.frames import API_VERSIONS, UNSUPPORTED_VERSION, Direction, Frame
from kiplint.codec.problems import ByteProblem
from kiplint.codec.state import IDLE, PATIENCE, SERVER, SILENCE, ConnectionState, milliseconds
from kiplint.codec.tcp import address_text
from kiplint.codec.values import ZERO_UUID
from kiplint.model.error_codes import INVALID_REQUEST, REBOOTSTRAP_REQUIRED, error_of

PRODUCE, SASL_HANDSHAKE, SASL_AUTHENTICATE = 0, 17, 36
CLUSTER_APIS: Final = (3, 60)
"""Metadata and DescribeCluster, whose responses have the cluster id."""
GET_TELEMETRY, PUSH_TELEMETRY = 71, 72
HIGHEST_HANDSHAKE: Final = 1
INSTANCE: Final = "clientInstanceId"
SOFTWARE = re.compile(r"[.\-a-zA-Z0-9]+")
"""What a client may call its software and version (KIP-511, "Validation")."""
CLUSTER_ID = re.compile(r"[a-zA-Z0-9_\-]+")
"""The cluster ids that KIP-78 allows ("Overview")."""
NO_NODE: Final = -1
MOST_NODES = 10
"""How many brokers are named."""
WAITS: Final = ("maxWaitMs", "maxWait", "maxWaitTime", "timeoutMs", "timeout", "rebalanceTimeoutMs", "sessionTimeoutMs")
"""The fields with the milliseconds that a broker may wait before it answers."""


JUDGED_LISTS = ("apiKeys", "brokers", "coordinators", "mechanisms")


def judged_values(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """The values of a frame that rules and summaries read; they take much less memory than all values."""
    return value and {key: part for key, part in value.items() if not isinstance(part, list) or key in JUDGED_LISTS}


class RpcCall(NamedTuple):
    """A request and its response. Each is None where it is missing or its bytes are wrong.

    `sent` and `answered` are in seconds; `opening` marks the first request of a connection that was captured from its
    beginning; `server` is HOST:PORT; `unanswered` is whether the response is not lost, but never came.
    """

    api_key: int
    version: int
    request: Frame | None
    response: Frame | None
    sent: float = 0.0
    answered: float = 0.0
    opening: bool = False
    server: str = ""
    unanswered: bool = False
    correlation_id: int = 0


class Breach(NamedTuple):
    """A rule that the request or response of a call breaks. `path` names the field."""

    place: int
    side: Direction
    rule: str
    message: str
    path: str = ""


def problems_of(breaches: Iterable[Breach], frame: Frame) -> tuple[ByteProblem, ...]:
    """Breaches as problems of their frame, which has spans."""
    offsets = {span.path: span.offset for span in frame.spans}
    return tuple(
        ByteProblem(f"connection/{breach.rule}", offsets.get(breach.path, 0), breach.message, breach.path)
        for breach in breaches
    )


class ServerIdentity(NamedTuple):
    """The cluster and node ids that a server gave for itself, None where it did not."""

    cluster: str | None = None
    node: int | None = None


UNKNOWN_SERVER = ServerIdentity()


def judge(
    calls: Sequence[RpcCall], servers: Mapping[str, ServerIdentity], state: ConnectionState | None = None
) -> Iterator[Breach]:
    """The breaches on one connection, whose calls are in the order of the requests; its state for captured ones."""
    yield from _instance_ids(calls)
    yield from _telemetry(calls)
    yield from _versions(calls)
    if state:
        yield from _missing_answers(calls, state)
        yield from _ids_in_flight(calls)
    yield from _authentication(calls, state)
    for place, call in enumerate(calls):
        if call.api_key == API_VERSIONS:
            yield from _identification(place, call)
            yield from _judge_offers(place, call)
            yield from _routing(place, call, servers.get(call.server, UNKNOWN_SERVER))
        if call.api_key == SASL_HANDSHAKE and call.version > HIGHEST_HANDSHAKE:
            text = f"SaslHandshake {call.version} does not exist; its versions ended with {HIGHEST_HANDSHAKE}"
            yield Breach(place, "request", "sasl-handshake-version", text, "requestApiVersion")
        if call.api_key in CLUSTER_APIS:
            yield from _cluster(place, _values(call.response))


def _values(frame: Frame | None) -> Mapping[str, Any]:
    return (frame.value if frame else None) or {}


def _header(call: RpcCall) -> Mapping[str, Any]:
    return (call.request.header if call.request else None) or {}


def _missing_answers(calls: Sequence[RpcCall], state: ConnectionState) -> Iterator[Breach]:
    """Requests that were never answered, although an answer was due, the client waited, and no bytes are missing."""
    latest = max((place for place, call in enumerate(calls) if call.answered), default=-1)
    for place, call in enumerate(calls):
        values = _values(call.request)
        if not call.unanswered or (call.api_key == PRODUCE and values.get("acks") == 0):
            continue
        wait_time = min(state.end, state.until) - call.sent
        waits = (wait for name in WAITS if isinstance(wait := values.get(name), int))
        patience = PATIENCE + max(waits, default=0) / 1000
        text = ""
        if place < latest:
            text = "later requests were answered, this one was not"
        elif state.ended_by == SERVER and wait_time < 0:
            text = f"the broker had {state.close} the connection before the request"
        elif state.ended_by == SERVER:
            text = f"the broker {state.close} the connection {milliseconds(wait_time)} after the request"
        elif state.ended_by is not None and wait_time > patience and not state.is_reset:  # a RST may follow a lost FIN
            text = f"the client gave up, and closed the connection {milliseconds(wait_time)} after the request"
        elif state.ended_by is None and wait_time > patience + SILENCE:
            text = f"no answer within {milliseconds(wait_time)}"
        if text:
            yield Breach(place, "request", "unanswered", text)


def _ids_in_flight(calls: Sequence[RpcCall]) -> Iterator[Breach]:
    earlier: dict[int, RpcCall] = {}
    for place, call in enumerate(calls):
        correlation = call.correlation_id
        other = earlier.get(correlation)
        if other and (other.unanswered or other.answered > call.sent):
            text = f"correlation id {correlation} is that of an earlier request that is not answered yet"
            yield Breach(place, "request", "id-in-flight", text, "correlationId")
        earlier[correlation] = call


def _authentication(calls: Sequence[RpcCall], state: ConnectionState | None) -> Iterator[Breach]:
    """The breaches of SASL: it fails, or a request is sent before it ends.

    The second is only reported if the capture has every frame of the connection.
    """
    has_begun, end = False, math.inf
    for place, call in enumerate(calls):
        values = _values(call.response)
        code = values.get("errorCode")
        if call.api_key == SASL_HANDSHAKE:
            has_begun = has_begun or call.version > 0
            if code:
                mechanisms = ", ".join(map(str, values.get("mechanisms") or [])) or "none"
                mechanism = _values(call.request).get("mechanism", "the mechanism")
                text = f"the broker refuses {mechanism} with {error_of(code)}; it supports {mechanisms}"
                yield Breach(place, "response", "authentication", text, "errorCode")
        elif call.api_key == SASL_AUTHENTICATE:
            token = _token(values.get("authBytes"))
            if code:
                text = f"the broker refuses the credentials: {values.get('errorMessage') or error_of(code)}"
                yield Breach(place, "response", "authentication", text, "errorCode")
            elif token.startswith(b"e="):
                text = f"the broker refuses the credentials: SCRAM ends with {token.decode(errors='replace')}"
                yield Breach(place, "response", "authentication", text, "authBytes")
            elif values and not token.startswith(b"r="):  # the first of two answers of SCRAM
                end = min(end, call.answered)
        elif has_begun and call.sent < end and state and state.complete and call.api_key != API_VERSIONS:
            text = "the request was sent before SASL had ended"
            yield Breach(place, "request", "before-authentication", text, "requestApiKey")
    if state and calls:
        yield from _early_end(len(calls) - 1, calls[-1], state)


def _token(text: Any) -> bytes:
    """The bytes of a SASL token; none where a definition has another type for it."""
    try:
        return base64.b64decode(text or "")
    except (TypeError, ValueError):
        return b""


def _early_end(place: int, last: RpcCall, state: ConnectionState) -> Iterator[Breach]:
    """A broker that closes a connection after its answer to ApiVersions, or during SASL."""
    wait_time = state.end - last.answered
    if state.ended_by != SERVER or not state.complete or last.response is None or wait_time > IDLE:
        return
    if last.api_key == SASL_HANDSHAKE and not _values(last.response).get("errorCode"):
        after = f"{milliseconds(wait_time)} after SaslHandshake was answered"
        text = f"the broker {state.close} the connection {'in answer to a token' if state.tokens > 0 else after}"
        yield Breach(place, "response", "authentication", text)
    elif last.api_key in (API_VERSIONS, SASL_AUTHENTICATE) and not _values(last.response).get("errorCode"):
        text = f"the broker {state.close} the connection {milliseconds(wait_time)} after the answer, before any request"
        yield Breach(place, "response", "closed-early", text)


def _instance_ids(calls: Sequence[RpcCall]) -> Iterator[Breach]:
    """KIP-1313, "Client Instance ID". A broker that does not know the version of the first request remembers no id."""
    opening = calls[0] if calls and calls[0].opening and _header(calls[0]) else None
    code = opening is not None and _values(opening.response).get("errorCode", UNSUPPORTED_VERSION)
    began = opening is not None and INSTANCE in _header(opening) and code != UNSUPPORTED_VERSION
    first_id, late, sasl = "", False, False
    for place, call in enumerate(calls):
        header = _header(call)
        instance = header.get(INSTANCE)
        sasl = sasl or call.api_key in (SASL_HANDSHAKE, SASL_AUTHENTICATE)
        if instance is None:
            if began and header and call.request and call.api_key != SASL_HANDSHAKE:
                text = (
                    f"header {call.request.header_version} has no client instance id, but the connection began "
                    f"with one: a broker rejects the request with {INVALID_REQUEST}; send header 3"
                )
                yield Breach(place, "request", "instance-id-missing", text, "requestApiVersion")
            continue
        late = late or (opening is not None and INSTANCE not in _header(opening) and not sasl)
        if instance == ZERO_UUID:
            text = "the client instance id is zero; send the id that the client made when it started"
            yield Breach(place, "request", "instance-id-zero", text, INSTANCE)
        elif first_id and instance != first_id:
            text = f"the client instance id is {instance}; earlier requests of the connection have {first_id}"
            yield Breach(place, "request", "instance-id-changed", text, INSTANCE)
        first_id = first_id or (instance if instance != ZERO_UUID else "")
    if late:
        text = "the first request has no client instance id, but later requests have one: the broker does not check it"
        yield Breach(0, "request", "instance-id-late", text, "requestApiVersion")


def _telemetry(calls: Sequence[RpcCall]) -> Iterator[Breach]:
    """KIP-1313, "Alignment of identifiers": version 0 of the telemetry RPCs has the id in its body."""
    in_headers = (_header(call).get(INSTANCE, ZERO_UUID) for call in calls)
    first_id = next((instance for instance in in_headers if instance != ZERO_UUID), "")
    for place, call in enumerate(calls):
        own = _values(call.request).get(INSTANCE) if call.api_key in (GET_TELEMETRY, PUSH_TELEMETRY) else None
        if own == ZERO_UUID and call.api_key == PUSH_TELEMETRY:
            text = "the client instance id is zero; send the id from GetTelemetrySubscriptions"
            yield Breach(place, "request", "telemetry-id", text, INSTANCE)
        elif own is not None and first_id and own != first_id:
            text = f"the client instance id is {own}; the headers of this connection have {first_id}"
            yield Breach(place, "request", "telemetry-id", text, INSTANCE)


def _identification(place: int, call: RpcCall) -> Iterator[Breach]:
    """The ids of an ApiVersions request: of its client (KIP-511, "Validation") and the expected broker (KIP-1242)."""
    values = _values(call.request)
    for name in ("clientSoftwareName", "clientSoftwareVersion"):
        text = values.get(name)
        if text is not None and not SOFTWARE.fullmatch(text):
            message = f'{name} is "{text}"; it has letters, digits, dots and hyphens only, and at least one'
            yield Breach(place, "request", "software-name", message, name)
    cluster, node = values.get("clusterId"), values.get("nodeId", NO_NODE)
    if cluster is not None:
        yield from _cluster_id(place, "request", cluster)
    if "nodeId" in values and (cluster is None) != (node == NO_NODE):
        alone, other = ("NodeId", "ClusterId") if cluster is None else ("ClusterId", "NodeId")
        text = f"{alone} without {other}: a broker rejects the request with {INVALID_REQUEST}; send both"
        yield Breach(place, "request", "misrouting-ids", text, "nodeId" if cluster is None else "clusterId")


def _cluster(place: int, values: Mapping[str, Any]) -> Iterator[Breach]:
    """The cluster id (KIP-78) and the controller in an answer of Metadata or DescribeCluster."""
    if values.get("clusterId") is not None:
        yield from _cluster_id(place, "response", values["clusterId"])
    brokers = [node for node in values.get("brokers") or () if isinstance(node, dict)]
    nodes = [node.get("nodeId", node.get("brokerId")) for node in brokers]
    controller = values.get("controllerId", NO_NODE)
    if nodes and controller not in (NO_NODE, *nodes):
        text = f"the controller is node {controller}; the brokers are {', '.join(map(str, nodes[:MOST_NODES]))}"
        yield Breach(place, "response", "controller", text, "controllerId")


def _cluster_id(place: int, side: Direction, cluster: str) -> Iterator[Breach]:
    if not CLUSTER_ID.fullmatch(cluster):
        text = f'the cluster id "{cluster}" is malformed: it has letters, digits, _ and - only'
        yield Breach(place, side, "cluster-id", text, "clusterId")


def _routing(place: int, call: RpcCall, server: ServerIdentity) -> Iterator[Breach]:
    """KIP-1242, "ApiVersions": a broker compares both ids with its own."""
    values, code = _values(call.request), _values(call.response).get("errorCode")
    if "nodeId" not in values or code not in (0, REBOOTSTRAP_REQUIRED.code):
        return
    cluster, node = values["clusterId"], values["nodeId"]
    wrong = [
        f"{name} is {expected}, not {own}"
        for name, expected, own in (("ClusterId", cluster, server.cluster), ("NodeId", node, server.node))
        if own is not None and expected != own
    ]
    if cluster is not None and node != NO_NODE and code == 0 and wrong:
        text = f"the connection is misrouted ({', '.join(wrong)}), but the answer is not {REBOOTSTRAP_REQUIRED}"
        yield Breach(place, "response", "rebootstrap", text, "errorCode")
    elif code == REBOOTSTRAP_REQUIRED.code and cluster is None and node == NO_NODE:
        text = f"{REBOOTSTRAP_REQUIRED} answers a request without ClusterId and NodeId, which proceeds as normal"
        yield Breach(place, "response", "rebootstrap", text, "errorCode")
    elif code == REBOOTSTRAP_REQUIRED.code and (cluster, node) == (server.cluster, server.node):
        text = f"{REBOOTSTRAP_REQUIRED} answers the ids of this very broker"
        yield Breach(place, "response", "rebootstrap", text, "errorCode")


def _rows(frame: Frame | None) -> list[tuple[int, int, int, int]]:
    """The offers of an ApiVersionsResponse: their places, API keys, and lowest and highest versions."""
    rows = enumerate(_values(frame).get("apiKeys") or [])
    return [(place, row["apiKey"], row["minVersion"], row["maxVersion"]) for place, row in rows if "maxVersion" in row]


def _judge_offers(place: int, call: RpcCall) -> Iterator[Breach]:
    """KIP-35, "Proposed Changes", and KIP-511 for UNSUPPORTED_VERSION: contradictions in an ApiVersionsResponse."""
    if call.response is None:
        return
    rows, code, version = _rows(call.response), _values(call.response).get("errorCode"), call.response.version
    offered_keys: set[int] = set()
    for number, key, low, high in rows:
        at = f"apiKeys[{number}].minVersion"
        if low > high or low < 0:
            text = f"the versions of API key {key} are {low} to {high}"
            yield Breach(place, "response", "versions-inverted", text, at)
        if key in offered_keys:
            text = f"API key {key} is offered twice; a client takes one of the two"
            yield Breach(place, "response", "api-key-twice", text, f"apiKeys[{number}].apiKey")
        offered_keys.add(key)
        if key == API_VERSIONS and low > 0:
            text = f"the broker offers ApiVersions from version {low} on; a client that falls back sends version 0"
            yield Breach(place, "response", "api-versions-not-from-0", text, at)
        if key == SASL_HANDSHAKE and high > HIGHEST_HANDSHAKE:
            text = f"SaslHandshake {high} does not exist; its versions ended with {HIGHEST_HANDSHAKE}"
            yield Breach(place, "response", "sasl-handshake-version", text, f"apiKeys[{number}].maxVersion")
    own = [(low, high) for _, key, low, high in rows if key == API_VERSIONS]
    if code == UNSUPPORTED_VERSION and not own:
        text = f"{error_of(UNSUPPORTED_VERSION)} without the versions of ApiVersions: a client can only try version 0"
        yield Breach(place, "response", "versions-missing", text, "apiKeys")
    elif code == 0 and not any(low <= version <= high for low, high in own[:1]):
        offer = f"offers versions {own[0][0]} to {own[0][1]} of it" if own else "does not offer it"
        text = f"the broker answers ApiVersions {version}, and {offer}"
        yield Breach(place, "response", "answered-not-offered", text, "apiKeys")


def _versions(calls: Sequence[RpcCall]) -> Iterator[Breach]:
    """KIP-35 and KIP-511: a client sends versions that the broker offered it on this connection before."""
    offers: list[tuple[float, dict[int, list[tuple[int, int]]], int | None]] = []
    for call in calls:
        code = _values(call.response).get("errorCode") if call.api_key == API_VERSIONS else None
        if code in (0, UNSUPPORTED_VERSION):
            ranges: dict[int, list[tuple[int, int]]] = {}
            for _, key, low, high in _rows(call.response):
                ranges.setdefault(key, []).append((low, high))
            offers.append((call.answered, ranges, call.version if code else None))
    offers.sort(key=lambda offer: offer[0])
    times = [time for time, _, _ in offers]
    for place, call in enumerate(calls):
        key, version, latest = call.api_key, call.version, bisect_left(times, call.sent) - 1
        if latest < 0 or (key == API_VERSIONS and version == 0):
            continue
        _, ranges, refused_version = offers[latest]
        own = ranges.get(key, [])
        if any(low <= version <= high for low, high in own):
            continue
        versions = " and ".join(f"{low} to {high}" for low, high in own)
        if key == API_VERSIONS and refused_version is not None:
            offer = f"the broker named {versions}" if versions else "the broker named none, so that only 0 is left"
            text = f"version {version} follows after UNSUPPORTED_VERSION for version {refused_version}; {offer}"
            yield Breach(place, "request", "fallback-request", text, "requestApiVersion")
        elif key != API_VERSIONS and refused_version is None and ranges:
            text = f"version {version} was not offered; the broker offers {versions or 'no version of this API'}"
            yield Breach(place, "request", "version-not-offered", text, "requestApiVersion")


def _clusters(calls: Iterable[RpcCall]) -> Iterator[Breach]:
    """KIP-78: responses of another cluster than an earlier one to the same client, or from the same address."""
    first: dict[str, str] = {}
    reported_pairs: set[tuple[str, str]] = set()
    for place, call in enumerate(calls):
        cluster = _values(call.response).get("clusterId") if call.api_key in CLUSTER_APIS else None
        if cluster is None:
            continue
        instance = _header(call).get(INSTANCE, ZERO_UUID)
        names = [call.server, *([f"the client {instance}"] if instance != ZERO_UUID else [])]
        for name in names:
            if first.setdefault(name, cluster) != cluster and (name, cluster) not in reported_pairs:
                reported_pairs.add((name, cluster))
                text = f"the cluster is {cluster}; before, {name} was in cluster {first[name]}"
                yield Breach(place, "response", "two-clusters", text, "clusterId")


def judge_capture(
    frames: Iterable[tuple[Captured, Frame]], states: Sequence[ConnectionState] = ()
) -> dict[int, list[Breach]]:
    """The breaches on all connections of a capture, by the number of the frame: at most `MOST_PROBLEMS` of each.

    `states` are the states of the connections by their numbers.
    """
    pairs: dict[tuple[int, int], list[tuple[Captured, Frame] | None]] = {}
    for raw_frame, frame in frames:
        if raw_frame.exchange >= 0:
            pair = pairs.setdefault((raw_frame.connection, raw_frame.exchange), [None, None])
            pair[raw_frame.direction == "response"] = raw_frame, frame
    places = sorted(pairs)
    calls = {place: _call(*pairs[place]) for place in places}
    servers = _identities(calls.values())
    all_breaches = [(breach, places) for breach in _clusters(calls.values())]
    for number, group in groupby(places, key=lambda place: place[0]):
        talk = list(group)
        state = states[number] if states else None
        all_breaches += [(breach, talk) for breach in judge([calls[place] for place in talk], servers, state)]
    breaches: dict[int, list[Breach]] = {}
    for breach, talk in all_breaches:
        entry = pairs[talk[breach.place]][breach.side == "response"]
        if entry is not None and len(breaches.setdefault(entry[0].number, [])) < MOST_PROBLEMS:
            breaches[entry[0].number].append(breach)
    return breaches


def refused_versions(pairs: Sequence[tuple[Captured, Frame]]) -> set[int | None]:
    """The numbers of ApiVersions requests in versions that the server does not support, nor a schema set has to."""
    return {
        raw_frame.request
        for raw_frame, frame in pairs
        if raw_frame.api_key == API_VERSIONS and _values(frame).get("errorCode") == UNSUPPORTED_VERSION
    }


def _call(request: tuple[Captured, Frame] | None, response: tuple[Captured, Frame] | None) -> RpcCall:
    raw_frame = (request or response or (None,))[0]
    assert raw_frame is not None
    return RpcCall(
        raw_frame.api_key,
        raw_frame.api_version,
        request[1] if request and not request[1].problems and request[0].whole else None,
        response[1] if response and not response[1].problems and response[0].whole else None,
        request[0].time if request else 0.0,
        response[0].time if response else 0.0,
        request is not None and request[0].opening,
        address_text(raw_frame.server),
        request is not None and request[0].answered is False,
        raw_frame.correlation_id,
    )


def _identities(calls: Iterable[RpcCall]) -> dict[str, ServerIdentity]:
    """What servers say of themselves: the latest."""
    identities: dict[str, ServerIdentity] = {}
    for call in calls:
        if call.api_key in CLUSTER_APIS and call.response:
            before = identities.get(call.server, UNKNOWN_SERVER)
            identities[call.server] = identity_of(_values(call.response), call.server, before)
    return identities


def identity_of(values: Mapping[str, Any], address: str, before: ServerIdentity = UNKNOWN_SERVER) -> ServerIdentity:
    """What Metadata or DescribeCluster says of the server that answers at an address; the rest is as `before`."""
    nodes = (
        node.get("nodeId", node.get("brokerId"))
        for node in values.get("brokers") or []
        if "port" in node and f"{node['host']}:{node['port']}" == address
    )
    return ServerIdentity(values.get("clusterId") or before.cluster, next(nodes, before.node))
