"""The ApiVersions exchange that begins a connection: KIP-35, KIP-511, KIP-1242."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from kiplint.compat.negotiation.result import Agreement, Exchange, Ids, Telemetry
from kiplint.compat.negotiation.sides import (
    Offer,
    Side,
    knows_instance_id,
    sends_instance_id_tagged,
)
from kiplint.model.error_codes import INVALID_REQUEST
from kiplint.model.headers import API_VERSIONS, WITH_INSTANCE_ID, header_of
from kiplint.model.message import Message
from kiplint.versions import VersionRange

METADATA: Final = 3
IDS: Final = ("ClusterId", "NodeId")


def misrouting_notes(client: Side, broker: Side, version: int) -> Iterator[str]:
    """Notes on the two ids in a version of ApiVersionsRequest, for a client that has either of them.

    A broker accepts both or neither, and answers a single id with INVALID_REQUEST ("Kafka protocol"). The client learns
    the cluster's id from Metadata, which has it from version 2 on (KIP-78).
    """
    request = client.offers[API_VERSIONS].request
    if not any(name in request.by_name and request.by_name[name].present for name in IDS):
        return
    ours, theirs = _ids(request, version), _ids(broker.offers[API_VERSIONS].request, version)
    if len(ours) == 1:
        yield (
            f"ApiVersions {version} of the client has {ours[0]} alone: once it is sent, the broker answers with "
            f"{INVALID_REQUEST}; KIP-1242 requires both or neither"
        )
    elif len(theirs) == 1:
        yield f"ApiVersions {version} of the broker has {theirs[0]} alone, and answers it with {INVALID_REQUEST}"
    elif not ours:
        yield "the broker is older than KIP-1242: it learns no ClusterId, and does not notice a misrouted connection"
    elif not _has_cluster_id(client, broker):
        yield "Metadata tells the client no ClusterId (before KIP-78): it sends neither ClusterId nor NodeId"


def _ids(request: Message, version: int) -> list[str]:
    return [name for name in IDS if name in request.by_name and version in request.by_name[name].present]


def _has_cluster_id(client: Side, broker: Side) -> bool:
    """Whether the version of Metadata that both share has the cluster's id; true where a side has no Metadata."""
    ours, theirs = client.offers.get(METADATA), broker.offers.get(METADATA)
    if ours is None or theirs is None or not ours.versions & theirs.versions:
        return True
    field = ours.response.by_name.get(IDS[0])
    return field is not None and (ours.versions & theirs.versions).highest in field.present


SOFTWARE = ("ClientSoftwareName", "ClientSoftwareVersion")


def exchange(client: Side, broker: Side, *, sasl: bool = False) -> Exchange:
    """The first exchange of a connection, by which the client learns the versions of the broker.

    The client tries its highest version. A broker that does not know it answers in version 0 with UNSUPPORTED_VERSION
    (KIP-35, "Proposed Changes", 4), and since KIP-511 ("Broker", "ApiVersions Request/Response Handling") with its
    range of ApiVersions. A client that reads the range continues with the highest version of both, any other with 0.

    Over SASL a request in version 0 comes first, as brokers older than KIP-35 take anything else for a GSSAPI token: it
    checks for SaslHandshake, and after authentication the exchange above follows.
    """
    ours, theirs = client.offers.get(API_VERSIONS), broker.offers.get(API_VERSIONS)
    if ours is None:
        note = "the client has no ApiVersions: its configuration must name the version of the broker (KIP-35)"
        return Exchange(broker.name, notes=(note,))
    plain = _without_sasl(client, ours, broker, theirs)
    return _over_sasl(plain, ours, theirs) if sasl else plain


def _without_sasl(client: Side, ours: Offer, broker: Side, theirs: Offer | None) -> Exchange:
    version = ours.versions.highest
    header = header_of(ours.request, version)
    if theirs is None:
        note = "the broker has no ApiVersions: it closes the connection, so the client must be configured for it"
        return Exchange(broker.name, version, header, notes=(note,))
    if version in theirs.versions:
        return _finish((client, broker), Exchange(broker.name, version, header, version), version)
    supported_range = str(theirs.versions) if _names_software(theirs) else ""
    notes = tuple(_notes(client, ours, theirs, version))
    first = Exchange(broker.name, version, header, 0, "UNSUPPORTED_VERSION", supported_range, notes=notes)
    common = ours.versions & theirs.versions
    if not (supported_range and _names_software(ours)):
        common &= VersionRange.of(0, 0)
    return _finish((client, broker), first, common.highest if common else None)


def _over_sasl(plain: Exchange, ours: Offer, theirs: Offer | None) -> Exchange:
    """The exchange over SASL; its first request, before authentication, carries no instance id."""
    notes = plain.notes
    if 0 not in ours.versions or not (theirs and 0 in theirs.versions):
        notes = (*notes, "ApiVersions 0, with which a client begins over SASL, is not there on both sides")
    if plain.checked:
        notes = (*notes, "it is not checked: the first request has header 1, without an instance id (KIP-1313)")
    return replace(plain, sasl=0, checked=False, notes=notes)


def _finish(sides: tuple[Side, Side], first: Exchange, version: int | None) -> Exchange:
    client, broker = sides
    ours, theirs = client.offers[API_VERSIONS], broker.offers[API_VERSIONS]
    if version is None:
        note = "there is no version in common: ApiVersions must never lose its version 0 (KIP-35)"
        return replace(first, notes=(*first.notes, note))
    fields = {field.name for field in ours.request.fields if version in field.present}
    return replace(
        first,
        used=version,
        request_header=header_of(ours.request, version),
        response_header=0,
        client_software=fields.issuperset(SOFTWARE),
        cluster_id="ClusterId" in fields,
        node_id="NodeId" in fields,
        checked=header_of(theirs.request, version) >= WITH_INSTANCE_ID,
        notes=(*first.notes, *misrouting_notes(client, broker, version)),
    )


def _notes(client: Side, ours: Offer, theirs: Offer, version: int) -> Iterator[str]:
    if not _names_software(theirs):
        yield "the answer does not name the broker's range (before KIP-511): the client goes back to version 0"
    elif not _names_software(ours):
        yield "the client does not read the range in the answer (before KIP-511): it goes back to version 0"
    client_header, broker_header = header_of(ours.request, version), header_of(theirs.request, version)
    if client_header < WITH_INSTANCE_ID or broker_header != 2:  # a reader of header 1 stops before the new field
        return
    begin = f"the broker reads the header of ApiVersions {version} as version 2"
    if sends_instance_id_tagged(client.schemas):
        yield f"{begin}, and skips ClientInstanceId, a tagged field that it does not know"
    else:
        yield (
            f"{begin} and takes the first bytes of ClientInstanceId for tagged fields: it may close the connection "
            "instead of answering"
        )


def _names_software(side: Offer) -> bool:
    """Whether a side follows KIP-511: its ApiVersionsRequest has ClientSoftwareName."""
    return any(field.name == SOFTWARE[0] and field.present for field in side.request.fields)


_BY_BROKER: Final = Ids(request="0", response="UUID-B"), Ids(request="UUID-B", response="0")
_IN_REQUEST: Final = Ids(request="UUID-R", response="0")
_IN_HEADER: Final = Ids(header="UUID-H")


def telemetry(client: Side, broker: Side, agreement: Agreement | None) -> Telemetry:
    """The cell of the table for client and broker; `agreement` is theirs on GetTelemetrySubscriptions.

    A client that knows request header 3 creates the id itself, and sends it in the body of requests whose version does
    not use that header. For any other client the broker creates the id.
    """
    is_new = knows_instance_id(client.schemas)
    initial, later = Ids(), Ids()
    version = agreement.chosen if agreement else None
    if agreement and version is not None:
        in_header = (agreement.request_header or 0) >= WITH_INSTANCE_ID
        ours = _IN_HEADER if in_header else _IN_REQUEST
        initial, later = (ours, ours) if is_new else _BY_BROKER
    return Telemetry(
        broker.name,
        "new" if is_new else "old",
        "new" if knows_instance_id(broker.schemas) else "old",
        version,
        initial,
        later,
    )
