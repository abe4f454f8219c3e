"""The two sides of a connection: what a schema set lets a client send, and a broker offer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from kiplint.model.message import Message
from kiplint.model.rpc import Rpc
from kiplint.model.schemas import SchemaSet
from kiplint.versions import NONE, VersionRange

BROKER = "broker"
SASL_HANDSHAKE = 17
API_VERSIONS = 18
GET_TELEMETRY_SUBSCRIPTIONS = 71

Hidden = Literal["", "listeners", "unstable"]


class Offer(NamedTuple):
    """The versions of one RPC that a side can use.

    When a broker has the RPC but offers none of it, `versions` are none and `hidden` says why.
    """

    name: str
    request: Message
    response: Message
    versions: VersionRange
    hidden: Hidden = ""


class Side(NamedTuple):
    """A client or a broker: its name, its schema set, and its live RPCs by API key."""

    name: str
    schemas: SchemaSet
    rpcs: Mapping[int, Offer]

    @property
    def offers(self) -> dict[int, Offer]:
        """The RPCs with at least one version to use."""
        return {key: offer for key, offer in self.rpcs.items() if offer.versions}


def client_side(name: str, schemas: SchemaSet) -> Side:
    """A client: every version that request and response both have, an unstable one too."""
    return Side(name, schemas, _by_key(_offer(rpc, unstable=True) for rpc in schemas.rpcs))


def broker_side(name: str, schemas: SchemaSet, *, unstable: bool = False) -> Side:
    """A broker: the versions that its ApiVersionsResponse names.

    Those are the RPCs with the listener `broker`; all of them where the set says no listeners, as before Kafka 2.8.
    An unstable highest version is only offered on demand (`unstable.api.versions.enable`).
    """
    offers = (_offer(rpc, unstable=unstable) for rpc in schemas.rpcs)
    if not schemas.declares_listeners:
        return Side(name, schemas, _by_key(offers))
    return Side(name, schemas, _by_key(offer and _listened(offer) for offer in offers))


def stable_versions(rpc: Rpc) -> VersionRange:
    """The versions that request and response both have, without an unstable highest one."""
    request = rpc.request
    if request is None or not request.unstable:
        return rpc.common
    return rpc.common - VersionRange.of(request.valid.highest, request.valid.highest)


def _offer(rpc: Rpc, *, unstable: bool) -> Offer | None:
    if rpc.is_coordinator or rpc.request is None or rpc.response is None or not rpc.common:
        return None
    versions = rpc.common if unstable else stable_versions(rpc)
    return Offer(rpc.name, rpc.request, rpc.response, versions, "" if versions else "unstable")


def _listened(offer: Offer) -> Offer:
    served = BROKER in offer.request.listeners
    return offer if served else offer._replace(versions=NONE, hidden="listeners")


def _by_key(offers: Iterable[Offer | None]) -> dict[int, Offer]:
    return {offer.request.api_key: offer for offer in offers if offer and offer.request.api_key is not None}
