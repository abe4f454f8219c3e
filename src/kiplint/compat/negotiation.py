"""Version negotiation between a client and its brokers: KIP-35, KIP-511, KIP-1242 and KIP-1313 on schema sets.

In results, which are the JSON output of `kiplint negotiate`, version ranges are text in Kafka's notation, `none` for an
empty one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.compat.roles import Mode, default_mode, is_between_nodes, is_served, kept_by_brokers
from kiplint.compat.tree import require_limits
from kiplint.model.headers import API_VERSIONS, WITH_INSTANCE_ID, header_of
from kiplint.model.layout import Encoding, wire_forms
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet, are_related
from kiplint.versions import NONE, VersionRange

SASL_HANDSHAKE: Final = 17
SOFTWARE: Final = ("ClientSoftwareName", "ClientSoftwareVersion")

NamedSet = tuple[str, SchemaSet]
Outcome = Literal[
    "agreed",
    "no-common-version",
    "layout-differs",
    "header-differs",
    "refused",
    "not-everywhere",
    "client-only",
    "broker-only",
    "not-offered",
]
TROUBLE: tuple[Outcome, ...] = ("no-common-version", "layout-differs", "header-differs", "refused")


class Exchange(msgspec.Struct, frozen=True):
    """The ApiVersions exchange that begins a connection (KIP-35; KIP-511, "ApiVersions Request/Response Handling")."""

    broker: str
    mode: Annotated[Mode, Meta(description="The mode of the broker: the usual one of its release.")]
    tried: Annotated[int | None, Meta(description="The version that the client tries first: its highest.")] = None
    tried_header: Annotated[int | None, Meta(description="The request header version of that attempt.")] = None
    answer: Annotated[int | None, Meta(description="The version of the answer: `tried`, or 0 with an error.")] = None
    error: Annotated[Literal["", "UNSUPPORTED_VERSION"], Meta(description="The error code of the first answer.")] = ""
    supported: Annotated[str, Meta(description="The broker's range in that answer (KIP-511), or empty.")] = ""
    used: Annotated[int | None, Meta(description="The version that the connection uses, null without one.")] = None
    request_header: Annotated[int | None, Meta(description="The request header version of `used`.")] = None
    response_header: Annotated[int | None, Meta(description="Always 0 (KIP-511), null without `used`.")] = None
    client_software: Annotated[bool, Meta(description="ClientSoftwareName and -Version are sent (KIP-511).")] = False
    cluster_id: Annotated[bool, Meta(description="ClusterId can be sent (KIP-1242).")] = False
    node_id: Annotated[bool, Meta(description="NodeId can be sent (KIP-1242).")] = False
    checked: Annotated[bool, Meta(description="It began with request header 3: all must have it (KIP-1313).")] = False
    notes: Annotated[tuple[str, ...], Meta(description="Notes on the exchange.")] = ()


class Agreement(msgspec.Struct, frozen=True):
    """One RPC with one broker."""

    broker: str
    versions: Annotated[str | None, Meta(description="The versions that the broker offers; null when it offers none.")]
    chosen: Annotated[int | None, Meta(description="The highest version that both have in the same bytes.")] = None
    request_header: int | None = None
    response_header: int | None = None
    status: Outcome = "agreed"
    deprecated: Annotated[bool, Meta(description="A side has `chosen` among its deprecatedVersions.")] = False
    differing: Annotated[str, Meta(description="The versions that both have, in other bytes; empty for none.")] = ""


class RpcRow(msgspec.Struct, frozen=True):
    """One RPC with all brokers. `usable` and the fields after it hold for all brokers together, as in KIP-35."""

    name: str
    api_key: int
    status: Outcome
    client: Annotated[str | None, Meta(description="The client's versions, null when it has no such RPC.")]
    usable: Annotated[str | None, Meta(description="What all sides share, null when one lacks the RPC.")]
    chosen: Annotated[int | None, Meta(description="The highest usable version.")]
    request_header: int | None
    response_header: int | None
    instance_id: Annotated[bool, Meta(description="The request header carries ClientInstanceId (KIP-1313).")]
    deprecated: Annotated[bool, Meta(description="A side declares a chosen version deprecated (KIP-35, KIP-896).")]
    message: Annotated[str, Meta(description="A note; empty when the RPC is agreed and there is nothing to add.")]
    brokers: Annotated[tuple[Agreement, ...], Meta(description="Broker by broker, in the order given.")]
    between_nodes: Annotated[bool, Meta(description="Only brokers and controllers send it to each other.")] = False

    @property
    def in_trouble(self) -> bool:
        """Whether a client cannot use an RPC that both sides have, or would be refused.

        Of an RPC between nodes only whether its bytes differ: which versions nodes choose is not negotiated.
        """
        statuses = {self.status, *(agreement.status for agreement in self.brokers)}
        return not statuses.isdisjoint(("layout-differs",) if self.between_nodes else TROUBLE)


class Negotiation(msgspec.Struct, frozen=True):
    """What `kiplint negotiate --output-format json` writes."""

    version: Literal[1]
    client: str
    brokers: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    rpcs: tuple[RpcRow, ...]
    summary: Annotated[dict[str, int], Meta(description="The number of RPCs, in all, by status, and between nodes.")]

    @property
    def in_trouble(self) -> bool:
        """Whether a client cannot use an RPC that both sides have, or would be refused."""
        return any(row.in_trouble for row in self.rpcs)


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
        require_limits(*messages)
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
    """A client or a broker: its name, and its live RPCs by API key. `mode` is that of a broker."""

    name: str
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
    exchanges = tuple(exchange(ours, broker) for broker in theirs)
    keys = sorted({*ours.offers, *(key for broker in theirs for key in broker.offers)})
    rows = tuple(_row(key, ours, theirs, exchanges) for key in keys)
    counts = Counter(row.status for row in rows if not row.between_nodes)
    return Negotiation(
        version=1,
        client=ours.name,
        brokers=tuple(broker.name for broker in theirs),
        exchanges=exchanges,
        rpcs=rows,
        summary={
            "rpcs": len(rows),
            **{status.replace("-", "_"): counts[status] for status in get_args(Outcome)},
            "between_nodes": sum(row.between_nodes for row in rows),
        },
    )


def client_side(name: str, schemas: SchemaSet, *, unstable: bool = False) -> Side:
    """A client: the versions of both request and response, except those that brokers keep.

    It uses an unstable highest version only if `unstable` is set (`unstable.api.versions.enable`).
    """
    offers = {}
    for rpc, offer in _offers(schemas, unstable=unstable):
        of_nodes = kept_by_brokers(rpc.api_key, offer.name, offer.versions)
        offers[rpc.api_key] = replace(offer, versions=offer.versions - of_nodes, reserved_versions=of_nodes)
    return Side(name, offers)


def broker_side(name: str, schemas: SchemaSet, *, unstable: bool = False, mode: Mode | None = None) -> Side:
    """A broker: the versions in its ApiVersionsResponse in a mode, by default that of `default_mode`.

    It offers the RPCs with the listener of the mode, and of those that declare no listeners, as before Kafka 2.8, all
    that the release enables (see `compat.roles`). An unstable highest version is offered only if `unstable` is set
    (`unstable.api.versions.enable`).
    """
    mode = mode or default_mode(schemas)
    offers = {}
    for rpc, offer in _offers(schemas, unstable=unstable):
        of_nodes = offer.versions if offer.request.declares_listeners else NONE
        closed_offer = replace(offer, versions=NONE, reserved_versions=of_nodes)
        offers[rpc.api_key] = offer if is_served(rpc, mode) else closed_offer
    return Side(name, offers, mode)


def _offers(schemas: SchemaSet, *, unstable: bool) -> Iterator[tuple[Rpc, Offer]]:
    """The versions that both messages of each RPC have; without `unstable` not those that the request marks so."""
    for rpc in schemas.rpcs:
        if rpc.is_coordinator or rpc.request is None or rpc.response is None or not rpc.common:
            continue
        versions, highest = rpc.common, rpc.request.valid.highest
        if rpc.request.unstable and not unstable:
            versions -= VersionRange.of(highest, highest)
        yield rpc, Offer(rpc.name, rpc.request, rpc.response, versions)


def exchange(client: Side, broker: Side) -> Exchange:
    """The first exchange of a connection, by which the client learns the versions of the broker.

    The client tries its highest version. A broker that does not know it answers in version 0 with UNSUPPORTED_VERSION
    (KIP-35, "Proposed Changes", 4), and since KIP-511 ("Broker", "ApiVersions Request/Response Handling") with its
    range of ApiVersions. A client that reads the range continues with the highest version of both, any other with 0.
    """
    ours, theirs = client.offers.get(API_VERSIONS), broker.offers.get(API_VERSIONS)
    if ours is None or theirs is None:
        side = "client" if ours is None else "broker"
        note = f"the {side} has no ApiVersions: the client must be configured for the version of the broker (KIP-35)"
        return Exchange(broker.name, broker.mode, notes=(note,))
    used = tried = ours.versions.highest
    first = Exchange(broker.name, broker.mode, tried, header_of(ours.request, tried), answer=tried)
    if tried not in theirs.versions:
        common, notes = ours.versions & theirs.versions, []
        named_range = str(theirs.versions) if theirs.names_software else ""
        if not (named_range and ours.names_software):
            side = "client" if named_range else "broker"
            notes.append(f"the {side} is older than KIP-511: ApiVersions falls back to version 0")
            common &= VersionRange.of(0, 0)
        if not common:
            notes.append("there is no version in common: ApiVersions must never lose its version 0 (KIP-35)")
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
    version = opening.used if key == API_VERSIONS else by_number.highest
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
    is_deprecated = version in ours.request.deprecated | theirs.request.deprecated
    return Agreement(broker.name, versions, version, *headers, status, is_deprecated, differing)


def _row(key: int, client: Side, brokers: Sequence[Side], exchanges: Sequence[Exchange]) -> RpcRow:
    """What a client and all its brokers agree on (KIP-35, the state that the client builds)."""
    agreements = [agree(key, client, broker, opening) for broker, opening in zip(brokers, exchanges, strict=True)]
    ours, theirs = client.offers.get(key), [broker.offers[key] for broker in brokers if key in broker.offers]
    first = ours or theirs[0]
    usable: VersionRange | None = None
    version: int | None = None
    if ours and len(theirs) == len(brokers):
        usable = reduce(VersionRange.__and__, map(ours.common_versions, theirs), ours.versions)
    if usable:
        chosen_versions = [agreement.chosen for agreement in agreements if agreement.chosen is not None]
        version = min(chosen_versions, default=None) if key == API_VERSIONS else usable.highest
    request_header, response_header = (None, None) if version is None else first.headers(version)
    status = _whole_status(agreements, usable)
    notes = _notes(status, ours, [broker.rpcs.get(key) for broker in brokers], agreements) if ours else ()
    return RpcRow(
        name=first.name,
        api_key=key,
        status=status,
        client=str(ours.versions) if ours else None,
        usable=None if usable is None else str(usable),
        chosen=version,
        request_header=request_header,
        response_header=response_header,
        instance_id=request_header is not None and request_header >= WITH_INSTANCE_ID,
        deprecated=any(agreement.deprecated for agreement in agreements),
        message="; ".join(notes),
        brokers=tuple(agreements),
        between_nodes=is_between_nodes(key, first.name),
    )


def _whole_status(agreements: Sequence[Agreement], usable: VersionRange | None) -> Outcome:
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
    status: Outcome, ours: Offer, theirs: Sequence[Offer | None], agreements: Sequence[Agreement]
) -> Iterator[str]:
    """What there is to say of an RPC of the client."""
    if status == "no-common-version":
        ranges = ", ".join(f"{agreement.broker} {agreement.versions or 'none'}" for agreement in agreements)
        yield f"the client has {ours.versions}, {ranges}: no version in common"
    if status == "not-everywhere":
        yield f"not offered by {', '.join(agreement.broker for agreement in agreements if agreement.chosen is None)}"
    for agreement, offer in zip(agreements, theirs, strict=True):
        if offer and agreement.differing:
            yield _differing_bytes(ours, offer, agreement)
        version = agreement.chosen
        if offer is None or version is None or agreement.status != status:
            continue
        if status == "header-differs":
            own, other = (", ".join(map(str, side.headers(version))) for side in (ours, offer))
            yield f"version {version}: headers {own} for the client, {other} for {agreement.broker}"
        if status == "refused":
            yield (
                f"{agreement.broker} answers version {version} with 42 (INVALID_REQUEST, not retriable): it has "
                f"request header {agreement.request_header}, and the connection began with header 3"
            )


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
