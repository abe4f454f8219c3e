"""Asking a broker: its SASL exchange, ApiVersions and Metadata, and the versions that a client of a set picks."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from kiplint.codec.catalog import Catalog
from kiplint.codec.connection import CLUSTER_ID, RpcCall, ServerIdentity, identity_of, judge, problems_of
from kiplint.codec.exchange import problem_objects
from kiplint.codec.frames import API_VERSIONS, UNSUPPORTED_VERSION, Frame, decode_response
from kiplint.codec.problems import ByteProblem
from kiplint.codec.state import protocol_of
from kiplint.codec.values import defaults_of
from kiplint.codec.wire import uuid_text
from kiplint.commands.probe.connection import (
    BrokerConnection,
    ClosedError,
    Deadline,
    NoTlsError,
    ProbeError,
    Sasl,
    Tls,
    client_hello,
    greeting,
    no_frame,
)
from kiplint.commands.probe.result import Api, ProbedBroker
from kiplint.compat.negotiation.negotiate import agree
from kiplint.compat.negotiation.result import Agreement, Exchange
from kiplint.compat.negotiation.sides import (
    Offered,
    Side,
    broker_side,
    client_side,
    drop_unserved,
    offered_set,
)
from kiplint.limits import ANSWER_ROWS
from kiplint.model.error_codes import error_of
from kiplint.model.headers import WITH_INSTANCE_ID, header_of
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange

METADATA, SASL_HANDSHAKE, SASL_AUTHENTICATE = 3, 17, 36
ILLEGAL_SASL_STATE, UNSUPPORTED_MECHANISM = 34, 33
FIRST_REQUEST = bytes.fromhex("0000000a 0012 0000 00000001 ffff")
"""ApiVersions 0 with correlation id 1, in a frame."""
SOFTWARE = "kiplint"
INSTANCE = "clientInstanceId"
NO_NODE = -1
MOST_TRIED = 5
"""The number of versions of ApiVersions to try, each named by the broker and then refused, before version 0."""


class ClientIdentity(NamedTuple):
    """The client's software version, and the cluster and node that it expects (KIP-1242)."""

    software_version: str
    cluster: str | None = None
    node: int = NO_NODE


class ApiVersionsAnswer(NamedTuple):
    """The answer to ApiVersions: the versions that were tried in turn, the version that was answered, and the answer.

    `problems` come from all answers, also from those before the last.
    """

    tried: tuple[int, ...]
    version: int
    frame: Frame
    problems: tuple[ByteProblem, ...]


class Client:
    """Requests over a connection, numbered, with the same client instance id where the header has it (KIP-1313)."""

    def __init__(self, catalog: Catalog, connection: BrokerConnection) -> None:
        self.catalog = catalog
        self._connection = connection
        self._next = 0
        self._instance = uuid_text(secrets.token_bytes(15) + b"\1")  # never the zero id, nor a reserved one

    def ask(self, api_key: int, version: int, value: dict[str, Any]) -> tuple[Frame, bytes]:
        """Send a request; the response, decoded in that version, and its bytes. Raises ProbeError."""
        message = self.message(api_key)
        self._next += 1
        header = {
            "requestApiKey": api_key,
            "requestApiVersion": version,
            "correlationId": self._next,
            "clientId": SOFTWARE,
        }
        _, head = self.catalog.header(message, version)
        if head is None:
            raise ProbeError(f"the set has no header for {message.name} {version}")
        codec = self.catalog.codec(message, version)
        if unusable := head.unusable or codec.unusable:
            raise ProbeError(unusable)
        if INSTANCE in defaults_of(head.body):
            header[INSTANCE] = self._instance
        front, wrong = head.encode(header)
        body, more = codec.encode(value)
        for problem in (*wrong, *more):
            raise ProbeError(f"{message.name} {version} cannot be written: {problem.message}")
        answer = self._connection.ask(front + body, f"{message.base_name} {version}")
        if int.from_bytes(answer[:4], "big", signed=True) != self._next:
            number = int.from_bytes(answer[:4], "big", signed=True)
            raise ProbeError(f"the answer has correlation id {number}, the request had {self._next}")
        frame = decode_response(self.catalog, api_key, version, answer)
        for rows in (frame.value or {}).values():
            if isinstance(rows, list) and len(rows) > ANSWER_ROWS:
                raise ProbeError(ANSWER_ROWS.exceeded(f"the answer of {message.base_name}"))
        self._connection.require_time()
        return frame, answer

    def message(self, api_key: int) -> Message:
        """The request of that API key. Raises ProbeError."""
        for message in self.catalog.with_key("request", api_key):
            if message.valid:
                return message
        raise ProbeError(f"the set has no request with the API key {api_key}")

    def highest(self, api_key: int) -> int:
        """The highest stable version that the set has."""
        message = self.message(api_key)
        return message.valid.highest - (message.unstable and message.valid.highest > message.valid.lowest)


def api_versions(
    client: Client, version: int, identity: ClientIdentity, versions: tuple[int, ...] = ()
) -> ApiVersionsAnswer:
    """Send ApiVersions in a version, and on UNSUPPORTED_VERSION in the version that the broker names, else in 0.

    When a broker keeps refusing the versions that it names, version 0 is the last.
    """
    problems: tuple[ByteProblem, ...] = ()
    while True:
        versions = (*versions, version)
        values = _api_versions_values(client.message(API_VERSIONS), version, identity)
        frame, data = client.ask(API_VERSIONS, version, values)
        problems = (*problems, *frame.problems)
        if data[4:6] != UNSUPPORTED_VERSION.to_bytes(2, "big") or version == 0:
            full_frame = decode_response(client.catalog, API_VERSIONS, version, data, spans=True)
            return ApiVersionsAnswer(versions, version, full_frame, problems)
        version = _choose_version(frame, version) if len(versions) < MOST_TRIED else 0


def _choose_version(frame: Frame, version: int) -> int:
    """The next version to try, below the refused version."""
    # Only the error code is reliable (KIP-511); what follows may name the highest version.
    rows = (frame.value or {}).get("apiKeys") or []
    highest = [row.get("maxVersion", 0) for row in rows if row.get("apiKey") == API_VERSIONS]
    return max(min(highest[-1], version - 1), 0) if highest else 0


def error_text(code: int) -> str:
    """An error code with its name, and whether a client may try again."""
    return f"error {error_of(code)}"


def _api_versions_values(message: Message, version: int, identity: ClientIdentity) -> dict[str, Any]:
    values = {
        "clientSoftwareName": SOFTWARE,
        "clientSoftwareVersion": identity.software_version,
        "clusterId": identity.cluster,
        "nodeId": identity.node,
    }
    names = (field.java_name for field in message.fields if version in field.versions)
    return {name: values[name] for name in names if name in values}


def authenticate(client: Client, sasl: Sasl) -> None:
    """Authenticate with SASL (SaslHandshake 1, SaslAuthenticate 0). Raises ProbeError."""
    frame, _ = client.ask(SASL_HANDSHAKE, 1, {"mechanism": sasl.mechanism})
    value = frame.value or {}
    if value.get("errorCode") == ILLEGAL_SASL_STATE:
        raise ProbeError("the port does not use SASL: leave --sasl out")
    if value.get("errorCode"):
        mechanisms = ", ".join(map(str, value.get("mechanisms") or [])) or "none"
        raise ProbeError(f"the broker does not support {sasl.mechanism}; it supports {mechanisms}")
    talk = sasl.talk()
    token = next(talk)
    while True:
        try:
            frame, _ = client.ask(SASL_AUTHENTICATE, 0, {"authBytes": token})
        except ClosedError:
            raise ProbeError(
                f"the broker closed the connection on the credentials of {sasl.user}: the user or the password is wrong"
            ) from None
        value = frame.value or {}
        if value.get("errorCode"):
            message = ": ".join(filter(None, (error_text(value["errorCode"]), value.get("errorMessage"))))
            raise ProbeError(f"the broker refuses the credentials: {message}")
        try:
            token = talk.send(_answer(value))
        except StopIteration:
            return


def _answer(value: Mapping[str, Any]) -> bytes:
    from kiplint.codec.problems import Malformed
    from kiplint.codec.wire import as_bytes

    try:
        return as_bytes(value.get("authBytes"))
    except Malformed:
        raise ProbeError("the broker's SaslAuthenticate has no bytes") from None


def metadata(client: Client, version: int) -> Frame:
    """Metadata of no topic, for the cluster id (KIP-78); not in version 0, where no topic means all topics."""
    frame, _ = client.ask(METADATA, version, {"topics": []})
    return frame


class KnownSets(NamedTuple):
    """The client's set, by name and catalog, and further sets whose versions are known too."""

    name: str
    catalog: Catalog
    also: Catalog | None

    @property
    def client(self) -> Side:
        """The client."""
        request = self.catalog.with_key("request", API_VERSIONS)[0]
        return client_side(self.name, request.schemas)

    def find_rpc(self, api_key: int) -> tuple[str, VersionRange]:
        """The name of an RPC, empty where no set has it, and the versions of all sets."""
        requests = [
            *self.catalog.with_key("request", api_key),
            *(self.also.with_key("request", api_key) if self.also else ()),
        ]
        versions = VersionRange(interval for request in requests for interval in request.valid.intervals)
        return (requests[0].base_name if requests else ""), versions


def apis_of(sets: KnownSets, address: str, answer: ApiVersionsAnswer, *, sasl: bool) -> tuple[Api, ...]:
    """The RPCs of an answer, by API key. Over SASL no RPC is refused: the first request has no instance id."""
    rpcs = {row["apiKey"]: sets.find_rpc(row["apiKey"]) for row in _rows(answer)}
    offers = [Offered(row["apiKey"], rpcs[row["apiKey"]][0], *_versions(row)) for row in _rows(answer)]
    client = sets.client
    broker = broker_side(address, offered_set(drop_unserved(offers), client.schemas), unstable=True)
    header = header_of(sets.catalog.with_key("request", API_VERSIONS)[0], answer.version)
    exchange = Exchange(address, answer.tried[0], used=answer.version, checked=header >= WITH_INSTANCE_ID and not sasl)
    apis = {
        offer.api_key: _api(offer, rpcs[offer.api_key], agree(offer.api_key, client, broker, exchange))
        for offer in offers
    }
    return tuple(api for _, api in sorted(apis.items()))


def _api(offer: Offered, rpc: tuple[str, VersionRange], agreement: Agreement) -> Api:
    name, versions = rpc
    unknown = VersionRange.of(max(offer.lowest, 0), offer.highest) - (versions if name else NONE)
    return Api(
        api_key=offer.api_key,
        name=name,
        lowest=offer.lowest,
        highest=offer.highest,
        use=agreement.chosen,
        unknown=str(unknown) if unknown else "",
        request_header=agreement.request_header,
        refused=agreement.status == "refused",
    )


def answer_problems(answer: ApiVersionsAnswer, body: dict[str, Any], server: ServerIdentity) -> tuple[ByteProblem, ...]:
    """The rules about connections that an answer breaks; `body` is the value of the ApiVersions request."""
    request = replace(answer.frame, header=None, value=body)
    call = RpcCall(API_VERSIONS, answer.version, request, answer.frame)
    return problems_of((breach for breach in judge((call,), {"": server}) if breach.side == "response"), answer.frame)


def _rows(answer: ApiVersionsAnswer) -> Sequence[Mapping[str, Any]]:
    """The rows that are complete."""
    return [row for row in (answer.frame.value or {}).get("apiKeys") or [] if "maxVersion" in row]


def _versions(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["minVersion"], row["maxVersion"]


class Questions(NamedTuple):
    """What to ask all brokers, and how."""

    sets: KnownSets
    identity: ClientIdentity
    timeout: float
    tls: Tls | None
    sasl: Sasl | None
    expect_cluster: str | None


def ask(questions: Questions, host: str, port: int) -> ProbedBroker:
    """Ask a broker; a failure is its `error`."""
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    deadline = Deadline(questions.timeout)
    try:
        connection = BrokerConnection(host, port, deadline, questions.tls)
    except ProbeError as error:
        return ProbedBroker(address, _explain(error, questions, host, port, deadline))
    try:
        client = Client(questions.sets.catalog, connection)
        _log_in(client, questions)
        highest = client.highest(API_VERSIONS)
        try:
            answer = api_versions(client, highest, questions.identity)
        except ClosedError:
            if not highest:
                raise
            # Brokers before KIP-511 may just close: a new connection tries the oldest version.
            connection.close()
            connection = BrokerConnection(host, port, deadline, questions.tls)
            client = Client(questions.sets.catalog, connection)
            _log_in(client, questions)
            answer = api_versions(client, 0, questions.identity, (highest,))
        return _answers(client, address, answer, questions, lambda: _mechanisms(questions, host, port, deadline))
    except ProbeError as error:
        return ProbedBroker(address, _explain(error, questions, host, port, deadline))
    finally:
        connection.close()


def _explain(error: ProbeError, questions: Questions, host: str, port: int, deadline: Deadline) -> str:
    """The error; for a closed connection with the protocol of the port, which another connection determines."""
    if isinstance(error, NoTlsError):
        answer = greeting(host, port, deadline, FIRST_REQUEST)
        if answer[4:8] == b"\0\0\0\1":
            return "the port speaks Kafka's protocol without TLS: leave --tls out"
        return f"{error}; {no_frame(answer)}" if answer else str(error)
    closed = isinstance(error, ClosedError) and not questions.tls
    if closed and protocol_of(greeting(host, port, deadline, client_hello())) == "TLS":
        return "the port speaks TLS: use --tls"
    return str(error)


def _mechanisms(questions: Questions, host: str, port: int, deadline: Deadline) -> str:
    """The SASL mechanisms of a port that wants SASL; empty for other ports, which answer ILLEGAL_SASL_STATE."""
    try:
        connection = BrokerConnection(host, port, deadline, questions.tls)
    except ProbeError:
        return ""
    try:
        frame, _ = Client(questions.sets.catalog, connection).ask(SASL_HANDSHAKE, 1, {"mechanism": ""})
    except ProbeError:
        return ""
    finally:
        connection.close()
    value = frame.value or {}
    mechanisms = value.get("mechanisms") or []
    return ", ".join(map(str, mechanisms)) if value.get("errorCode") in (0, UNSUPPORTED_MECHANISM) else ""


def _log_in(client: Client, questions: Questions) -> None:
    """Authenticate with SASL if there is any; clients send ApiVersions 0 before it."""
    if questions.sasl:
        api_versions(client, 0, questions.identity)
        authenticate(client, questions.sasl)


def _answers(
    client: Client, address: str, answer: ApiVersionsAnswer, questions: Questions, mechanisms: Callable[[], str]
) -> ProbedBroker:
    value = answer.frame.value or {}
    if value.get("errorCode"):
        raise ProbeError(f"ApiVersions {answer.version} is answered with {error_text(value['errorCode'])}")
    apis = apis_of(questions.sets, address, answer, sasl=questions.sasl is not None)
    cluster, problems, complaints = _cluster(client, apis, questions, mechanisms)
    request_values = _api_versions_values(client.message(API_VERSIONS), answer.version, questions.identity)
    server = identity_of(cluster, address)
    return ProbedBroker(
        address=address,
        api_versions=answer.version,
        tried=answer.tried,
        apis=apis,
        cluster_id=cluster.get("clusterId"),
        controller=cluster.get("controllerId"),
        nodes=tuple(
            f"{node['nodeId']}={node['host']}:{node['port']}" for node in cluster.get("brokers") or [] if "port" in node
        ),
        features=_levels(value.get("supportedFeatures"), "minVersion", "maxVersion"),
        finalized=_levels(value.get("finalizedFeatures"), "minVersionLevel", "maxVersionLevel"),
        problems=problem_objects((*answer.problems, *answer_problems(answer, request_values, server), *problems)),
        complaints=complaints,
    )


def _cluster(
    client: Client, apis: Sequence[Api], questions: Questions, mechanisms: Callable[[], str]
) -> tuple[Mapping[str, Any], tuple[ByteProblem, ...], tuple[str, ...]]:
    """The values of Metadata, the problems of its bytes, and complaints."""
    api = next((api for api in apis if api.api_key == METADATA), None)
    if api is None or not api.use or api.refused:
        return {}, (), ()
    try:
        frame = metadata(client, api.use)
    except ProbeError as error:
        mechanism = mechanisms() if isinstance(error, ClosedError) and not questions.sasl else ""
        if mechanism:
            return {}, (), (f"Metadata {api.use} is not answered: the port requires SASL ({mechanism}): use --sasl",)
        return {}, (), (f"Metadata {api.use} is not answered: {error}",)
    cluster, complaints = frame.value or {}, []
    cluster_id = cluster.get("clusterId")
    if cluster.get("errorCode"):
        complaints.append(f"Metadata {api.use} is answered with {error_text(cluster['errorCode'])}")
    elif questions.expect_cluster is not None and cluster_id != questions.expect_cluster:
        cluster_text = f"the cluster is {cluster_id}, not {questions.expect_cluster}"
        complaints.append(cluster_text if cluster_id else "no cluster id")
    if cluster_id is not None and not CLUSTER_ID.fullmatch(cluster_id):
        complaints.append(f'the cluster id "{cluster_id}" is malformed: it has letters, digits, _ and - only (KIP-78)')
    return cluster, frame.problems, tuple(complaints)


def _levels(rows: Any, low: str, high: str) -> dict[str, tuple[int, int]]:
    return {row["name"]: (row[low], row[high]) for row in rows or [] if high in row}
