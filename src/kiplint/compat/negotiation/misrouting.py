"""The check of KIP-1242: whether a client can say which cluster and broker it means, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kiplint.compat.negotiation.sides import API_VERSIONS, Side
from kiplint.model.message import Message

METADATA: Final = 3
IDS: Final = ("ClusterId", "NodeId")


def misrouting_notes(client: Side, broker: Side, version: int) -> Iterator[str]:
    """What is to be said of the two ids in a version of ApiVersionsRequest, for a client that has either.

    A broker accepts both or neither, and answers one alone with INVALID_REQUEST ("Kafka protocol"). The client learns
    the cluster's id from Metadata, which has it from version 2 on (KIP-78).
    """
    request = client.offers[API_VERSIONS].request
    if not any(name in request.by_name and request.by_name[name].present for name in IDS):
        return
    ours, theirs = _ids(request, version), _ids(broker.offers[API_VERSIONS].request, version)
    if len(ours) == 1:
        yield (
            f"ApiVersions {version} of the client has {ours[0]} alone: once it is sent, the broker answers with "
            "INVALID_REQUEST (KIP-1242 asks for both or neither)"
        )
    elif len(theirs) == 1:
        yield f"ApiVersions {version} of the broker has {theirs[0]} alone, and answers it with INVALID_REQUEST"
    elif not ours:
        yield "the broker is older than KIP-1242: it learns no ClusterId, and does not notice a misrouted connection"
    elif not _tells_cluster(client, broker):
        yield "Metadata tells the client no ClusterId (before KIP-78): it sends neither ClusterId nor NodeId"


def _ids(request: Message, version: int) -> list[str]:
    return [name for name in IDS if name in request.by_name and request.by_name[name].present.covers(version)]


def _tells_cluster(client: Side, broker: Side) -> bool:
    """Whether the version of Metadata that both share has the cluster's id; true where a side has no Metadata."""
    ours, theirs = client.offers.get(METADATA), broker.offers.get(METADATA)
    if ours is None or theirs is None or not ours.versions & theirs.versions:
        return True
    field = ours.response.by_name.get(IDS[0])
    return field is not None and field.present.covers((ours.versions & theirs.versions).highest)
