"""The ApiVersions exchange that begins a connection: KIP-35, KIP-511, KIP-1242."""

from __future__ import annotations

from msgspec.structs import replace

from kiplint.compat.negotiation.headers import WITH_INSTANCE_ID
from kiplint.compat.negotiation.result import Exchange
from kiplint.compat.negotiation.sides import API_VERSIONS, Offer, Side
from kiplint.model.header_map import header_of
from kiplint.versions import VersionRange

SOFTWARE = ("ClientSoftwareName", "ClientSoftwareVersion")


def exchange(client: Side, broker: Side) -> Exchange:
    """What client and broker say to each other before anything else.

    The client tries its highest version. A broker that does not know it answers in version 0 with UNSUPPORTED_VERSION
    (KIP-35, "Proposed Changes", 4), and since KIP-511 ("Broker", "ApiVersions Request/Response Handling") with its
    range of ApiVersions. A client that reads it goes on with the highest version of both, any other with version 0.
    """
    ours, theirs = client.offers.get(API_VERSIONS), broker.offers.get(API_VERSIONS)
    if ours is None:
        note = "the client has no ApiVersions: it does not ask, and must be told what the broker has (KIP-35)"
        return Exchange(broker.name, notes=(note,))
    tried = ours.versions.highest
    header = header_of(ours.request, tried)
    if theirs is None:
        note = "the broker has no ApiVersions: it closes the connection, and the client must be told what it has"
        return Exchange(broker.name, tried, header, notes=(note,))
    if theirs.versions.covers(tried):
        return _agreed(ours, theirs, Exchange(broker.name, tried, header, tried), tried)
    supported = str(theirs.versions) if _names_software(theirs) else ""
    first = Exchange(broker.name, tried, header, 0, "UNSUPPORTED_VERSION", supported, notes=_notes(ours, theirs, tried))
    return _agreed(ours, theirs, first, _second_version(ours, theirs.versions, supported))


def _second_version(ours: Offer, theirs: VersionRange, supported: str) -> int | None:
    """The version of the second attempt; None when the sides share none."""
    if supported and _names_software(ours):
        shared = ours.versions & theirs
        return shared.highest if shared else None
    return 0 if (ours.versions & theirs).covers(0) else None


def _agreed(ours: Offer, theirs: Offer, first: Exchange, version: int | None) -> Exchange:
    if version is None:
        note = "there is no version in common: ApiVersions must never lose its version 0 (KIP-35)"
        return replace(first, notes=(*first.notes, note))
    fields = {field.name for field in ours.request.fields if field.present.covers(version)}
    return replace(
        first,
        used=version,
        request_header=header_of(ours.request, version),
        response_header=0,
        client_software=fields.issuperset(SOFTWARE),
        cluster_id="ClusterId" in fields,
        node_id="NodeId" in fields,
        checked=header_of(theirs.request, version) >= WITH_INSTANCE_ID,
    )


def _notes(ours: Offer, theirs: Offer, tried: int) -> tuple[str, ...]:
    notes = []
    if not _names_software(theirs):
        notes.append("the answer does not name the broker's range (before KIP-511): the client goes back to version 0")
    elif not _names_software(ours):
        notes.append("the client does not read the range in the answer (before KIP-511): it goes back to version 0")
    written, read = header_of(ours.request, tried), header_of(theirs.request, tried)
    if written >= WITH_INSTANCE_ID and read == 2:
        # A reader of header 1 stops before the new field; a reader of header 2 expects its tagged fields there.
        notes.append(
            f"the broker reads the header of ApiVersions {tried} as version 2 and takes the first bytes of "
            "ClientInstanceId for tagged fields: it may close the connection instead of answering"
        )
    return tuple(notes)


def _names_software(side: Offer) -> bool:
    """Whether a side follows KIP-511: its ApiVersionsRequest has ClientSoftwareName."""
    return any(field.name == SOFTWARE[0] and field.present for field in side.request.fields)
