"""Version negotiation between a client and its brokers: KIP-35, KIP-511, KIP-1242 and KIP-1313 on schema sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from typing import Final, get_args

import msgspec
from msgspec.structs import replace

from kiplint.compat.negotiation.result import (
    TROUBLE,
    Age,
    Agreement,
    BrokerMode,
    Exchange,
    Ids,
    Negotiation,
    NegotiationSummary,
    Outcome,
    RpcRow,
    Telemetry,
)
from kiplint.compat.roles import Mode, default_mode, is_between_nodes, is_served, kept_by_brokers, modes_of
from kiplint.compat.tree import TooLargeError
from kiplint.model.error_codes import INVALID_REQUEST
from kiplint.model.headers import API_VERSIONS, WITH_INSTANCE_ID, header_of
from kiplint.model.layout import Encoding, exceeded_limit, wire_forms
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet, are_related
from kiplint.versions import NONE, VersionRange

SASL_HANDSHAKE: Final = 17
GET_TELEMETRY_SUBSCRIPTIONS: Final = 71
SOFTWARE: Final = ("ClientSoftwareName", "ClientSoftwareVersion")

NamedSet = tuple[str, SchemaSet]


class Offer(msgspec.Struct, frozen=True, dict=True):
    """The versions of one RPC that a side can use as a client, or offers to clients.

    `reserved_versions` are the others, which only nodes use among themselves.
    """

    name: str
    request: Message
    response: Message
    versions: VersionRange
    reserved_versions: VersionRange = NONE

    @cached_property
    def forms(self) -> tuple[tuple[tuple[VersionRange, Encoding], ...], ...]:
        """The bytes of request and response, by version. Raises TooLargeError."""
        messages = (self.request, self.response)
        for message in messages:
            if limit := exceeded_limit(message):
                raise TooLargeError(message.file, limit)
        return tuple(tuple(wire_forms(message)) for message in messages)

    def common_versions(self, other: Offer) -> VersionRange:
        """The versions of a client that a broker has, for clients or nodes, in the same bytes. Raises TooLargeError."""
        common = self.versions & (other.versions or other.reserved_versions)
        if not common or not are_related(self.request, other.request):
            return NONE
        files = (self.request.data, other.request.data), (self.response.data, other.response.data)
        for (data, other_data), ours, theirs in zip(files, self.forms, other.forms, strict=True):
            if data and data == other_data:
                continue
            equal = NONE
            for versions, form in ours:
                for other_versions, other_form in theirs:
                    if (both := versions & other_versions) and form.agrees_with(other_form):
                        equal |= both
            common &= equal
        return common

    def headers(self, version: int) -> tuple[int, int]:
        """The header versions of request and response."""
        return header_of(self.request, version), header_of(self.response, version)

    @property
    def names_software(self) -> bool:
        """Whether this is an ApiVersions that follows KIP-511: its request has ClientSoftwareName."""
        return any(field.name == SOFTWARE[0] and field.present for field in self.request.fields)


class Side(msgspec.Struct, frozen=True, dict=True):
    """A client or a broker: its name, its schema set, and its live RPCs by API key. `mode` is that of a broker."""

    name: str
    schemas: SchemaSet
    rpcs: Mapping[int, Offer]
    mode: Mode = "kraft"

    @cached_property
    def offers(self) -> dict[int, Offer]:
        """The RPCs with at least one version to use."""
        return {key: offer for key, offer in self.rpcs.items() if offer.versions}


def negotiate(client: NamedSet, brokers: Sequence[NamedSet], *, unstable: bool = False) -> Negotiation:
    """Negotiate every RPC between a client and its brokers, each a name and a schema set.

    With `unstable` client and brokers use unstable versions. Raises TooLargeError for a message above the limits.
    """
    ours = client_side(*client, unstable=unstable)
    theirs = [broker_side(name, schemas, unstable=unstable) for name, schemas in brokers]
    connections = [(broker, exchange(ours, broker)) for broker in theirs]
    rows = tuple(
        _row(key, ours, theirs, tuple(agree(key, ours, broker, opening) for broker, opening in connections))
        for key in sorted({*ours.offers, *(key for broker in theirs for key in broker.offers)})
    )
    return Negotiation(
        version=1,
        client=ours.name,
        brokers=tuple(broker.name for broker in theirs),
        exchanges=tuple(opening for _, opening in connections),
        telemetry=tuple(_telemetry(ours, *connection) for connection in connections),
        rpcs=rows,
        summary=_summary(rows),
        modes=tuple(_mode(ours, broker, unstable=unstable) for broker in theirs),
    )


def client_side(name: str, schemas: SchemaSet, *, unstable: bool = False) -> Side:
    """A client: the versions of both request and response, except those that brokers keep.

    It uses an unstable highest version only if `unstable` is set (`unstable.api.versions.enable`).
    """
    offers = {}
    for rpc in schemas.rpcs:
        if offer := _offer(rpc, unstable=unstable):
            reserved = kept_by_brokers(rpc.api_key, offer.name, offer.versions)
            offers[rpc.api_key] = replace(offer, versions=offer.versions - reserved, reserved_versions=reserved)
    return Side(name, schemas, offers)


def broker_side(name: str, schemas: SchemaSet, *, unstable: bool = False, mode: Mode | None = None) -> Side:
    """A broker: the versions in its ApiVersionsResponse in a mode, by default that of `default_mode`.

    It offers the RPCs with the listener of the mode, and of those that declare no listeners, as before Kafka 2.8, all
    that the release enables (see `compat.roles`). An unstable highest version is offered only if `unstable` is set
    (`unstable.api.versions.enable`).
    """
    own_mode = mode or default_mode(schemas)
    offers = {}
    for rpc in schemas.rpcs:
        if offer := _offer(rpc, unstable=unstable):
            of_nodes = offer.versions if offer.request.declares_listeners else NONE
            closed = replace(offer, versions=NONE, reserved_versions=of_nodes)
            offers[rpc.api_key] = offer if is_served(rpc, own_mode) else closed
    return Side(name, schemas, offers, own_mode)


def _offer(rpc: Rpc, *, unstable: bool) -> Offer | None:
    """The versions that both messages of an RPC have; without `unstable` not those that the request marks so."""
    if rpc.is_coordinator or rpc.request is None or rpc.response is None or not rpc.common:
        return None
    versions, highest = rpc.common, rpc.request.valid.highest
    if rpc.request.unstable and not unstable:
        versions -= VersionRange.of(highest, highest)
    return Offer(rpc.name, rpc.request, rpc.response, versions)


def _mode(client: Side, broker: Side, *, unstable: bool) -> BrokerMode:
    """The mode of a broker, and the client's RPCs that only this mode, or only the other mode, offers."""
    others = [mode for mode in modes_of(broker.schemas) if mode != broker.mode]
    if not others:
        return BrokerMode(broker.name, broker.mode)
    other = broker_side(broker.name, broker.schemas, unstable=unstable, mode=others[0])
    keys = {key: offer.name for key, offer in sorted(client.offers.items()) if not is_between_nodes(key, offer.name)}
    only = tuple(name for key, name in keys.items() if key in broker.offers and key not in other.offers)
    not_here = tuple(name for key, name in keys.items() if key in other.offers and key not in broker.offers)
    return BrokerMode(broker.name, broker.mode, True, only, not_here)


def exchange(client: Side, broker: Side) -> Exchange:
    """The first exchange of a connection, by which the client learns the versions of the broker.

    The client tries its highest version. A broker that does not know it answers in version 0 with UNSUPPORTED_VERSION
    (KIP-35, "Proposed Changes", 4), and since KIP-511 ("Broker", "ApiVersions Request/Response Handling") with its
    range of ApiVersions. A client that reads the range continues with the highest version of both, any other with 0.
    """
    ours, theirs = client.offers.get(API_VERSIONS), broker.offers.get(API_VERSIONS)
    if ours is None:
        note = "the client has no ApiVersions: its configuration must name the version of the broker (KIP-35)"
        return Exchange(broker.name, notes=(note,))
    version = ours.versions.highest
    first = Exchange(broker.name, version, header_of(ours.request, version))
    if theirs is None:
        note = "the broker has no ApiVersions: it closes the connection, so the client must be configured for it"
        return replace(first, notes=(note,))
    if version in theirs.versions:
        first, used = replace(first, answer=version), version
    else:
        common, notes = ours.versions & theirs.versions, []
        if not theirs.names_software:
            notes.append(
                "the answer does not name the broker's range (before KIP-511): the client goes back to version 0"
            )
        elif not ours.names_software:
            notes.append("the client does not read the range in the answer (before KIP-511): it goes back to version 0")
        if notes:
            common &= VersionRange.of(0, 0)
        if not common:
            notes.append("there is no version in common: ApiVersions must never lose its version 0 (KIP-35)")
        named_range = str(theirs.versions) if theirs.names_software else ""
        first = replace(first, answer=0, error="UNSUPPORTED_VERSION", supported=named_range, notes=tuple(notes))
        if not common:
            return first
        used = common.highest
    fields = {field.name for field in ours.request.fields if used in field.present}
    return replace(
        first,
        used=used,
        request_header=header_of(ours.request, used),
        response_header=0,
        client_software=fields.issuperset(SOFTWARE),
        cluster_id="ClusterId" in fields,
        node_id="NodeId" in fields,
        checked=header_of(theirs.request, used) >= WITH_INSTANCE_ID,
    )


def agree(key: int, client: Side, broker: Side, opening: Exchange) -> Agreement:
    """The agreement of client and broker on an RPC, over a connection that began with the exchange.

    The version is the highest that both have (KIP-35, "Proposed Changes", 5); for ApiVersions the one of the
    exchange. After a first request with header 3, one without it is refused with INVALID_REQUEST; SaslHandshake is
    exempt (KIP-1313, "Client Instance ID").
    """
    ours, theirs = client.offers.get(key), broker.rpcs.get(key)
    if theirs is None:
        return Agreement(broker.name, None, status="client-only")
    if not theirs.versions:
        if ours and is_between_nodes(key, ours.name):
            used_versions = ours.versions & theirs.reserved_versions
            if other_versions := used_versions - ours.common_versions(theirs):
                return Agreement(broker.name, None, status="layout-differs", differing=str(other_versions))
        return Agreement(broker.name, None, status="not-offered")
    versions = str(theirs.versions)
    if ours is None:
        return Agreement(broker.name, versions, status="broker-only")
    by_number, common = ours.versions & theirs.versions, ours.common_versions(theirs)
    version = opening.used if key == API_VERSIONS and opening.tried is not None else by_number.highest
    if not by_number or version is None:
        return Agreement(broker.name, versions, status="no-common-version")
    status: Outcome = "agreed"
    if version not in common:  # a client chooses by number, and both sides would misread each other
        status = "layout-differs"
        version = common.highest if common else None
    differing = str(by_number - common or "")
    if version is None:
        return Agreement(broker.name, versions, status=status, differing=differing)
    headers = ours.headers(version)
    if status == "agreed" and headers != theirs.headers(version):
        status = "header-differs"
    elif status == "agreed" and opening.checked and headers[0] < WITH_INSTANCE_ID:
        status = "agreed" if key in (API_VERSIONS, SASL_HANDSHAKE) else "refused"
    deprecated = ours.request.deprecated | theirs.request.deprecated
    current = common - deprecated
    best = current.highest if current and version in deprecated else None
    return Agreement(broker.name, versions, version, *headers, status, version in deprecated, best, differing)


def _row(key: int, client: Side, brokers: Sequence[Side], agreements: tuple[Agreement, ...]) -> RpcRow:
    """What a client and all its brokers agree on (KIP-35, the state that the client builds)."""
    ours, theirs = client.offers.get(key), [broker.offers[key] for broker in brokers if key in broker.offers]
    first = ours or theirs[0]
    usable: VersionRange | None = None
    version: int | None = None
    if ours and len(theirs) == len(brokers):
        usable = reduce(VersionRange.__and__, map(ours.common_versions, theirs), ours.versions)
    if usable:
        chosen_versions = [agreement.chosen for agreement in agreements if agreement.chosen is not None]
        version = min(chosen_versions, default=None) if key == API_VERSIONS else usable.highest
    headers: tuple[int | None, int | None] = (None, None) if version is None else first.headers(version)
    status = _whole_status(agreements, usable)
    return RpcRow(
        first.name,
        key,
        status,
        str(ours.versions) if ours else None,
        None if usable is None else str(usable),
        version,
        *headers,
        (headers[0] or 0) >= WITH_INSTANCE_ID,
        any(agreement.deprecated for agreement in agreements),
        "; ".join(_notes(status, ours, [broker.rpcs.get(key) for broker in brokers], agreements)) if ours else "",
        agreements,
        is_between_nodes(key, first.name),
    )


def _whole_status(agreements: tuple[Agreement, ...], usable: VersionRange | None) -> Outcome:
    statuses = {agreement.status for agreement in agreements}
    if usable is not None and not usable and "layout-differs" not in statuses:
        return "no-common-version"
    for status in (*TROUBLE, "broker-only"):
        if status in statuses:
            return status
    if statuses <= {"client-only", "not-offered"}:
        return "not-offered" if "not-offered" in statuses else "client-only"
    return "agreed" if statuses == {"agreed"} else "not-everywhere"


def _notes(
    status: Outcome, ours: Offer, theirs: Sequence[Offer | None], agreements: tuple[Agreement, ...]
) -> Iterator[str]:
    """What there is to say of an RPC of the client."""
    if status == "no-common-version":
        ranges = ", ".join(f"{agreement.broker} {agreement.versions or 'none'}" for agreement in agreements)
        yield f"the client has {ours.versions}, {ranges}: no version in common"
    if status == "not-everywhere":
        yield f"not offered by {', '.join(agreement.broker for agreement in agreements if agreement.chosen is None)}"
    offered_versions = NONE
    for agreement, offer in zip(agreements, theirs, strict=True):
        if offer is None:
            continue
        offered_versions |= offer.versions
        if agreement.differing:
            yield _differing_bytes(ours, offer, agreement)
        version = agreement.chosen
        if version is None:
            continue
        if agreement.status == status == "header-differs":
            headers = zip(("request", "response"), ours.headers(version), offer.headers(version), strict=True)
            kind, client, server = next(pair for pair in headers if pair[1] != pair[2])
            yield f"version {version}: {kind} header {client} for the client, {server} for {agreement.broker}"
        elif agreement.status == status == "refused":
            yield (
                f"{agreement.broker} answers version {version} with {INVALID_REQUEST}: it has request header "
                f"{agreement.request_header}, and the connection began with header 3"
            )
        elif agreement.deprecated and status not in TROUBLE:
            yield _deprecation(ours, offer, agreement)
    if kept_versions := ours.reserved_versions & offered_versions:
        yield f"clients leave {kept_versions} to brokers, which use it among themselves"


def _differing_bytes(ours: Offer, theirs: Offer, agreement: Agreement) -> str:
    """The versions that differ, and the last one that is safe."""
    if not are_related(ours.request, theirs.request):
        key = ours.request.api_key
        return f"API key {key} is {ours.name} for the client and {theirs.name} for {agreement.broker}"
    several = not agreement.differing.isdecimal()
    note = f"version{'s' if several else ''} {agreement.differing} {'have' if several else 'has'} other bytes for "
    common = ours.common_versions(theirs)
    safe = f"; the last safe version is {common.highest}" if common else ", and no version is safe"
    return note + agreement.broker + safe


def _deprecation(ours: Offer, theirs: Offer, agreement: Agreement) -> str:
    """Which side declares the version deprecated, and the version to use instead: of both sides, else of the broker."""
    sides = (("the client", ours), (agreement.broker, theirs))
    naming = [name for name, offer in sides if (agreement.chosen or 0) in offer.request.deprecated]
    note = f"{' and '.join(naming)} {'calls' if len(naming) == 1 else 'call'} version {agreement.chosen} deprecated"
    if agreement.best is not None:
        return f"{note}; version {agreement.best} is not"
    others = theirs.versions - theirs.request.deprecated
    rest = f"; {agreement.broker} has {others} that are not" if others else ", as every version that both have"
    return f"{note}{rest}"


def _telemetry(client: Side, broker: Side, opening: Exchange) -> Telemetry:
    """The cell of the table in KIP-1313 for client and broker.

    A client that knows request header 3 creates the id itself, and sends it in the body of requests whose version does
    not use that header. For any other client the broker creates the id.
    """
    agreement = agree(GET_TELEMETRY_SUBSCRIPTIONS, client, broker, opening)
    ages = _age(client.schemas), _age(broker.schemas)
    if agreement.chosen is None:
        initial = later = Ids()
    elif ages[0] == "old":
        initial, later = Ids(request="0", response="UUID-B"), Ids(request="UUID-B", response="0")
    elif (agreement.request_header or 0) >= WITH_INSTANCE_ID:
        initial = later = Ids(header="UUID-H")
    else:
        initial = later = Ids(request="UUID-R", response="0")
    return Telemetry(broker.name, *ages, agreement.chosen, initial, later)


def _age(schemas: SchemaSet) -> Age:
    """`new` for a set that follows KIP-1313: it has RequestHeader 3, or a request whose highest version uses it."""
    header = schemas.request_header
    requests = (message for message in schemas.messages if message.type == "request" and message.valid)
    headers = (header_of(request, request.valid.highest) for request in requests)
    return "new" if max(header.valid.highest if header else 0, *headers, 0) >= WITH_INSTANCE_ID else "old"


def _summary(rows: tuple[RpcRow, ...]) -> NegotiationSummary:
    ours = [row for row in rows if not row.between_nodes]
    counts = Counter(row.status for row in ours)
    return NegotiationSummary(
        rpcs=len(rows),
        **{status.replace("-", "_"): counts[status] for status in get_args(Outcome)},
        deprecated=sum(row.deprecated for row in ours),
        between_nodes=len(rows) - len(ours),
    )
