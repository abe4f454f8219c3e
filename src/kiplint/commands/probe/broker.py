"""What a client makes of a broker's offer: the version of each RPC, what no set knows, and what is wrong with it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kiplint.codec.catalog import Catalog
from kiplint.codec.frames import API_VERSIONS, UNSUPPORTED_VERSION, Frame, decode_response
from kiplint.codec.problems import RULES, ByteProblem
from kiplint.codec.wire import uuid_text
from kiplint.commands.probe.connection import ClosedError, Connection, ProbeError, Sasl, Tls
from kiplint.compat.negotiation.negotiate import agree
from kiplint.compat.negotiation.probed import Offered, offered_set
from kiplint.compat.negotiation.result import Agreement, Exchange
from kiplint.compat.negotiation.sides import WITH_INSTANCE_ID, Side, broker_side, client_side
from kiplint.model.headers import header_of
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange

METADATA, SASL_HANDSHAKE, SASL_AUTHENTICATE = 3, 17, 36
SOFTWARE = "kiplint"
INSTANCE = "clientInstanceId"
NO_NODE = -1
MOST_TRIED = 5
"""After how many versions of ApiVersions that the broker names and then refuses it is asked in version 0."""

ERRORS = {
    31: "CLUSTER_AUTHORIZATION_FAILED",
    33: "UNSUPPORTED_SASL_MECHANISM",
    34: "ILLEGAL_SASL_STATE",
    35: "UNSUPPORTED_VERSION",
    42: "INVALID_REQUEST",
    58: "SASL_AUTHENTICATION_FAILED",
    129: "REBOOTSTRAP_REQUIRED",
}
"""The error codes that the first requests of a connection are answered with."""


class Asked(NamedTuple):
    """What the client says of itself, and of the broker that it expects (KIP-1242)."""

    software_version: str
    cluster: str | None = None
    node: int = NO_NODE


class Offer(NamedTuple):
    """The answer to ApiVersions: the versions that were tried in turn, the one that was answered, and the answer.

    `problems` are those of all answers, the ones before the last included.
    """

    tried: tuple[int, ...]
    version: int
    frame: Frame
    problems: tuple[ByteProblem, ...]


class Talker:
    """Requests over one connection, numbered, and with one client instance id where their header has it (KIP-1313)."""

    def __init__(self, catalog: Catalog, connection: Connection) -> None:
        self.catalog = catalog
        self._connection = connection
        self._next = 0
        self._instance = uuid_text(secrets.token_bytes(15) + b"\1")  # never the zero id, nor a reserved one

    def ask(self, api_key: int, version: int, value: dict[str, Any]) -> tuple[Frame, bytes]:
        """Send a request, and give its response, read in that version, with its bytes. Raises ProbeError."""
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
        if INSTANCE in head.defaults:
            header[INSTANCE] = self._instance
        front, wrong = head.encode(header)
        body, more = self.catalog.codec(message, version).encode(value)
        for problem in (*wrong, *more):
            raise ProbeError(f"{message.name} {version} cannot be written: {problem.message}")
        answer = self._connection.ask(front + body)
        if int.from_bytes(answer[:4], "big", signed=True) != self._next:
            number = int.from_bytes(answer[:4], "big", signed=True)
            raise ProbeError(f"the answer has correlation id {number}, the request had {self._next}")
        return decode_response(self.catalog, api_key, version, answer, spans=True), answer

    def message(self, api_key: int) -> Message:
        """The request of that API key. Raises ProbeError."""
        for message in self.catalog.keyed("request", api_key):
            if message.valid:
                return message
        raise ProbeError(f"the set has no request with the API key {api_key}")

    def highest(self, api_key: int) -> int:
        """The highest stable version that the set has."""
        message = self.message(api_key)
        return message.valid.highest - (message.unstable and message.valid.highest > message.valid.lowest)


def api_versions(talker: Talker, version: int, asked: Asked, tried: tuple[int, ...] = ()) -> Offer:
    """Ask for versions, beginning with one; on UNSUPPORTED_VERSION with the one that the broker names, else with 0.

    A broker that goes on naming versions that it then refuses is asked in version 0 at last.
    """
    problems: tuple[ByteProblem, ...] = ()
    while True:
        tried = (*tried, version)
        frame, data = talker.ask(API_VERSIONS, version, _said(talker.message(API_VERSIONS), version, asked))
        problems = (*problems, *frame.problems)
        if data[4:6] != UNSUPPORTED_VERSION.to_bytes(2, "big") or version == 0:
            return Offer(tried, version, frame, problems)
        version = _named(frame, version) if len(tried) < MOST_TRIED else 0


def _named(frame: Frame, refused: int) -> int:
    """The version to ask next, below the one that was refused."""
    # The error code is all that can be relied upon (KIP-511); what follows may name the highest version.
    rows = (frame.value or {}).get("apiKeys") or []
    named = [one.get("maxVersion", 0) for one in rows if one.get("apiKey") == API_VERSIONS]
    return max(min(named[-1], refused - 1), 0) if named else 0


def error_text(code: int) -> str:
    """An error code with its name, where that is known."""
    return f"error {code} ({ERRORS[code]})" if code in ERRORS else f"error {code}"


def _said(message: Message, version: int, asked: Asked) -> dict[str, Any]:
    values = {
        "clientSoftwareName": SOFTWARE,
        "clientSoftwareVersion": asked.software_version,
        "clusterId": asked.cluster,
        "nodeId": asked.node,
    }
    return {field.java_name: values[field.java_name] for field in message.fields if _takes(field, version, values)}


def _takes(field: Any, version: int, values: Mapping[str, Any]) -> bool:
    return field.java_name in values and version in field.versions


def authenticate(talker: Talker, sasl: Sasl) -> None:
    """Take the broker's SASL exchange (SaslHandshake 1, SaslAuthenticate 0). Raises ProbeError."""
    frame, _ = talker.ask(SASL_HANDSHAKE, 1, {"mechanism": sasl.mechanism})
    value = frame.value or {}
    if value.get("errorCode"):
        known = ", ".join(map(str, value.get("mechanisms") or [])) or "none"
        raise ProbeError(f"the broker does not take {sasl.mechanism}; it has {known}")
    talk = sasl.talk()
    token = next(talk)
    while True:
        frame, _ = talker.ask(SASL_AUTHENTICATE, 0, {"authBytes": token})
        value = frame.value or {}
        if value.get("errorCode"):
            said = value.get("errorMessage") or error_text(value["errorCode"])
            raise ProbeError(f"the broker refuses the credentials: {said}")
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


def metadata(talker: Talker, version: int) -> Frame:
    """Metadata of no topic, for the cluster's id (KIP-78); from version 1 on, as 0 takes no topic for all."""
    frame, _ = talker.ask(METADATA, version, {"topics": []})
    return frame


class Api(msgspec.Struct, frozen=True):
    """One RPC that a broker offers, and what a client of the set makes of it.

    `use` is the version that both know best, None where there is none, `request_header` the header in front of it;
    `refused` says that a KIP-1313 broker answers it with INVALID_REQUEST, as the connection began with request header 3
    and it has a lower one. `unknown` are offered versions that no known set has, as text. `name` is empty where no
    known set has the RPC.
    """

    api_key: int
    name: str
    lowest: int
    highest: int
    use: int | None
    unknown: str
    request_header: int | None = None
    refused: bool = False


class Judge(NamedTuple):
    """Who judges: the client's set by name and catalog, and further sets whose versions are known too."""

    name: str
    catalog: Catalog
    also: Catalog | None

    @property
    def client(self) -> Side:
        """The client."""
        request = self.catalog.keyed("request", API_VERSIONS)[0]
        return client_side(self.name, request.schemas)

    def known(self, api_key: int) -> tuple[str, VersionRange]:
        """The name of an RPC, empty where no set has it, and the versions that any set has."""
        found: list[Message] = []
        for one in (self.catalog, self.also):
            found += one.keyed("request", api_key) if one else []
        return (found[0].base_name if found else ""), VersionRange(
            pair for message in found for pair in message.valid.intervals
        )


def apis_of(judge: Judge, address: str, offer: Offer, *, sasl: bool) -> tuple[Api, ...]:
    """The RPCs of an offer, by API key. Over SASL the first request has no instance id, so that none is missed."""
    known = {row["apiKey"]: judge.known(row["apiKey"]) for row in _rows(offer)}
    offers = [Offered(row["apiKey"], known[row["apiKey"]][0], *_versions(row)) for row in _rows(offer)]
    client = judge.client
    broker = broker_side(address, offered_set(offers, client.schemas), unstable=True)
    header = header_of(judge.catalog.keyed("request", API_VERSIONS)[0], offer.version)
    begun = Exchange(address, offer.tried[0], used=offer.version, checked=header >= WITH_INSTANCE_ID and not sasl)
    found = {one.api_key: _api(one, known[one.api_key], agree(one.api_key, client, broker, begun)) for one in offers}
    return tuple(api for _, api in sorted(found.items()))


def _api(one: Offered, known: tuple[str, VersionRange], agreed: Agreement) -> Api:
    name, versions = known
    unknown = VersionRange.of(max(one.lowest, 0), one.highest) - (versions if name else NONE)
    return Api(
        api_key=one.api_key,
        name=name,
        lowest=one.lowest,
        highest=one.highest,
        use=agreed.chosen,
        unknown=str(unknown) if unknown else "",
        request_header=agreed.request_header,
        refused=agreed.status == "refused",
    )


def offer_problems(offer: Offer) -> Iterator[ByteProblem]:
    """What is wrong with an offer that can be read."""
    seen: dict[int, int] = {}
    rows = (offer.frame.value or {}).get("apiKeys") or []
    for number, row in enumerate(rows):
        if "maxVersion" not in row:
            continue
        key, (low, high) = row["apiKey"], _versions(row)
        if low > high or low < 0:
            text = f"the versions of API key {key} are {low} to {high}"
            yield _problem(offer, "versions-inverted", text, f"apiKeys[{number}].minVersion")
        if key in seen:
            text = f"API key {key} is offered twice; a client takes one of the two"
            yield _problem(offer, "api-key-twice", text, f"apiKeys[{number}].apiKey")
        seen[key] = number
    own = [_versions(row) for row in _rows(offer) if row["apiKey"] == API_VERSIONS]
    if not own or not own[0][0] <= offer.version <= own[0][1]:
        offered = f"offers versions {own[0][0]} to {own[0][1]} of it" if own else "does not offer it"
        text = f"the broker answers ApiVersions {offer.version}, and {offered}"
        yield _problem(offer, "answered-not-offered", text, "apiKeys")


def _problem(offer: Offer, rule: str, text: str, path: str) -> ByteProblem:
    place = next((span.offset for span in offer.frame.spans if span.path == path), 0)
    return ByteProblem(f"codec/{rule}", place, text, path)


def _rows(offer: Offer) -> Sequence[Mapping[str, Any]]:
    """The rows that were read to their ends."""
    return [one for one in (offer.frame.value or {}).get("apiKeys") or [] if "maxVersion" in one]


def _versions(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["minVersion"], row["maxVersion"]


class Broker(msgspec.Struct, frozen=True):
    """What one broker said; `error` is the one line in place of all else where it could not be asked.

    `tried` are the versions of ApiVersions in turn, `api_versions` the one that was answered. `complaints` are lines
    about what it did not answer, or should have answered otherwise; `problems` are those of its bytes.
    """

    address: str
    error: str | None = None
    api_versions: int | None = None
    tried: tuple[int, ...] = ()
    apis: tuple[Api, ...] = ()
    cluster_id: str | None = None
    controller: int | None = None
    nodes: tuple[str, ...] = ()
    features: Mapping[str, Any] = {}
    finalized: Mapping[str, Any] = {}
    problems: tuple[ByteProblem, ...] = ()
    complaints: tuple[str, ...] = ()

    @property
    def is_in_order(self) -> bool:
        """Whether the broker answered, and rightly."""
        wrong = (one for one in self.problems if RULES[one.rule].severity == "error")
        return not (self.error or self.complaints or any(wrong))


class Questions(NamedTuple):
    """What all brokers are asked, and how."""

    judge: Judge
    asked: Asked
    timeout: float
    tls: Tls | None
    sasl: Sasl | None
    expect_cluster: str | None


def ask(questions: Questions, host: str, port: int) -> Broker:
    """Ask one broker; what goes wrong is its error."""
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        connection = Connection(host, port, questions.timeout, questions.tls)
    except ProbeError as error:
        return Broker(address, str(error))
    try:
        talker = Talker(questions.judge.catalog, connection)
        _log_in(talker, questions)
        highest = talker.highest(API_VERSIONS)
        try:
            offer = api_versions(talker, highest, questions.asked)
        except ClosedError:
            if not highest:
                raise
            # Brokers before KIP-511 may just close: a new connection tries the oldest version.
            connection.close()
            connection = Connection(host, port, questions.timeout, questions.tls)
            talker = Talker(questions.judge.catalog, connection)
            _log_in(talker, questions)
            offer = api_versions(talker, 0, questions.asked, (highest,))
        return _understood(talker, address, offer, questions)
    except ProbeError as error:
        return Broker(address, str(error))
    finally:
        connection.close()


def _log_in(talker: Talker, questions: Questions) -> None:
    """Authenticate where that is asked for; clients send ApiVersions 0 before it."""
    if questions.sasl:
        api_versions(talker, 0, questions.asked)
        authenticate(talker, questions.sasl)


def _understood(talker: Talker, address: str, offer: Offer, questions: Questions) -> Broker:
    value = offer.frame.value or {}
    if value.get("errorCode"):
        raise ProbeError(f"ApiVersions {offer.version} is answered with {error_text(value['errorCode'])}")
    apis = apis_of(questions.judge, address, offer, sasl=questions.sasl is not None)
    about, problems, complaints = _cluster(talker, apis, questions)
    return Broker(
        address=address,
        api_versions=offer.version,
        tried=offer.tried,
        apis=apis,
        cluster_id=about.get("clusterId"),
        controller=about.get("controllerId"),
        nodes=tuple(
            f"{one['nodeId']}={one['host']}:{one['port']}" for one in about.get("brokers") or [] if "port" in one
        ),
        features=_levels(value.get("supportedFeatures"), "minVersion", "maxVersion"),
        finalized=_levels(value.get("finalizedFeatures"), "minVersionLevel", "maxVersionLevel"),
        problems=(*offer.problems, *offer_problems(offer), *problems),
        complaints=complaints,
    )


def _cluster(
    talker: Talker, apis: Sequence[Api], questions: Questions
) -> tuple[Mapping[str, Any], tuple[ByteProblem, ...], tuple[str, ...]]:
    """What Metadata says, what is wrong with its bytes, and what else there is to complain of."""
    api = next((one for one in apis if one.api_key == METADATA), None)
    if api is None or not api.use or api.refused:
        return {}, (), ()
    try:
        found = metadata(talker, api.use)
    except ProbeError as error:
        return {}, (), (f"Metadata {api.use} is not answered: {error}",)
    about, complaints = found.value or {}, []
    if about.get("errorCode"):
        complaints.append(f"Metadata {api.use} is answered with {error_text(about['errorCode'])}")
    elif questions.expect_cluster is not None and about.get("clusterId") != questions.expect_cluster:
        known = about.get("clusterId")
        complaints.append(f"the cluster is {known}, not {questions.expect_cluster}" if known else "no cluster id")
    return about, found.problems, tuple(complaints)


def _levels(rows: Any, low: str, high: str) -> dict[str, Any]:
    return {one["name"]: [one[low], one[high]] for one in rows or [] if high in one}
