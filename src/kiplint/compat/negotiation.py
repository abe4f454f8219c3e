"""Version negotiation between a client and its brokers: KIP-35, KIP-511, KIP-1242 and KIP-1313 on schema sets.

In results, which are the JSON output of `kiplint negotiate`, version ranges are text in Kafka's notation, `none` for an
empty one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.compat.roles import Mode, default_mode, is_between_nodes, is_served, versions_between_nodes
from kiplint.compat.tree import require_limits
from kiplint.model.headers import HEADER_WITH_ID, header_of
from kiplint.model.layout import Encoding, wire_forms
from kiplint.model.message import Message
from kiplint.model.rpcs import API_VERSIONS, SASL_HANDSHAKE
from kiplint.model.schemas import SchemaSet, are_related
from kiplint.versions import NONE, VersionRange

SOFTWARE: Final = ("ClientSoftwareName", "ClientSoftwareVersion")

NamedSet = tuple[str, SchemaSet]
Outcome = Literal[
    "agreed",
    "no-connection",
    "no-common-version",
    "layout-differs",
    "header-differs",
    "refused",
    "not-everywhere",
    "client-only",
    "broker-only",
    "not-offered",
]
TROUBLE: tuple[Outcome, ...] = ("no-connection", "no-common-version", "layout-differs", "header-differs", "refused")
"""The statuses of an RPC that both sides have and a client cannot use, the worst first."""


class Exchange(msgspec.Struct, frozen=True):
    """The ApiVersions exchange that begins a connection (KIP-35; KIP-511, "ApiVersions Request/Response Handling")."""

    broker: str
    mode: Annotated[Mode, Meta(description="The mode of the broker: the usual one of its release.")]
    tried: Annotated[int | None, Meta(description="The version that the client tries first: its highest.")] = None
    tried_header: Annotated[int | None, Meta(description="The request header version of that attempt.")] = None
    answer: Annotated[
        int | None,
        Meta(description="The version of the answer: `tried`, or 0 with an error; null if the connection is closed."),
    ] = None
    error: Annotated[Literal["", "UNSUPPORTED_VERSION"], Meta(description="The error code of the first answer.")] = ""
    supported: Annotated[str, Meta(description="The broker's range in that answer (KIP-511), or empty.")] = ""
    used: Annotated[int | None, Meta(description="The version that the connection uses, null without one.")] = None
    request_header: Annotated[int | None, Meta(description="The request header version of `used`.")] = None
    response_header: Annotated[int | None, Meta(description="Always 0 (KIP-511), null without `used`.")] = None
    client_software: Annotated[
        bool, Meta(description="Whether ClientSoftwareName and ClientSoftwareVersion are sent (KIP-511).")
    ] = False
    cluster_id: Annotated[bool, Meta(description="Whether Whether ClusterId can be sent (KIP-1242).")] = False
    node_id: Annotated[bool, Meta(description="Whether Whether NodeId can be sent (KIP-1242).")] = False
    checked: Annotated[
        bool,
        Meta(description="Whether it began with request header 3, which all requests must then have (KIP-1313)."),
    ] = False
    notes: Annotated[tuple[str, ...], Meta(description="Notes on the exchange.")] = ()

    @property
    def is_closed(self) -> bool:
        """Whether the broker closes the connection, because it cannot read the header of the attempt."""
        return self.tried is not None and self.answer is None


class Agreement(msgspec.Struct, frozen=True):
    """One RPC with one broker."""

    broker: str
    versions: Annotated[str | None, Meta(description="The versions that the broker offers; null if it offers none.")]
    chosen: Annotated[int | None, Meta(description="The highest version that both encode identically.")] = None
    request_header: int | None = None
    response_header: int | None = None
    status: Outcome = "agreed"
    deprecated: Annotated[bool, Meta(description="Whether a side deprecates `chosen`.")] = False
    differing: Annotated[str, Meta(description="The versions that the two encode differently; empty for none.")] = ""


class RpcRow(msgspec.Struct, frozen=True):
    """One RPC with all brokers. `usable` and the fields after it hold for all brokers together, as in KIP-35."""

    name: str
    api_key: int
    status: Outcome
    client: Annotated[str | None, Meta(description="The client's versions; null if it does not have the RPC.")]
    usable: Annotated[
        str | None, Meta(description="The versions that all sides share; null if one does not have the RPC.")
    ]
    chosen: Annotated[int | None, Meta(description="The highest usable version.")]
    request_header: int | None
    response_header: int | None
    instance_id: Annotated[bool, Meta(description="Whether the request header carries ClientInstanceId (KIP-1313).")]
    deprecated: Annotated[bool, Meta(description="Whether a side deprecates a chosen version (KIP-35, KIP-896).")]
    message: Annotated[str, Meta(description="A note; empty if the RPC is agreed and there is nothing to add.")]
    brokers: Annotated[tuple[Agreement, ...], Meta(description="Broker by broker, in the order given.")]
    between_nodes: Annotated[bool, Meta(description="Whether only brokers and controllers send it, to each other.")] = (
        False
    )

    @property
    def in_trouble(self) -> bool:
        """Whether a client cannot use an RPC that both sides have, or would be refused by a broker."""
        statuses = [self.status, *(agreement.status for agreement in self.brokers)]
        return any(is_trouble(status, between_nodes=self.between_nodes) for status in statuses)


def is_trouble(status: Outcome, *, between_nodes: bool) -> bool:
    """Whether a status means that a client cannot use an RPC that both sides have, or would be refused.

    Of an RPC between nodes only other bytes are trouble: which versions nodes choose is not negotiated.
    """
    return status == "layout-differs" if between_nodes else status in TROUBLE


class Negotiation(msgspec.Struct, frozen=True):
    """What `kiplint negotiate --output-format json` writes."""

    version: Literal[1]
    client: str
    brokers: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    rpcs: tuple[RpcRow, ...]
    summary: Annotated[dict[str, int], Meta(description="The number of RPCs: in total, by status, and between nodes.")]

    @property
    def in_trouble(self) -> bool:
        """Whether a client cannot use an RPC that both sides have, or would be refused."""
        return any(row.in_trouble for row in self.rpcs)


MessageForms = tuple[tuple[VersionRange, Encoding], ...]
"""The bytes of a message, by the ranges of versions on which they are the same."""


class Offer(msgspec.Struct, frozen=True, dict=True):
    """One RPC of a client or broker, with the versions that the client can use, or that the broker offers to clients.

    `versions_between_nodes` are the others, which only nodes use among themselves. Either range may be empty.
    """

    name: str
    request: Message
    response: Message
    versions: VersionRange
    versions_between_nodes: VersionRange = NONE

    @cached_property
    def forms(self) -> tuple[MessageForms, MessageForms]:
        """The bytes of the request, and those of the response. Raises TooLargeError."""
        require_limits(self.request, self.response)
        return tuple(wire_forms(self.request)), tuple(wire_forms(self.response))

    def versions_with_same_bytes(self, broker: Offer) -> VersionRange:
        """The versions of a client that a broker has in the same bytes, for clients or nodes. Raises TooLargeError."""
        common = self.versions & (broker.versions or broker.versions_between_nodes)
        if not common or not are_related(self.request, broker.request):
            return NONE
        request_forms, response_forms = self.forms
        broker_request_forms, broker_response_forms = broker.forms
        # Equal files have equal bytes in all versions; a message that comes from no file has no data.
        if not self.request.data or self.request.data != broker.request.data:
            common &= _equal_versions(request_forms, broker_request_forms)
        if not self.response.data or self.response.data != broker.response.data:
            common &= _equal_versions(response_forms, broker_response_forms)
        return common

    def headers(self, version: int) -> tuple[int, int]:
        """The header versions of the request and the response in a version."""
        return header_of(self.request, version), header_of(self.response, version)

    @property
    def names_software(self) -> bool:
        """Whether this is an ApiVersions that follows KIP-511: its request has ClientSoftwareName."""
        return any(field.name == SOFTWARE[0] and field.present for field in self.request.fields)


def _equal_versions(forms: MessageForms, other_forms: MessageForms) -> VersionRange:
    """The versions in which each of two messages can read the bytes of the other."""
    equal = NONE
    for versions, encoding in forms:
        for other_versions, other_encoding in other_forms:
            common = versions & other_versions
            if common and encoding.agrees_with(other_encoding):
                equal |= common
    return equal


class Side(msgspec.Struct, frozen=True, dict=True):
    """A client or a broker: its name, and its live RPCs by API key. `mode` is that of a broker."""

    name: str
    rpcs: Mapping[int, Offer]
    mode: Mode = "kraft"

    @cached_property
    def offers(self) -> dict[int, Offer]:
        """The RPCs with at least one version for clients."""
        return {api_key: offer for api_key, offer in self.rpcs.items() if offer.versions}


def negotiate(client: NamedSet, brokers: Sequence[NamedSet], *, unstable: bool = False) -> Negotiation:
    """Negotiate every RPC between a client and its brokers, each a name and a schema set.

    With `unstable` client and brokers use unstable versions. Raises TooLargeError for a message above the limits.
    """
    own_side = client_side(*client, unstable=unstable)
    broker_sides = [broker_side(name, schemas, unstable=unstable) for name, schemas in brokers]
    exchanges = tuple(exchange(own_side, broker) for broker in broker_sides)
    api_keys = {api_key for side in (own_side, *broker_sides) for api_key in side.offers}
    rows = tuple(_rpc_row(api_key, own_side, broker_sides, exchanges) for api_key in sorted(api_keys))
    counts = Counter(row.status for row in rows if not row.between_nodes)
    return Negotiation(
        version=1,
        client=own_side.name,
        brokers=tuple(broker.name for broker in broker_sides),
        exchanges=exchanges,
        rpcs=rows,
        summary={
            "rpcs": len(rows),
            **{status.replace("-", "_"): counts[status] for status in get_args(Outcome)},
            "between_nodes": sum(row.between_nodes for row in rows),
        },
    )


def client_side(name: str, schemas: SchemaSet, *, unstable: bool = False) -> Side:
    """A client: the versions of both request and response, except those that brokers use among themselves.

    It uses an unstable highest version only if `unstable` is set (`unstable.api.versions.enable`).
    """
    offers = {}
    for api_key, offer in _offers(schemas, unstable=unstable).items():
        between_nodes = versions_between_nodes(api_key, offer.name, offer.versions)
        offers[api_key] = replace(offer, versions=offer.versions - between_nodes, versions_between_nodes=between_nodes)
    return Side(name, offers)


def broker_side(name: str, schemas: SchemaSet, *, unstable: bool = False, mode: Mode | None = None) -> Side:
    """A broker: the versions in its ApiVersionsResponse in a mode, by default that of `default_mode`.

    It offers the RPCs with the listener of the mode, and of those that declare no listeners, as before Kafka 2.8, all
    that the release enables (see `compat.roles`). An unstable highest version is offered only if `unstable` is set
    (`unstable.api.versions.enable`).
    """
    mode = mode or default_mode(schemas)
    offers = _offers(schemas, unstable=unstable)
    for api_key, offer in offers.items():
        if not is_served(offer.request, mode):
            # Listeners of other modes or of controllers serve it; without listeners the release does not enable it.
            between_nodes = offer.versions if offer.request.declares_listeners else NONE
            offers[api_key] = replace(offer, versions=NONE, versions_between_nodes=between_nodes)
    return Side(name, offers, mode)


def _offers(schemas: SchemaSet, *, unstable: bool) -> dict[int, Offer]:
    """By API key, the versions that both messages of an RPC have; the unstable one only with `unstable`.

    Coordinator records, which a set pairs in the same way, are left out: they are never sent.
    """
    offers = {}
    for rpc in schemas.rpcs:
        if rpc.is_coordinator or rpc.request is None or rpc.response is None or not rpc.common:
            continue
        versions, highest = rpc.common, rpc.request.valid.highest
        if rpc.request.unstable and not unstable:
            versions -= VersionRange.of(highest, highest)
        offers[rpc.api_key] = Offer(rpc.name, rpc.request, rpc.response, versions)
    return offers


def exchange(client: Side, broker: Side) -> Exchange:
    """The first exchange of a connection, by which the client learns the versions of the broker.

    The client tries its highest version. A broker that does not know it answers in version 0 with UNSUPPORTED_VERSION
    (KIP-35, "Proposed Changes", 4), and the client continues with an older version. It reads the header of an unknown
    version as that of its own highest: if that has no client instance id, it closes the connection (tried with brokers
    2.8.0 to 4.4.0; docs/guide/migration.md has the bytes).
    """
    ours, theirs = client.offers.get(API_VERSIONS), broker.offers.get(API_VERSIONS)
    if ours is None or theirs is None:
        side = "client" if ours is None else "broker"
        note = f"the {side} has no ApiVersions: the client must be configured for the version of the broker (KIP-35)"
        return Exchange(broker.name, broker.mode, notes=(note,))
    tried = ours.versions.highest
    opening = Exchange(broker.name, broker.mode, tried, header_of(ours.request, tried), answer=tried, used=tried)
    if tried not in theirs.versions:
        known_header = header_of(theirs.request, theirs.request.valid.highest)
        if header_of(ours.request, tried) >= HEADER_WITH_ID > known_header:
            note = f"the broker closes the connection: it takes the header of version {tried} for header {known_header}"
            return replace(opening, answer=None, used=None, notes=(note,))
        opening = _fallback(opening, ours, theirs)
    used = opening.used
    if used is None:
        return opening
    fields = {field.name for field in ours.request.fields if used in field.present}
    return replace(
        opening,
        request_header=header_of(ours.request, used),
        response_header=0,
        client_software=fields.issuperset(SOFTWARE),
        cluster_id="ClusterId" in fields,
        node_id="NodeId" in fields,
        checked=header_of(theirs.request, used) >= HEADER_WITH_ID,
    )


def _fallback(opening: Exchange, ours: Offer, theirs: Offer) -> Exchange:
    """The exchange after a broker refused the version that the client tried; `used` is None without a common version.

    Since KIP-511 ("Broker", "ApiVersions Request/Response Handling") the broker answers with its range of ApiVersions.
    A client that reads the range continues with the highest version of both, any other with version 0.
    """
    common, notes = ours.versions & theirs.versions, []
    supported = str(theirs.versions) if theirs.names_software else ""
    if not supported or not ours.names_software:
        side = "client" if supported else "broker"
        notes.append(f"the {side} is older than KIP-511: ApiVersions falls back to version 0")
        common &= VersionRange.of(0, 0)
    if not common:
        notes.append("there is no version in common: ApiVersions must never lose its version 0 (KIP-35)")
    return replace(
        opening,
        answer=0,
        error="UNSUPPORTED_VERSION",
        supported=supported,
        used=common.highest if common else None,
        notes=tuple(notes),
    )


def agree(api_key: int, client: Side, broker: Side, opening: Exchange) -> Agreement:
    """The agreement of client and broker on an RPC, over a connection that began with the exchange `opening`.

    The version is the highest that both have (KIP-35, "Proposed Changes", 5); for ApiVersions the one of the
    exchange. If both have that in different bytes (`layout-differs`), it is the highest in the same bytes, to which the
    client has to be limited. After a first request with header 3, one without it is refused with INVALID_REQUEST,
    except ApiVersions and SaslHandshake (KIP-1313, "Client Instance ID").
    """
    ours, theirs = client.offers.get(api_key), broker.rpcs.get(api_key)
    if theirs is None:
        return Agreement(broker.name, None, status="client-only")
    if not theirs.versions:
        return _agreement_if_not_offered(api_key, ours, theirs, broker.name)
    offered = str(theirs.versions)
    if ours is None:
        return Agreement(broker.name, offered, status="broker-only")
    if opening.is_closed:
        return Agreement(broker.name, offered, status="no-connection")
    common = ours.versions & theirs.versions
    version = opening.used if api_key == API_VERSIONS else common.highest
    if not common or version is None:
        return Agreement(broker.name, offered, status="no-common-version")

    same_bytes = ours.versions_with_same_bytes(theirs)
    differing = str(common - same_bytes) if common - same_bytes else ""
    status: Outcome = "agreed"
    if version not in same_bytes:  # a client chooses by number, and both sides would misread each other
        status = "layout-differs"
        if not same_bytes:
            return Agreement(broker.name, offered, status=status, differing=differing)
        version = same_bytes.highest
    request_header, response_header = ours.headers(version)
    began_with_id = opening.checked
    must_have_id = began_with_id and api_key not in (API_VERSIONS, SASL_HANDSHAKE)
    if status == "agreed" and (request_header, response_header) != theirs.headers(version):
        status = "header-differs"
    elif status == "agreed" and must_have_id and request_header < HEADER_WITH_ID:
        status = "refused"
    is_deprecated = version in ours.request.deprecated | theirs.request.deprecated
    return Agreement(broker.name, offered, version, request_header, response_header, status, is_deprecated, differing)


def _agreement_if_not_offered(api_key: int, ours: Offer | None, theirs: Offer, broker: str) -> Agreement:
    """The agreement on an RPC that a broker does not offer to clients; if nodes use it, its bytes must be equal."""
    if ours and is_between_nodes(api_key, ours.name):
        differing = (ours.versions & theirs.versions_between_nodes) - ours.versions_with_same_bytes(theirs)
        if differing:
            return Agreement(broker, None, status="layout-differs", differing=str(differing))
    return Agreement(broker, None, status="not-offered")


def _rpc_row(api_key: int, client: Side, brokers: Sequence[Side], exchanges: Sequence[Exchange]) -> RpcRow:
    """What a client and all its brokers agree on (KIP-35, the state that the client builds)."""
    agreements = [agree(api_key, client, broker, opening) for broker, opening in zip(brokers, exchanges, strict=True)]
    ours = client.offers.get(api_key)
    broker_offers = [broker.offers[api_key] for broker in brokers if api_key in broker.offers]
    any_offer = ours or broker_offers[0]

    usable: VersionRange | None = None  # None where a side lacks the RPC, empty where no version works with all
    if ours and len(broker_offers) == len(brokers):
        usable = ours.versions
        for theirs, opening in zip(broker_offers, exchanges, strict=True):
            usable = NONE if opening.is_closed else usable & ours.versions_with_same_bytes(theirs)
    chosen: int | None = None
    if usable and api_key == API_VERSIONS:  # each connection uses the version of its exchange: the lowest of them
        chosen = min((agreement.chosen for agreement in agreements if agreement.chosen is not None), default=None)
    elif usable:
        chosen = usable.highest
    request_header, response_header = (None, None) if chosen is None else any_offer.headers(chosen)

    status = _status_with_all(agreements, usable)
    notes = _notes(status, ours, [broker.rpcs.get(api_key) for broker in brokers], agreements) if ours else ()
    return RpcRow(
        name=any_offer.name,
        api_key=api_key,
        status=status,
        client=str(ours.versions) if ours else None,
        usable=None if usable is None else str(usable),
        chosen=chosen,
        request_header=request_header,
        response_header=response_header,
        instance_id=request_header is not None and request_header >= HEADER_WITH_ID,
        deprecated=any(agreement.deprecated for agreement in agreements),
        message="; ".join(notes),
        brokers=tuple(agreements),
        between_nodes=is_between_nodes(api_key, any_offer.name),
    )


def _status_with_all(agreements: Sequence[Agreement], usable: VersionRange | None) -> Outcome:
    """The status of an RPC with all brokers together: the worst of theirs, or that no version is usable with all.

    `usable` is None where a side lacks the RPC. That layouts differ, or that a broker closes the connection, counts
    even where no version is usable.
    """
    statuses = {agreement.status for agreement in agreements}
    if usable is not None and not usable and statuses.isdisjoint({"layout-differs", "no-connection"}):
        return "no-common-version"
    for status in (*TROUBLE, "broker-only"):
        if status in statuses:
            return status
    if statuses <= {"client-only", "not-offered"}:
        return "not-offered" if "not-offered" in statuses else "client-only"
    return "agreed" if statuses == {"agreed"} else "not-everywhere"


def _notes(
    status: Outcome, ours: Offer, broker_offers: Sequence[Offer | None], agreements: Sequence[Agreement]
) -> Iterator[str]:
    """What the client's user has to know of an RPC with this status; offers and agreements are broker by broker."""
    if status == "no-connection":
        for agreement in agreements:
            if agreement.status == status:
                yield f"{agreement.broker} closes the connection, as it cannot read the header of ApiVersions"
    if status == "no-common-version":
        ranges = ", ".join(f"{agreement.broker} {agreement.versions or 'none'}" for agreement in agreements)
        yield f"the client has {ours.versions}, {ranges}: no version in common"
    if status == "not-everywhere":
        yield f"not offered by {', '.join(agreement.broker for agreement in agreements if agreement.chosen is None)}"
    for agreement, theirs in zip(agreements, broker_offers, strict=True):
        if theirs and agreement.differing:
            yield _differing_bytes(ours, theirs, agreement)
        version = agreement.chosen
        if theirs is None or version is None or agreement.status != status:
            continue
        if status == "header-differs":
            own_headers = "{}, {}".format(*ours.headers(version))
            broker_headers = "{}, {}".format(*theirs.headers(version))
            yield f"version {version}: headers {own_headers} for the client, {broker_headers} for {agreement.broker}"
        if status == "refused":
            yield (
                f"{agreement.broker} answers version {version} with 42 (INVALID_REQUEST, not retriable): it has "
                f"request header {agreement.request_header}, and the connection began with header 3"
            )


def _differing_bytes(ours: Offer, theirs: Offer, agreement: Agreement) -> str:
    """The note on versions that both have in other bytes, with the highest one that is safe to use."""
    if not are_related(ours.request, theirs.request):
        api_key = ours.request.api_key
        return f"API key {api_key} is {ours.name} for the client and {theirs.name} for {agreement.broker}"
    is_single = agreement.differing.isdecimal()
    versions = f"version {agreement.differing} is" if is_single else f"versions {agreement.differing} are"
    common = ours.versions_with_same_bytes(theirs)
    safe = f"; the last safe version is {common.highest}" if common else ", and no version is safe"
    return f"{versions} encoded differently by {agreement.broker}{safe}"
