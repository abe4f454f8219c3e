"""The two sides of a connection: what a schema set lets a client send, and a broker offer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from kiplint.compat.roles import Mode, is_between_nodes, is_served, kept_by_brokers, modes_of
from kiplint.model.message import Message
from kiplint.model.rpc import Rpc
from kiplint.model.schemas import SchemaSet
from kiplint.versions import NONE, VersionRange

SASL_HANDSHAKE = 17
API_VERSIONS = 18
GET_TELEMETRY_SUBSCRIPTIONS = 71

Hidden = Literal["", "listeners", "unstable"]


class Offer(NamedTuple):
    """The versions of one RPC that a side can use.

    When a broker has the RPC but offers none of it, `versions` are none and `hidden` says why. `kept` are versions
    that brokers keep for themselves: a client has them, and does not use them.
    """

    name: str
    request: Message
    response: Message
    versions: VersionRange
    hidden: Hidden = ""
    kept: VersionRange = NONE

    @property
    def between_nodes(self) -> bool:
        """Whether brokers and controllers send the RPC to each other, and no client does."""
        return is_between_nodes(self.request.api_key or 0, self.name)


class Side(NamedTuple):
    """A client or a broker: its name, its schema set, and its live RPCs by API key; `mode` is that of a broker."""

    name: str
    schemas: SchemaSet
    rpcs: Mapping[int, Offer]
    mode: Mode = "kraft"

    @property
    def offers(self) -> dict[int, Offer]:
        """The RPCs with at least one version to use."""
        return {key: offer for key, offer in self.rpcs.items() if offer.versions}


def client_side(name: str, schemas: SchemaSet) -> Side:
    """A client: every version that request and response both have, an unstable one too, but none that brokers keep."""
    offers = (_offer(rpc, unstable=True) for rpc in schemas.rpcs)
    return Side(name, schemas, _by_key(offer and _free(offer) for offer in offers))


def broker_side(name: str, schemas: SchemaSet, *, unstable: bool = False, mode: Mode | None = None) -> Side:
    """A broker: the versions that its ApiVersionsResponse names in a mode, by default in KRaft mode if it has that.

    Those are the RPCs with the listener of the mode; where the set says no listeners, as before Kafka 2.8, all that
    the release enables (see `compat.roles`). An unstable highest version is only offered on demand
    (`unstable.api.versions.enable`).
    """
    modes = modes_of(schemas)
    chosen: Mode = mode or (modes[-1] if modes else "kraft")
    offers = {rpc.api_key: _offer(rpc, unstable=unstable) for rpc in schemas.rpcs if not rpc.is_coordinator}
    served = {rpc.api_key for rpc in schemas.rpcs if not rpc.is_coordinator and is_served(rpc, schemas, chosen)}
    listened = (offer and (offer if key in served else _hidden(offer)) for key, offer in offers.items())
    return Side(name, schemas, _by_key(listened), chosen)


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


def _hidden(offer: Offer) -> Offer:
    return offer._replace(versions=NONE, hidden="listeners")


def _free(offer: Offer) -> Offer:
    kept = kept_by_brokers(offer.request.api_key or 0, offer.name, offer.versions)
    return offer._replace(versions=offer.versions - kept, kept=kept) if kept else offer


def _by_key(offers: Iterable[Offer | None]) -> dict[int, Offer]:
    return {offer.request.api_key: offer for offer in offers if offer and offer.request.api_key is not None}
